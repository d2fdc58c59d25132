"""The certified optimum of a grid at each point, beside what was measured there.

And the bridge between both: what every other policy earns in the tables of the grid,
so that what it loses to the optimum can be told from what the grid changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, sqrt
from typing import final

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.continuous import (
    Cube,
    Entry,
    GridPolicy,
    OnGrid,
    Work,
    earned_on_grid,
    episode_seeds,
    told_to_informed,
)
from simgap.intervals import Certified, Estimate, Interval, weighted_sum
from simgap.mdp import Discretisation
from simgap.records import Certainty, Note, OnGridMeans, Transfer, TransferPolicy
from simgap.text import number

Point = tuple[float, ...]  # theta as drawn
EPISODES = 64  # of a policy that cannot be computed, in each table
NORMAL = 1.96  # of many points


@final
@dataclass(frozen=True, slots=True, eq=False)
class GridOptima:
    """What is earned at best in the table of each point, and by the policies."""

    name: str  # of the policy that plans
    at: Mapping[Point, Certified]
    certified: Certainty  # for what
    earned: Mapping[str, Mapping[Point, Interval]] = field(default_factory=dict)

    def beside(
        self, answer: Transfer, cube: Cube, weights: Mapping[Point, float]
    ) -> Transfer:
        """Return the record with the numbers of the grid at each of its points."""
        certainty = {**answer.certainty, "grid_optimum": self.certified}
        if self.earned:
            every = [each for one in self.earned.values() for each in one.values()]
            sure = all(isinstance(each, Certified) for each in every)
            certainty["grid_value"] = self.certified if sure else "estimated"
        return replace(
            answer,
            policies=tuple(
                self._beside(each, cube, weights) for each in answer.policies
            ),
            notes=(*answer.notes, self._note()),
            certainty=certainty,
        )

    def _note(self) -> Note:
        least = number(min(each.lower for each in self.at.values()), 4)
        most = number(max(each.upper for each in self.at.values()), 4)
        return Note(
            "grid-optimum",
            f"the table of {self.name} earns from {least} to {most} at these points, "
            f"{self.certified}; a simulator that a grid stands for may allow more",
        )

    def _beside(
        self, policy: TransferPolicy, cube: Cube, weights: Mapping[Point, float]
    ) -> TransferPolicy:
        earned = self.earned.get(policy.name, {})
        points = tuple(
            replace(each, grid_optimum=self.at.get(at), grid_value=earned.get(at))
            for each in policy.points
            for at in [tuple(each.theta.values())]
        )
        inside = [each for each in weights if each in earned]
        means = self._means(policy.name, cube, weights, inside) if inside else None
        return replace(policy, points=points, on_grid=means)

    def _means(
        self,
        name: str,
        cube: Cube,
        weights: Mapping[Point, float],
        points: Sequence[Point],
    ) -> OnGridMeans:
        total = sum(weights[each] for each in points)
        shares = [weights[each] / total for each in points]
        optimum = _mean(shares, [self.at[each] for each in points])
        value = _mean(shares, [self.earned[name][each] for each in points])
        assert isinstance(optimum, Certified)
        return OnGridMeans(
            optimum=optimum,
            value=value,
            lost=optimum - value
            if isinstance(value, Certified)
            else _less(optimum, value),
            grid=_less(value, _returned(cube, name, points, shares)),
        )


def grid_optima(
    work: Work, entries: Sequence[Entry], noise: str, progress: Tell
) -> GridOptima | None:
    """Return the optima of the first policy that plans on a grid; None without one.

    The table has neither noise nor a delay: where the simulator has, there is none.
    """
    planning = next((p for p in work.policies if isinstance(p, GridPolicy)), None)
    if planning is None or noise:
        return None
    found: dict[Point, Certified] = {}
    earned: dict[str, dict[Point, list[Interval]]] = {}
    for at, theta in enumerate(work.points.theta):
        progress(
            f"{planning.name}: planning at point {at + 1} of {len(work.points.theta)}"
        )
        values = {
            name: float(each[0])
            for name, each in work.randomization.values(theta[None]).items()
        }
        if values.get("delay", 0.0):
            continue
        plan, point = planning.plan(values), tuple(theta.tolist())
        found[point] = plan.optimum
        table = getattr(plan, "table", None)
        if table is not None:
            for name, each in _earned(work, entries, table, at):
                earned.setdefault(name, {}).setdefault(point, []).append(each)
    if not found:
        return None
    means = {
        name: {
            at: _mean([1.0 / len(each)] * len(each), each) for at, each in one.items()
        }
        for name, one in earned.items()
    }  # over training seeds
    return GridOptima(planning.name, found, planning.certified, means)


def _earned(
    work: Work, entries: Sequence[Entry], table: Discretisation, at: int
) -> Iterator[tuple[str, Interval]]:
    """Yield what the policies that do not plan earn in the table of a point."""
    theta = work.points.theta[at][None]
    told = told_to_informed(work.randomization, theta)
    seeds = episode_seeds(work.seed, np.array([at]), np.arange(EPISODES)).ravel()
    for policy, entry in zip(work.policies, entries, strict=True):
        if not isinstance(policy, GridPolicy):
            known = {name: float(each[0]) for name, each in told.items()}
            player = OnGrid(policy, table, work.simulator.action, known)
            yield entry.name, earned_on_grid(player, horizon=work.horizon, seeds=seeds)


def _mean(shares: Sequence[float], found: Sequence[Interval]) -> Interval:
    """Return a weighted mean: certified if all numbers are, else estimated."""
    if len(found) == 1:
        return found[0]
    if all(isinstance(each, Certified) for each in found):
        lower, upper = zip(*(each.ends for each in found), strict=True)
        return weighted_sum(shares, lower, upper)
    errors = [share * _error(each) for share, each in zip(shares, found, strict=True)]
    middles = [each.middle for each in found]
    return _estimate(float(np.dot(shares, middles)), hypot(*errors))


def _less(one: Interval, other: Interval) -> Estimate:
    """Return the difference of two numbers that have nothing to do with each other."""
    return _estimate(one.middle - other.middle, hypot(_error(one), _error(other)))


def _returned(
    cube: Cube, name: str, points: Sequence[Point], shares: Sequence[float]
) -> Estimate:
    """Return the mean return of these very policies at these very points."""
    places = {tuple(each): at for at, each in enumerate(cube.theta.tolist())}
    rows = cube.of(name)[:, [places[each] for each in points]]
    run = rows[np.isfinite(rows).any(axis=(1, 2))]
    counts = np.isfinite(run).sum(axis=2)
    errors = np.nanvar(run, axis=2) / np.maximum(1, counts - 1)
    part = np.array(shares) / len(run)
    return _estimate(
        float(part @ np.nanmean(run, axis=2).sum(axis=0)),
        sqrt(float(part**2 @ errors.sum(axis=0))),
    )


def _error(found: Interval) -> float:
    if isinstance(found, Estimate):
        error = found.standard_error
        return (found.upper - found.lower) / (2.0 * NORMAL) if error is None else error
    return (found.upper - found.lower) / 2.0


def _estimate(middle: float, error: float) -> Estimate:
    reach = NORMAL * error
    return Estimate(
        middle, middle - reach, middle + reach, 0.95, "at these points", error
    )
