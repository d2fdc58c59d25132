"""The mean of episodes with its interval: at one point, and over all points.

*Training seeds*: what is asked for is the mean over policies that training makes, so an
interval has two sources. The mean over the seeds has an interval from episodes and
points; the means of the seeds have a t interval; both reaches are added as squares.
With one seed the number is about that policy alone.

*Without bounds* the interval at a point leaves room for events like those that were met
at any point, not only at this one.

*Looks*: if what was met decided how many episodes were run, look j has the share
1 / (j (j + 1)) of the chance to be wrong. These shares add up to 1, so that the
intervals of all looks hold at once, whichever of them was the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, log, nan, sqrt
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.measuring.sampled import Sampled, mean_of
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.statistics import Part, estimated_mean, estimated_rate


@final
@dataclass(frozen=True, slots=True)
class Level:
    """How sure an interval is, and at which look; look 0: the number was fixed.

    `guaranteed`: wherever bounds are known; else only where it costs little.
    """

    confidence: float = 0.95
    look: int = 0
    guaranteed: bool = True

    def share(self, claims: int = 1) -> float:
        """Return the confidence of each of several claims that hold at once."""
        spent = self.look * (self.look + 1) if self.look else 1
        return 1.0 - (1.0 - self.confidence) / (spent * claims)


def at_point(given: Sampled, point: int, level: Level, claims: int = 1) -> Estimate:
    """Return the mean of the episodes at a point, with its interval."""
    values = given.values[point]
    values = values[np.isfinite(values)]
    confidence = level.share(claims)
    if (
        given.bounds == (0.0, 1.0)
        and not given.seeds
        and np.all((values == 0.0) | (values == 1.0))
    ):
        found = estimated_rate(int(values.sum()), values.size, confidence)
    elif values.size == 1 and given.bounds is None:
        found = _one_episode(float(values[0]), given, confidence)
    else:
        low, high = given.bounds or (-inf, inf)
        found = estimated_mean(
            [Part(values, low, high)],
            confidence,
            method=given.what,
            least=low,
            greatest=high,
            guaranteed=level.guaranteed,
        )
        if given.bounds is None:
            found = _with_room(found, given, values.size, confidence)
    return _told(found, given, level, lambda seeds: seeds[:, point], claims)


def over_points(
    given: Sampled, points: DrawnPoints, chosen: BoolArray, level: Level
) -> Estimate:
    """Return the mean over the chosen points, with its interval.

    Independent draws of nu with known bounds: guaranteed, by betting on the means of
    the points. Fixed points with weights: guaranteed, by betting on all episodes. A
    scrambled Sobol sequence: approximate, as if the points were independent draws,
    which is mostly too wide, with room for a part of nu that no point met.
    """
    there = chosen & (given.counts > 0)
    weights = points.shares(there)
    low, high = given.bounds or (-inf, inf)
    means = given.means[there]
    words = ", ".join(filter(None, (given.what, f"{means.size} points")))
    if points.sampled and means.size == 1:
        found = at_point(given, int(np.flatnonzero(there)[0]), level)
        return replace(found, label="approximate")
    parts = [Part(means, low, high)]
    if not points.sampled:
        parts = [
            Part(row[np.isfinite(row)], low, high, weight=weight)
            for row, weight in zip(given.values[there], weights, strict=True)
        ]
        if points.shared:  # of one episode at all points only the mean is one draw
            every = np.isfinite(given.values[there]).all(axis=0)
            together = weights @ given.values[there][:, every]
            parts = [Part(together, low, high)] if every.sum() > 1 else parts
    scrambled = points.drawn is Drawn.SCRAMBLED or points.shared
    found = estimated_mean(
        _two_or_more(parts),
        level.share(),
        method=words,
        least=low,
        greatest=high,
        guaranteed=level.guaranteed and not scrambled,
    )
    if scrambled or (points.shared and len(parts) > 1):  # no theorem speaks of them
        found = replace(found, label="approximate")

    def of_seeds(seeds: FloatArray) -> FloatArray:
        shares = np.where(np.isfinite(seeds[:, there]), weights, 0.0)
        total: FloatArray = np.nansum(seeds[:, there] * shares, axis=1)
        whole = shares.sum(axis=1)
        empty = np.full_like(total, nan)
        means: FloatArray = np.divide(total, whole, out=empty, where=whole > 0.0)
        return means

    return _told(found, given, level, of_seeds)


def over_draws(given: Sampled, level: Level) -> Estimate:
    """Return the mean over points that are all independent draws of nu."""
    everywhere = np.ones(len(given.values), np.bool_)
    return over_points(given, DrawnPoints(Drawn.INDEPENDENT), everywhere, level)


def _two_or_more(parts: list[Part]) -> list[Part]:
    """Return parts that have a spread: episodes without bounds need company.

    Points with a single episode are put together with each other, or with the first
    point if there is only one of them.
    """
    if all(p.values.size > 1 or p.low > -inf for p in parts):
        return parts
    many = [part for part in parts if part.values.size > 1]
    ones = [part for part in parts if part.values.size == 1]
    if len(ones) == 1 and many:
        ones.append(many.pop(0))
    weight = sum(part.weight for part in ones)
    sizes = sum(part.values.size for part in ones)
    scaled = [
        part.values * (part.weight * sizes / (weight * part.values.size))
        for part in ones
    ]
    return [*many, Part(np.concatenate(scaled), -inf, inf, weight=weight)]


def _with_room(
    found: Estimate, given: Sampled, count: int, confidence: float
) -> Estimate:
    """Return the interval with room for what was met at other points.

    A few episodes that are all equal say nothing of those that are not; other points
    may, as long as their episodes differ.
    """
    many = given.values[given.counts > 1]
    apart = many - np.nanmedian(many, axis=1, keepdims=True)
    missed = log(2.0 / (1.0 - confidence)) / count
    low, high = float(np.nanmin(apart)), float(np.nanmax(apart))
    return replace(
        found,
        lower=min(found.lower, found.estimate + missed * low),
        upper=max(found.upper, found.estimate + missed * high),
    )


def _one_episode(value: float, given: Sampled, confidence: float) -> Estimate:
    """Return one number with the spread that episodes have at other points."""
    from scipy.special import stdtrit

    if given.counts.sum() < 2:
        raise InvalidArgument(
            "one episode in all, and no bounds of its return",
            hint="run two episodes or more, or say what a return lies between",
        )
    many = given.values[given.counts > 1]
    apart = many - mean_of(many)[:, None] if len(many) else given.values - value
    apart = apart[np.isfinite(apart)]
    freedom = max(1, apart.size - max(1, len(many)))
    spread = sqrt(float((apart**2).sum()) / freedom)
    half = float(stdtrit(freedom, 0.5 + confidence / 2.0)) * spread
    return Estimate(
        value,
        value - half,
        value + half,
        confidence,
        "one episode, with the spread of other points",
        spread,
    )


def _told(
    found: Estimate,
    given: Sampled,
    level: Level,
    means: Callable[[FloatArray], FloatArray],
    claims: int = 1,
) -> Estimate:
    """Return the interval with the spread of training seeds, at its confidence."""
    if not given.seeds:
        return replace(found, confidence=level.confidence)
    from scipy.special import stdtrit

    square = 0.0
    for each in given.seeds:
        numbers = means(each)
        numbers = numbers[np.isfinite(numbers)]
        quantile = stdtrit(max(1, numbers.size - 1), 0.5 + level.share(claims) / 2.0)
        spread = numbers.var(ddof=1) / numbers.size if numbers.size > 1 else 0.0
        square += float(quantile**2 * spread)
    below = sqrt((found.estimate - found.lower) ** 2 + square)
    above = sqrt((found.upper - found.estimate) ** 2 + square)
    seeds = " and ".join(str(len(each)) for each in given.seeds)
    return replace(
        found,
        lower=found.estimate - below,
        upper=found.estimate + above,
        confidence=level.confidence,
        method=f"{found.method}, {seeds} training seeds",
        label="approximate",
    ).within(*(given.bounds or (None, None)))
