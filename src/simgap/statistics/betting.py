"""Intervals for the mean of bounded numbers that hold whatever their law: betting.

A gambler who doubts that the mean is m bets on every number: 1 + bet (x - m) multiplies
the capital, and no bet is so large that a number in the range could ruin it. If the
mean is m the capital is not expected to grow, so that it exceeds 2 / (1 - confidence)
with at most half the chance that the interval may fail (Ville 1939). Every m at which
some gambler gets that rich is refused (Waudby-Smith and Ramdas 2024).

*One law* (`betting_interval`): the bet on each number is made from those before it, and
the greatest capital ever reached counts. If several scores have the same mean (the
return of an episode and its losses), the gambler also chooses, before each number, on
which of them to bet. Bets for a number of samples that was fixed beforehand are larger
than those for one that is decided on the way.

*Independent numbers of several laws* (`mixture_interval`), whose means average to the
number that is asked for: strata, with weights. A bet that does not depend on the
numbers gives prod E[1 + bet (x_i - m)] <= (1 + bet (mean - m))^n, as a geometric mean
is at most the arithmetic one, so the expected capital is at most 1 here too. The
gambler shares the capital among some bets beforehand; order does not matter.

The capital falls as m goes towards the numbers that were met, so bisection finds the
end; it stays on the refused side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from typing import final

import numpy as np

from simgap._kernels.solving.betting import capital_by_part, greatest_capital
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument

LARGEST_BET = 0.75  # of what the worst number could ruin
HALVINGS = 45  # of the range: the end is found to 3e-14 of it
BETS = np.exp2(-np.arange(20.0))  # parts of the ruinous bet that share the capital
SHARES = 1.0 / np.arange(2.0, 22.0)  # of the capital, up to a factor
HUGE = 2.0**400  # ranges up to it, and from its inverse, have squares
WORTH = 5.0  # bets whose capital is smaller by this logarithm are left out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Numbers in a known range, one for each sample, in the order they were drawn."""

    values: FloatArray  # (n,)
    low: float
    high: float
    short: FloatArray | None = None  # (n,), what the numbers may be too small by

    def __post_init__(self) -> None:
        wide = self.high - self.low
        room = 1e-9 * max(wide, abs(self.low), abs(self.high))
        least, most = float(self.values.min()), float(self.values.max())
        inside = self.low - room <= least and most <= self.high + room
        if not isfinite(wide) or not inside:
            raise InvalidArgument(
                f"numbers from {least} to {most}, said to be between {self.low} and "
                f"{self.high}",
                hint="the range holds every number that can come",
            )
        object.__setattr__(self, "values", np.clip(self.values, self.low, self.high))

    def times(self, factor: float) -> Score:
        """Return the numbers in another unit."""
        short = None if self.short is None else factor * self.short
        return Score(factor * self.values, factor * self.low, factor * self.high, short)

    @property
    def mirrored(self) -> Score:
        """Minus the numbers, with all that they may be short of."""
        more = self.values if self.short is None else self.values + self.short
        return Score(-np.minimum(more, self.high), -self.high, -self.low)


def betting_interval(
    scores: Sequence[Score], confidence: float, *, stopped: bool = False
) -> tuple[float, float]:
    """Return an interval for the mean of independent numbers of one law.

    Several scores are numbers of the same samples with the same mean. `stopped`: what
    was met decided how many samples were drawn.
    """
    budget = log(2.0 / (1.0 - confidence))
    return _ends(scores, lambda side: _least_by_bets(side, budget, stopped=stopped))


def mixture_interval(scores: Sequence[Score], confidence: float) -> tuple[float, float]:
    """Return an interval for the mean of the means of independent numbers."""
    budget = log(2.0 / (1.0 - confidence))
    return _ends(scores, lambda side: _least_by_shares(side, budget))


def _ends(
    scores: Sequence[Score], least: Callable[[Sequence[Score]], float]
) -> tuple[float, float]:
    """Return both ends; each fails with half the chance, so they may cross."""
    low, high = max(each.low for each in scores), min(each.high for each in scores)
    if not high > low:
        return high, low
    wide = max(each.high - each.low for each in scores)
    if not 1.0 / HUGE <= wide <= HUGE:  # its square is no float: another unit
        unit = HUGE if wide > HUGE else 1.0 / HUGE
        ends = _ends([each.times(1.0 / unit) for each in scores], least)
        return ends[0] * unit, ends[1] * unit
    below, above = least(scores), -least([each.mirrored for each in scores])
    return min(below, above), max(below, above)


