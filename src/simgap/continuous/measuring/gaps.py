"""What a policy loses against the best reference at each point: *at least* that.

A better policy than the references may exist, so the true gap is at least the gap that
is measured here. Among several references the best one at a point is not known either.
The one that looks best on all episodes looks better than it is; the one that looks best
on some episodes, judged on the others, is on average no better than the best one. So

    mean of `chosen_on_others`  <=  mean gap  <=  mean of `chosen_on_all`,

and the lower end of an interval comes from the former, the upper one from the latter.
With one reference both are the same. At a single point all references are compared at
once instead, each at its share of the confidence.

Differences are taken episode by episode. Policies that met the same starts and the same
noise differ by less than two returns do; for others the pairs are as good as any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import final

import numpy as np

from simgap.arrays import BoolArray, OffsetArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.measuring.means import Level, at_point, over_points
from simgap.continuous.measuring.sampled import Sampled, mean_of, sampled_returns
from simgap.intervals import Estimate, greatest_of

LEAST = -1e300  # how a reference looks of which nothing was seen
EVEN, ODD = slice(0, None, 2), slice(1, None, 2)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Losses of one policy against each reference, episode by episode."""

    names: tuple[str, ...]
    references: tuple[Sampled, ...]
    policy: Sampled

    @property
    def against(self) -> tuple[Sampled, ...]:
        """Return the losses against each reference."""
        return tuple(each.minus(self.policy) for each in self.references)

    @property
    def there(self) -> BoolArray:
        """Return at which points there is an episode of both, (T,)."""
        found: BoolArray = np.any([each.counts > 0 for each in self.against], axis=0)
        return found

    def chosen_on_all(self) -> Sampled:
        """Return losses against what looks best: on average at least the gap."""
        return self._against(self._best(slice(None), slice(None)))

    def chosen_on_others(self) -> Sampled:
        """Return losses against what looks best on the other half of the episodes."""
        found = self.chosen_on_all()
        values = np.array(found.values)
        for mine, other in ((EVEN, ODD), (ODD, EVEN)):
            values[:, mine] = self._against(self._best(other, mine)).values[:, mine]
        return replace(found, values=values)

    def _best(self, kept: slice, judged: slice) -> OffsetArray:
        """Return which reference looks best at each point, (T,).

        It is one that has an episode to be judged on, if any has.
        """
        values = np.stack([each.values for each in self.against])
        looks = np.nan_to_num(mean_of(values[:, :, kept]), nan=LEAST)
        there = np.isfinite(values[:, :, judged]).any(axis=-1)
        found: OffsetArray = np.argmax(np.where(there, looks, -inf), axis=0)
        return found

    def _against(self, chosen: OffsetArray) -> Sampled:
        """Return the losses against one reference at each point.

        A training seed of a reference matters only where that reference is chosen.
        """
        values = np.stack([each.values for each in self.against])
        seeds = [
            np.where(chosen == at, table, 0.0)
            for at, each in enumerate(self.references)
            for table in each.seeds
        ]
        return replace(
            self.against[0],
            values=values[chosen, np.arange(chosen.size)],
            seeds=(*seeds, *self.policy.seeds),
        )


def losses(cube: Cube, policy: str) -> Losses | None:
    """Return what a policy loses against the references; None without any."""
    if not cube.references or policy in cube.references:
        return None
    references = tuple(
        sampled_returns(cube, each, yardstick=True) for each in cube.references
    )
    return Losses(cube.references, references, sampled_returns(cube, policy))


def gap_at_points(
    given: Losses, level: Level, claims: int = 1
) -> list[tuple[Estimate, str] | None]:
    """Return the gap at each point against the best reference there, and its name."""
    apart = given.chosen_on_others().means
    against = given.against

    def at(point: int) -> tuple[Estimate, str]:
        found = {
            name: at_point(each, point, level, claims * len(against))
            for name, each in zip(given.names, against, strict=True)
            if each.counts[point] > 0
        }
        name = max(found, key=lambda each: found[each].estimate)
        if len(found) == 1:
            return found[name], name
        most = greatest_of([*found.values()], level.confidence, "references")
        middle = float(apart[point]) if isfinite(apart[point]) else most.estimate
        return replace(most, estimate=min(max(middle, most.lower), most.upper)), name

    return [at(t) if there else None for t, there in enumerate(given.there)]


def mean_gap(
    given: Losses, design: DrawnPoints, chosen: BoolArray, level: Level
) -> Estimate:
    """Return the mean gap over the chosen points.

    With several references at fixed points the upper end is approximate: which of them
    is best is then decided by the same episodes.
    """
    if len(given.names) == 1:
        return over_points(given.against[0], design, chosen, level)
    below = over_points(given.chosen_on_others(), design, chosen, level)
    above = over_points(given.chosen_on_all(), design, chosen, level)
    sure = design.drawn is Drawn.INDEPENDENT and below.label == "guaranteed"
    return replace(
        below,
        upper=max(below.estimate, above.upper),
        label="guaranteed" if sure else "approximate",
        method=f"{below.method}, best of {len(given.names)} references",
    )
