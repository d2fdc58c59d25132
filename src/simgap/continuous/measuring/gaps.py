"""What a policy loses against the best reference at each point: *at least* that.

A better policy than the references may exist, so the true gap is at least the gap that
is measured here. Among several references the best one at a point is not known either.
The one that looks best on all episodes looks better than it is; the one that looks best
on some episodes, evaluated on the others, is on average no better than the best one. So

    mean of `chosen_on_others`  <=  mean gap  <=  mean of `chosen_on_all`,

and the lower end of an interval comes from the former, the upper one from the latter.
With one reference both are the same. At a single point all references are compared at
once instead, each at its share of the confidence.

Differences are taken episode by episode. Policies that met the same starts and the same
noise differ by less than two returns do; for others the pairs are as good as any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.means import Level, mean_at, mean_over
from simgap.continuous.measuring.value import MeasuredValue, mean_of, measured_return
from simgap.intervals import Estimate, Guaranteed, greatest_of


@final
@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Losses of one policy against each reference, by name."""

    against: Mapping[str, MeasuredValue]

    @property
    def there(self) -> BoolArray:
        """Return at which points there is an episode of both, (T,)."""
        found: BoolArray = np.any([e.counts > 0 for e in self.against.values()], axis=0)
        return found

    def chosen_on_all(self) -> MeasuredValue:
        """Return losses against what looks best: on average at least the gap."""
        return self.against_best(self.best())

    def chosen_on_others(self) -> MeasuredValue:
        """Return losses against what looks best on the other half of the episodes."""
        first, second = halves(self.episodes)
        one = self.against_best(self.best(second, first))
        other = self.against_best(self.best(first, second))
        in_first = np.isin(np.arange(self.episodes), first)
        terms = {
            name: np.where(in_first, one.terms[name], other.terms[name])
            for name in one.terms
        }
        return replace(one, terms=terms)

    def best(
        self, chosen: IndexArray | None = None, measured: IndexArray | None = None
    ) -> OffsetArray:
        """Return which reference looks best at each point, (T,).

        It is one that has an episode among those to be `measured`, if any has.
        """
        values = np.stack([each.values for each in self.against.values()])
        looks = mean_of(values if chosen is None else values[:, :, chosen])
        told = values if measured is None else values[:, :, measured]
        there = np.isfinite(told).any(axis=-1)
        seen = np.where(np.isfinite(looks), looks, np.finfo(float).min)
        found: OffsetArray = np.argmax(np.where(there, seen, -np.inf), axis=0)
        return found

    def against_best(self, best: OffsetArray) -> MeasuredValue:
        """Return the losses against one reference at each point.

        A training seed of a reference matters only where that reference is chosen.
        """
        every = list(self.against.values())
        total = every[0].at_points(best == 0)
        for at, each in enumerate(every[1:], start=1):
            total = total + each.at_points(best == at)
        return replace(total, bounds=every[0].bounds)

    @property
    def episodes(self) -> int:
        (values, *_) = next(iter(self.against.values())).terms.values()
        return int(values.shape[-1])


def losses(cube: Cube, policy: str, points: DrawnPoints) -> Losses | None:
    """Return what a policy loses against the references; None without any."""
    if not cube.references or policy in cube.references:
        return None
    mine = measured_return(cube, policy, points)
    return Losses(
        {
            e: measured_return(cube, e, points, yardstick=True) - mine
            for e in cube.references
        }
    )


def halves(episodes: int) -> tuple[IndexArray, IndexArray]:
    """Return two halves of the episodes, at random, the same for each number of them.

    Every second one may have the same start.
    """
    order = np.random.default_rng(episodes).permutation(episodes)
    return np.sort(order[: episodes // 2]), np.sort(order[episodes // 2 :])


def gap_at_points(
    given: Losses, level: Level, claims: int = 1
) -> list[tuple[Estimate, str] | None]:
    """Return the gap at each point against the best reference there, and its name."""
    many = len(given.against) > 1
    apart: FloatArray | None = given.chosen_on_others().means if many else None
    counts = {name: each.counts for name, each in given.against.items()}

    def at(point: int) -> tuple[Estimate, str]:
        found = {
            name: mean_at(each, point, level, claims * len(given.against))
            for name, each in given.against.items()
            if counts[name][point] > 0
        }
        name = max(found, key=lambda each: found[each].estimate)
        if len(found) == 1 or apart is None:
            return found[name], name
        most = greatest_of([*found.values()], level.confidence, "references")
        middle = float(apart[point]) if isfinite(apart[point]) else most.estimate
        return replace(most, estimate=min(max(middle, most.lower), most.upper)), name

    return [at(t) if there else None for t, there in enumerate(given.there)]


def mean_gap(given: Losses, chosen: BoolArray, level: Level) -> Estimate:
    """Return the mean gap over the chosen points."""
    if len(given.against) == 1:
        (only,) = given.against.values()
        return mean_over(only, chosen, level)
    below = mean_over(given.chosen_on_others(), chosen, level)
    above = mean_over(given.chosen_on_all(), chosen, level)
    low, high = below.guaranteed, above.guaranteed
    sampled = next(iter(given.against.values())).points.sampled
    return replace(
        below,
        upper=max(below.estimate, above.upper),
        # halves of the episodes are chosen on each other: of fixed points no theorem
        guaranteed=Guaranteed(low.lower, max(low.lower, high.upper))
        if sampled and low is not None and high is not None
        else None,
        method=f"{below.method}, best of {len(given.against)} references",
    )