def _least_by_bets(scores: Sequence[Score], budget: float, *, stopped: bool) -> float:
    """Return the greatest mean that is refused as too small.

    Scores and bets depend on earlier numbers only; the first deviation is taken to be
    half the range.
    """
    n = scores[0].values.size
    met = np.arange(n)  # numbers before each one
    count = (met + 1.0) * np.log(met + 2.0) if stopped else np.full(n, float(n))
    spreads, reaches = [], []
    for each in scores:
        wide = each.high - each.low
        means = (np.cumsum(each.values) + 0.5 * (each.low + each.high)) / (met + 2.0)
        squares = np.cumsum((each.values - means) ** 2)
        before = np.concatenate([[0.0], squares[:-1]]) + 0.25 * wide**2
        spreads.append(np.sqrt(before / (met + 1.0)))
        reaches.append(spreads[-1] * np.sqrt(2.0 * budget / n) + budget * wide / n)
    at = np.argmin(np.stack(reaches), axis=0)
    values = np.choose(at, [each.values for each in scores])
    floors = np.array([each.low for each in scores])[at]
    with np.errstate(divide="ignore"):
        bets = np.sqrt(2.0 * budget / count) / np.choose(at, spreads)

    def capital(mean: float) -> float:
        return greatest_capital(values, floors, bets, LARGEST_BET, mean)

    return _bisected(capital, scores, budget)[0]


def _least_by_shares(scores: Sequence[Score], budget: float) -> float:
    """Return the greatest mean that is refused as too small, by fixed bets.

    Bets that gained little near the end are left out: capital that is not counted only
    makes the interval wider. As log is concave, none gains more than the ruinous bet
    would if all numbers were equal: means above that are kept without a look.
    """
    shares = np.log(SHARES / SHARES.sum() / len(scores))
    bets = [(each.values - each.low, each.low, BETS, shares) for each in scores]
    poor = max(
        floor + float(above.mean()) * exp(-budget / above.size)
        for above, floor, _, _ in bets
    )

    def logarithms(mean: float) -> list[FloatArray]:
        return [
            share + capital_by_part(above, mean - floor, parts)
            for above, floor, parts, share in bets
        ]

    def capital(mean: float) -> float:
        return float(np.logaddexp.reduce(np.concatenate(logarithms(mean))))

    _, kept = _bisected(capital, scores, budget, poor, halvings=8)
    near = logarithms(kept)
    least = max(float(each.max()) for each in near) - WORTH
    bets = [
        (above, floor, parts[each >= least], share[each >= least])
        for (above, floor, parts, share), each in zip(bets, near, strict=True)
    ]
    return _bisected(capital, scores, budget, poor)[0]


def _bisected(
    capital: Callable[[float], float],
    scores: Sequence[Score],
    budget: float,
    poor: float = inf,
    *,
    halvings: int = HALVINGS,
) -> tuple[float, float]:
    """Return a mean that is refused and one that is kept, nearly the same.

    Means are in the range of every score; from `poor` on they are known to be kept.
    Those that bisection asks about are decided by fewer, which a secant comes to (the
    Illinois rule: an end that stays counts half).
    """
    refused = max(each.low for each in scores)
    kept = max(refused, min(each.high for each in scores))
    rich, poor = refused, min(poor, kept)  # the nearest that were tried
    more, less, won = inf, -inf, False  # what their capital spares
    for _ in range(halvings):
        middle = 0.5 * (refused + kept)
        if not refused < middle < kept:
            break
        while rich < middle < poor:
            tried = middle
            if more - less < inf:
                secant = rich + (poor - rich) * (more / (more - less))
                tried = secant if rich < secant < poor else middle
            spare = capital(tried) - budget
            if spare >= 0.0:
                rich, more, less = tried, spare, less * (0.5 if won else 1.0)
            else:
                poor, less, more = tried, spare, more * (1.0 if won else 0.5)
            won = spare >= 0.0
        refused, kept = (middle, kept) if middle <= rich else (refused, middle)
    return refused, kept
