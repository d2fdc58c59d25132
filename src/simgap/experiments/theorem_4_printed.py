"""Theorem 4 as printed, against Proposition 2's class (errata E9).

Print asks that the *value* of the oracle's policy be L-Lipschitz around the real world,
and promises a gap of O(D sqrt(d_e H log(H N))) / nu(C_eps) + L eps. On Proposition 2's
class D = 2, d_e = 1, N is small, L = 0 and the ball of radius 2 has mass 1: the promise
is sqrt(H log H). The gap is (H - 1)/2.

The explicit constant C4 (spec 4.7) makes the promise a number. It is below (H - 1)/2
from some thousand steps on, where a class of 4H + 5 models is out of reach; two models
with the same prior weight of the winner have all the same numbers (`rare_winner`). The
class with all its models is solved exactly at short horizons beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import final

from simgap.bounds import neighbourhood_transfer
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
from simgap.experiments.intervals import bracketed_exponent, curve, middle, ratio
from simgap.experiments.rare_winner import RADIUS, RareWinner, rare_winner
from simgap.experiments.second_arm import LargeClass, large_class
from simgap.records import Certified

SQUARE_ROOT = 0.6  # exponents up to here would pass as a square root
LEAST_HORIZONS = 3  # of a fit


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, and the prior weight of the winner."""

    horizons: tuple[int, ...]
    large_horizons: tuple[int, ...]  # of the class with 4H + 5 models
    weight: float | None = None  # None: 1 / (4H + 5); a control takes a half


QUICK = Settings(horizons=(100, 300, 1000, 3000, 10_000), large_horizons=(5, 20, 40))
FULL = Settings(
    horizons=(100, 300, 1000, 3000, 10_000, 30_000), large_horizons=(5, 20, 80, 160)
)


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    found = []
    for horizon in settings.horizons:
        tell(f"two models, H = {horizon:,}")
        found.append(rare_winner(horizon, settings.weight))
    large = []
    for horizon in settings.large_horizons:
        tell(f"{4 * horizon + 5} models, H = {horizon}")
        large.append(large_class(horizon))
    last = found[-1]
    checks = [
        Check(
            f"H = {last.horizon:,}: the gap in the winner is at most C4 / nu(C_eps) + "
            f"L eps, with D = 2, d_e = {last.eluder}, N = {last.covering} and L eps = "
            f"{last.value_constant * RADIUS:.0e}",
            last.gap,
            exactly(_promise(last)),
        )
    ]
    exponent = None
    if len(found) >= LEAST_HORIZONS and middle(last.gap) > 0.0:
        exponent = bracketed_exponent(
            [float(each.horizon) for each in found],
            [
                ratio(each.gap, sqrt(log(each.horizon * each.covering)))
                for each in found
            ],
        )
        checks.append(
            Check(
                "the gap over sqrt(log(HN)) grows at most like a square root of H, "
                f"H^{SQUARE_ROOT}",
                exponent,
                exactly(SQUARE_ROOT),
            )
        )
    part = ratio(last.gap, _promise(last))
    return ClaimResult(
        checks=tuple(checks),
        key_number=KeyNumber(
            f"true gap over the printed promise at H = {last.horizon:,}", part
        ),
        summary=f"At H = {last.horizon:,} the printed theorem promises "
        f"{_promise(last):.0f}; the gap is {middle(last.gap):g}"
        + (
            "."
            if exponent is None
            else f", and over sqrt(log H) it grows like H^{exponent.estimate:.2f}."
        ),
        figures=(_figure(found, large),),
        tables=(_table(found, large),),
    )


def _promise(found: RareWinner) -> float:
    """Return C4 / nu(C_eps) + L eps; the policy's own shortfall is allowed for."""
    return neighbourhood_transfer(
        found.base_bound,
        radii=[RADIUS],
        masses=[1.0],
        lipschitz=found.value_constant,
        eta=found.shortfall,
        claim="Theorem 4 (printed)",
    ).value


def _figure(found: list[RareWinner], large: list[LargeClass]) -> Figure:
    horizons = [float(each.horizon) for each in found]
    return Figure(
        "The printed theorem promises sqrt(H log H), the gap is a half of H",
        "horizon H",
        "gap in the winner",
        (
            curve("two models", horizons, [each.gap for each in found]),
            curve(
                "4H + 5 models",
                [float(each.horizon) for each in large],
                [_large_gap(each) for each in large],
            ),
            curve(
                "promise of the printed theorem",
                horizons,
                [_promise(each) for each in found],
                bound=True,
            ),
            curve("H: no promise", horizons, horizons, bound=True),
        ),
        log_x=True,
        log_y=True,
        note="Diameter 2, eluder dimension 1 and a value that is the same everywhere.",
    )


def _large_gap(large: LargeClass) -> Certified:
    """Return the least gap of any oracle in the last model."""
    return large.oracle.least_gaps[-1]


def _table(found: list[RareWinner], large: list[LargeClass]) -> Table:
    rows: list[tuple[str | float | int, ...]] = [
        (each.horizon, 2, each.eluder, each.covering, middle(each.gap), _promise(each))
        for each in found
    ]
    rows += [_large_row(each) for each in large]
    return Table(
        "Proposition 2's class against the printed theorem",
        ("H", "M", "d_e", "N", "gap", "promise"),
        tuple(rows),
        ("exact", "exact", "certified", "certified", "exact", "certified"),
    )


def _large_row(large: LargeClass) -> tuple[str | float | int, ...]:
    functions = function_class(large.simulators)
    scale = 1.0 / large.horizon
    return (
        large.horizon,
        len(large.simulators),
        eluder_dimension(functions, scale).upper,
        covering_number(functions, scale).upper,
        middle(_large_gap(large)),
        "",
    )


CLAIM = Claim(
    name="theorem-4-printed",
    title="Infinite classes, as printed",
    statement="However many simulators there are, if the class is simple (small eluder "
    "dimension) and the value of the randomized policy changes smoothly around the "
    "real world, its gap there grows like sqrt(H log H).",
    source="Theorem 4 as printed (spec 4.1b, 4.7)",
    expected=Verdict.REFUTED,
    run=run,
    errata=("E9",),
)
