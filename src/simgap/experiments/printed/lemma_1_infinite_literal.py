"""Lemma 1 for infinite classes as printed, against Proposition 2's class (errata E9).

Print asks that the *value* of the oracle's policy be L-Lipschitz around the real model,
and promises gap(pi_DR, M*) <= C / nu(C_eps) + L eps, C the greatest gap of a base
policy. On Proposition 2's class the oracle only plays the arm that is the same in all
models: its value does not change at all (L = 0), the ball of radius 2 is the class
(mass 1), and "the second arm until it fails" has C < 1/2. The promise is C; the truth
is (H - 1)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.bounds import known_base_gap, neighbourhood_transfer_literal
from simgap.complexity import GreatestL1, lipschitz, model_distances, separation
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    shown,
    table,
)
from simgap.experiments.framework.second_arm import LargeClass, large_class
from simgap.intervals import Certified, greatest
from simgap.records.claim import ClaimVerdict

RADIUS = 2.0  # no two kernels are farther apart: the ball is the class


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, with how many models each."""

    horizons: tuple[int, ...]
    members: int | None = None  # None: 4 H + 5; a control takes 2, and print is right


QUICK = Settings(horizons=(5, 20, 80))
FULL = Settings(horizons=(5, 10, 20, 40, 80, 160))


@final
@dataclass(frozen=True, slots=True)
class Row:
    """Proposition 2's class at one horizon, and what the printed lemma makes of it."""

    horizon: Annotated[int, "H"]
    members: Annotated[int, "M"]
    base: Annotated[Certified, "C"]
    lipschitz: Annotated[Certified, "L", "certified"]  # of the oracle's value
    claimed: Annotated[Certified, "promise"]  # C / nu(C_eps) + L eps
    gap: Annotated[Certified, "gap"]  # of the oracle in the last model


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon}")
        rows.append(_row(large_class(horizon, settings.members)))
    checks = tuple(
        check(
            f"H = {row.horizon}, M = {row.members}: the gap in the last model is at "
            f"most C / nu(C_eps) + L eps, with C = {row.base.middle:.4f} and L = "
            f"{shown(row.lipschitz):.1g}",
            row.gap,
            row.claimed,
        )
        for row in rows
    )
    last, horizons = rows[-1], [row.horizon for row in rows]
    claimed = [row.claimed for row in rows]
    return ClaimResult(
        checks=checks,
        key=(
            f"true gap over the promise at H = {last.horizon}",
            last.gap / last.claimed,
        ),
        summary=f"At H = {last.horizon} and M = {last.members} the printed lemma "
        f"promises a gap of {last.claimed.middle:.4f}; it is {last.gap.middle:g}.",
        figures=(
            figure(
                "The printed lemma promises a constant, the gap grows with H",
                "horizon H",
                "gap in the last model",
                curve("gap of the oracle", horizons, [row.gap for row in rows]),
                curve("promise of the printed lemma", horizons, claimed, bound=True),
                note="Class of Proposition 2 with M = 4H + 5 models of diameter 2.",
            ),
        ),
        tables=(table("Proposition 2's class against the printed lemma", rows),),
    )


def _row(large: LargeClass) -> Row:
    base = greatest(large.base_gaps)
    smooth = _value_constant(large)
    claimed = [
        neighbourhood_transfer_literal(
            known_base_gap(max(0.0, gap), horizon=large.horizon),
            radii=[RADIUS],
            masses=[1.0],
            lipschitz=constant,
        ).value
        for gap, constant in zip(base.ends, smooth.ends, strict=True)
    ]
    return Row(
        horizon=large.horizon,
        members=len(large.simulators),
        base=base,
        lipschitz=smooth,
        claimed=Certified(*claimed),
        gap=large.oracle.least_gaps[-1],
    )


def _value_constant(large: LargeClass) -> Certified:
    """Return L of Assumption 3 over the whole class: 0, up to rounding."""
    optimal, distances = large.oracle.form.optimal, separation(large.simulators)
    values = [
        float(best) - gap for best, gap in zip(optimal, large.oracle.gaps, strict=True)
    ]
    off = max(value.upper - value.lower for value in values)
    found = lipschitz(
        model_distances(large.simulators, GreatestL1(), compared=distances),
        [value.middle for value in values],
    ).constant
    slack = off / distances.value
    return Certified(max(0.0, found - slack), found + slack)


CLAIM = Claim(
    name="lemma-1-infinite-literal",
    title="The reduction for infinite classes, as printed",
    statement="If the value of the randomized policy changes smoothly around the real "
    "model, its gap there is at most the base policy's gap divided by the mass of a "
    "neighbourhood, plus the Lipschitz constant times its radius.",
    source="Lemma 1, infinite class, as printed (theory 4.1b)",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E9",),
)
