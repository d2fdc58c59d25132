"""Proposition 1: without a diameter one wrong door costs the whole horizon.

M doors, behind one of which every step pays 1 for ever; which one depends on the model
and is learned when it is too late. Every oracle has the average gap (1 - 1/M)(H - 2),
hence at least that in its worst model; in a single model its gap may be anything from 0
to H - 2, because every first door is optimal (theory 4.8, errata E32). A door drawn at
random has the same gap in all models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import final

from simgap.base_policies import uniformly_random
from simgap.bounds import no_diameter
from simgap.experiments.framework.claim import (
    Check,
    Claim,
    ClaimResult,
    Figure,
    KeyNumber,
    Scale,
    Table,
    Tell,
    Verdict,
    exactly,
)
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.intervals import (
    bracketed_exponent,
    curve,
    extreme,
    greatest,
    least,
    middle,
    minus,
    proved,
    ratio,
    size,
)
from simgap.gap import worst_gap
from simgap.instances import absorbing_doors
from simgap.intervals import Certified, Estimate
from simgap.mdp import SimulatorClass
from simgap.planning import diameter

PER_STEP = 1e-9  # what rounding may do to a closed form, for every step


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How many doors, how many steps."""

    members: tuple[int, ...]
    horizons: tuple[int, ...]
    build: Callable[[int], SimulatorClass] = absorbing_doors  # a control: needles


QUICK = Settings(members=(2, 3, 4, 8), horizons=(64, 128, 256, 512))
FULL = Settings(members=(2, 3, 4, 8, 16), horizons=(64, 128, 256, 512, 1024, 2048))


@final
@dataclass(frozen=True, slots=True)
class Row:
    """M doors over H steps."""

    members: int
    horizon: int
    average: Certified
    formula: float  # (1 - 1/M)(H - 2)
    least: Certified  # of any oracle in any model
    greatest: Certified
    random: Certified | Estimate  # worst gap of a door drawn at random


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    rows = []
    for members in settings.members:
        tell(f"M = {members}")
        simulators = settings.build(members)
        rows += [_row(simulators, horizon) for horizon in settings.horizons]
    exponents = [
        bracketed_exponent(
            [row.horizon - 2.0 for row in rows if row.members == members],
            [row.average for row in rows if row.members == members],
        )
        for members in settings.members
    ]
    checks = (
        Check(
            "the average gap of the oracle is (1 - 1/M)(H - 2): the greatest "
            "difference per step, 1e-9 allowed",
            greatest(
                [ratio(size(minus(r.average, r.formula)), r.horizon) for r in rows]
            ),
            exactly(PER_STEP),
        ),
        Check(
            "in one model the gap of an oracle may be 0: the greatest of the least "
            "gaps per step, 1e-9 allowed",
            greatest([ratio(r.least, r.horizon) for r in rows]),
            exactly(PER_STEP),
        ),
        Check(
            "and it may be H - 2: the greatest difference per step, 1e-9 allowed",
            greatest(
                [
                    ratio(size(minus(r.greatest, r.horizon - 2.0)), r.horizon)
                    for r in rows
                ]
            ),
            exactly(PER_STEP),
        ),
        Check(
            "a door drawn at random loses (1 - 1/M)(H - 2) in every model: the "
            "greatest difference per step, 1e-9 allowed",
            greatest(
                [
                    ratio(size(minus(proved(r.random), r.formula)), r.horizon)
                    for r in rows
                ]
            ),
            exactly(PER_STEP),
        ),
        Check(
            "the gap grows at least like (H - 2)^0.99: the least exponent of any M",
            exactly(0.99),
            extreme(exponents, min),
        ),
        Check(
            "and no faster than (H - 2)^1.01: the greatest",
            extreme(exponents, max),
            exactly(1.01),
        ),
    )
    reach = diameter(settings.build(settings.members[0])).lower
    last = rows[-1]
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            f"exponent of the average gap in H - 2, M = {settings.members[-1]}",
            exponents[-1],
        ),
        summary=f"With {last.members} doors and H = {last.horizon} every oracle loses "
        f"{middle(last.average):g} of {last.horizon - 2} on average; the exponent in "
        f"H - 2 is {exponents[-1].estimate:.4f}"
        + (", and the diameter is infinite." if isinf(reach) else "."),
        figures=(
            Figure(
                "One wrong door costs the whole horizon",
                "horizon H",
                "average gap of the oracle",
                tuple(
                    curve(
                        f"M = {members}",
                        [float(r.horizon) for r in rows if r.members == members],
                        [r.average for r in rows if r.members == members],
                    )
                    for members in settings.members
                ),
                log_x=True,
                log_y=True,
                note="Exact; every curve is (1 - 1/M)(H - 2).",
            ),
        ),
        tables=(
            Table(
                "Oracles of the doors",
                ("M", "H", "average gap", "(1 - 1/M)(H - 2)", "least gap of an oracle "
                 "in a model", "greatest", "worst gap of a random door"),
                tuple(
                    (r.members, r.horizon, middle(r.average), r.formula,
                     middle(r.least), middle(r.greatest), middle(r.random))
                    for r in rows
                ),
                ("exact",) * 7,
            ),
        ),
    )  # fmt: skip


def _row(simulators: SimulatorClass, horizon: int) -> Row:
    oracle = exact_oracle(simulators, horizon)
    members = len(simulators)
    return Row(
        members=members,
        horizon=horizon,
        average=oracle.average_gap,
        formula=no_diameter(horizon=horizon, members=members).value,
        least=least(oracle.least_gaps),
        greatest=greatest(oracle.greatest_gaps),
        random=worst_gap(simulators, uniformly_random(simulators), horizon),
    )


CLAIM = Claim(
    name="proposition-1",
    title="If mistakes cannot be undone, the gap grows with the horizon",
    statement="There is a class of simulators in which some states cannot be reached "
    "from others and every policy trained on all of them loses a fixed share of the "
    "horizon on average, however long the episode.",
    source="Proposition 1 (theory 4.8, row 22)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E32",),
)
