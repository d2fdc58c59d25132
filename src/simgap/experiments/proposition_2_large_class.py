"""Proposition 2: with many simulators the oracle does not explore, and loses linearly.

Means (1/2, 1/2 - p_i) in the models i < M, 1/4 < p_i < 1/2, and (1/2, 1) in the last.
If sum p_i > (H - 1)/2, as with M = 4H + 5, the first pull of the second arm costs the
average more than it can ever earn, so no oracle pulls it: its gap in the last model is
(H - 1)/2, half a reward per pull. "M >= H", as printed, is not enough (errata E33). The
class has diameter 2 and eluder dimension 1, and there is a base policy that loses less
than 1/2 in every model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.complexity import covering_number, eluder_dimension, function_class
from simgap.experiments.claim import (
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
from simgap.experiments.intervals import (
    ROOM,
    curve,
    greatest,
    growth,
    middle,
    minus,
    size,
)
from simgap.experiments.second_arm import large_class
from simgap.planning import diameter
from simgap.records import Certified


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, with how many models."""

    horizons: tuple[int, ...]
    per_step: float = 4.0  # M = per_step H + more; a control takes M = H
    more: int = 5


QUICK = Settings(horizons=(5, 20, 40, 80))
FULL = Settings(horizons=(5, 20, 40, 80, 120, 160))


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The class for one horizon."""

    horizon: int
    members: int
    last_gap: Certified  # the least of all oracles in the last model
    other_gaps: Certified  # the greatest of all oracles in the others
    base: Certified  # worst gap of "the second arm until it fails"
    value: Certified  # W*
    diameter: Certified
    eluder: Certified  # d_e at 1/H
    cover: int  # N(F, 1/H), from above


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon}")
        rows.append(_row(horizon, int(settings.per_step * horizon) + settings.more))
    exponent = growth(
        [row.horizon - 1.0 for row in rows], [row.last_gap for row in rows]
    )
    checks = (
        Check(
            "the gap of every oracle in the last model is (H - 1)/2: the greatest "
            "difference per step, 1e-9 allowed",
            greatest(
                [size(minus(row.last_gap, (row.horizon - 1) / 2.0)) for row in rows]
            ),
            exactly(ROOM * max(settings.horizons)),
        ),
        Check(
            "and 0 in every other model: the greatest, 1e-9 per step allowed",
            greatest([row.other_gaps for row in rows]),
            exactly(ROOM * max(settings.horizons)),
        ),
        Check("it grows at least like (H - 1)^0.99", exactly(0.99), exponent),
        Check("and no faster than (H - 1)^1.01", exponent, exactly(1.01)),
        Check(
            "the diameter of the class is 2 (1e-9 allowed)",
            greatest([row.diameter for row in rows]),
            exactly(2.0 + ROOM),
        ),
        Check(
            "the eluder dimension at 1/H is 1",
            greatest([row.eluder for row in rows]),
            exactly(1.0),
        ),
        Check(
            '"the second arm until it fails" loses at most 1/2 in every model',
            greatest([row.base for row in rows]),
            exactly(0.5),
        ),
    )
    horizons = [float(row.horizon) for row in rows]
    last = rows[-1]
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber("exponent of the gap in the number of pulls", exponent),
        summary=f"With M = {last.members} models and H = {last.horizon} no oracle "
        f"tries the second arm: it loses {middle(last.last_gap):g} where a base policy "
        f"loses {middle(last.base):.4f}; its exponent in H - 1 is "
        f"{middle(exponent):.4f}.",
        figures=(
            Figure(
                "Too many bad simulators: the oracle never looks for the good one",
                "horizon H",
                "gap",
                (
                    curve(
                        "oracle, last model", horizons, [row.last_gap for row in rows]
                    ),
                    curve("base policy, worst model", horizons,
                          [row.base for row in rows]),
                ),
                log_x=True,
                log_y=True,
                note='The base policy plays "the second arm until it fails".',
            ),
        ),
        tables=(
            Table(
                "Proposition 2's class",
                ("H", "M", "W*", "gap, last model", "gap, others", "base policy",
                 "diameter", "d_e(1/H)", "N(F, 1/H)"),
                tuple(
                    (
                        row.horizon,
                        row.members,
                        middle(row.value),
                        middle(row.last_gap),
                        middle(row.other_gaps),
                        middle(row.base),
                        middle(row.diameter),
                        middle(row.eluder),
                        row.cover,
                    )
                    for row in rows
                ),
                ("exact",) * 9,
            ),
        ),
    )  # fmt: skip


def _row(horizon: int, members: int) -> Row:
    large = large_class(horizon, members)
    functions = function_class(large.simulators)
    eluder = eluder_dimension(functions, 1.0 / horizon)
    far = diameter(large.simulators)
    return Row(
        horizon=horizon,
        members=members,
        last_gap=large.oracle.least_gaps[-1],
        other_gaps=greatest(large.oracle.greatest_gaps[:-1]),
        base=greatest(large.base_gaps),
        value=large.oracle.value,
        diameter=Certified(far.lower, far.upper),
        eluder=Certified(float(eluder.lower), float(eluder.upper)),
        cover=covering_number(functions, 1.0 / horizon).upper,
    )


CLAIM = Claim(
    name="proposition-2",
    title="With very many simulators the randomized policy does not explore",
    statement="There is a class of simulators of diameter 2, as many as four times the "
    "horizon, on which every policy trained on all of them never tries the action that "
    "the real world rewards, and loses half the horizon there.",
    source="Proposition 2 (spec 4.9, rows 23-25)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E33",),
)
