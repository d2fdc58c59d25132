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
from typing import Annotated, final

from simgap.base_policies.fixed import uniformly_random
from simgap.bounds import no_diameter
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.growth import growth_exponent
from simgap.gap import gaps
from simgap.instances import absorbing_doors
from simgap.intervals import Certified, greatest, least
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

    members: Annotated[int, "M"]
    horizon: Annotated[int, "H"]
    average: Annotated[Certified, "average gap"]
    formula: Annotated[float, "(1 - 1/M)(H - 2)"]
    least: Annotated[Certified, "least gap of an oracle in a model"]
    greatest: Annotated[Certified, "greatest"]
    random: Annotated[Certified, "worst gap of a random door"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    families: list[list[Row]] = []
    for members in settings.members:
        tell(f"M = {members}")
        doors = settings.build(members)
        families.append([_row(doors, horizon) for horizon in settings.horizons])
    rows = [row for family in families for row in family]
    exponents = [
        growth_exponent([r.horizon - 2 for r in family], [r.average for r in family])
        for family in families
    ]
    checks = (
        check(
            "the average gap of the oracle is (1 - 1/M)(H - 2): the greatest "
            "difference per step, 1e-9 allowed",
            greatest([abs(r.average - r.formula) / r.horizon for r in rows]),
            PER_STEP,
        ),
        check(
            "in one model the gap of an oracle may be 0: the greatest of the least "
            "gaps per step, 1e-9 allowed",
            greatest([r.least / r.horizon for r in rows]),
            PER_STEP,
        ),
        check(
            "and it may be H - 2: the greatest difference per step, 1e-9 allowed",
            greatest([abs(r.greatest - (r.horizon - 2.0)) / r.horizon for r in rows]),
            PER_STEP,
        ),
        check(
            "a door drawn at random loses (1 - 1/M)(H - 2) in every model: the "
            "greatest difference per step, 1e-9 allowed",
            greatest([abs(r.random - r.formula) / r.horizon for r in rows]),
            PER_STEP,
        ),
        check(
            "the gap grows at least like (H - 2)^0.99: the least exponent of any M",
            0.99,
            least(exponents),
        ),
        check(
            "and no faster than (H - 2)^1.01: the greatest", greatest(exponents), 1.01
        ),
    )
    reach = diameter(settings.build(settings.members[0])).lower
    last = rows[-1]
    return ClaimResult(
        checks=checks,
        key=(
            f"exponent of the average gap in H - 2, M = {last.members}",
            exponents[-1],
        ),
        summary=f"With {last.members} doors and H = {last.horizon} every oracle loses "
        f"{last.average.middle:g} of {last.horizon - 2} on average; the exponent in "
        f"H - 2 is {exponents[-1].estimate:.4f}"
        + (", and the diameter is infinite." if isinf(reach) else "."),
        figures=(
            figure(
                "One wrong door costs the whole horizon",
                "horizon H",
                "average gap of the oracle",
                *(
                    curve(
                        f"M = {family[0].members}",
                        settings.horizons,
                        [row.average for row in family],
                    )
                    for family in families
                ),
                note="Exact; every curve is (1 - 1/M)(H - 2).",
            ),
        ),
        tables=(table("Oracles of the doors", rows),),
    )


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
        random=greatest(gaps(simulators, uniformly_random(simulators), horizon)),
    )


CLAIM = Claim(
    name="proposition-1",
    title="If mistakes cannot be undone, the gap grows with the horizon",
    statement="There is a class of simulators in which some states cannot be reached "
    "from others and every policy trained on all of them loses a fixed share of the "
    "horizon on average, however long the episode.",
    source="Proposition 1 (theory 4.8, row 22)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E32",),
)
