"""A measured number: values over training seeds, points and episodes.

Gaps, differences of policies, the worth of memory and Shapley shares are sums of such
values with factors. The interval is taken last (`means`), so that whatever two policies
have in common cancels: points, starts, noise, trainings.

*Broken episodes*: where bounds of a return are known they count as the lower one, and
as no success; without bounds they are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints

Bounds = tuple[float, float] | None
FIXED = DrawnPoints(Drawn.CHOSEN)


@final
@dataclass(frozen=True, slots=True, eq=False)
class MeasuredValue:
    """The sum of some terms, each averaged over training seeds of its own.

    All terms have the same points and episodes. Training seed s of a term is one policy
    under whatever conditions were summed up; seeds of two terms have nothing in common.
    """

    terms: Mapping[str, FloatArray]  # (S, T, K) by training, NaN: not measured
    points: DrawnPoints = FIXED
    bounds: Bounds = None  # of one episode, averaged over training seeds
    paired: bool = False  # a difference, episode by episode

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))

    def __add__(self, other: MeasuredValue) -> MeasuredValue:
        terms = dict(self.terms)
        for name, values in other.terms.items():
            terms[name] = terms[name] + values if name in terms else values
        bounds = None
        if self.bounds and other.bounds:
            bounds = (
                self.bounds[0] + other.bounds[0],
                self.bounds[1] + other.bounds[1],
            )
        return MeasuredValue(terms, self.points, bounds, paired=True)

    def __sub__(self, other: MeasuredValue) -> MeasuredValue:
        return self + -1.0 * other

    def __rmul__(self, factor: float) -> MeasuredValue:
        low, high = sorted(factor * end for end in self.bounds or (0.0, 0.0))
        return replace(
            self,
            terms={name: factor * each for name, each in self.terms.items()},
            bounds=(low, high) if self.bounds else None,
        )

    @property
    def values(self) -> FloatArray:
        """Return the sum over terms, averaged over training seeds, (T, K)."""
        every = [mean_of(np.moveaxis(each, 0, -1)) for each in self.terms.values()]
        total: FloatArray = np.sum(every, axis=0)
        return total

    @property
    def means(self) -> FloatArray:
        """Return the mean at each point, (T,); NaN where there is none."""
        return mean_of(self.values)

    @property
    def counts(self) -> OffsetArray:
        """Return the episodes at each point, (T,)."""
        found: OffsetArray = np.isfinite(self.values).sum(axis=1)
        return found

    def of_these_trainings(self) -> MeasuredValue:
        """Return the same of these very policies: training seeds are averaged."""
        terms = {
            name: mean_of(np.moveaxis(each, 0, -1))[None]
            for name, each in self.terms.items()
        }
        return replace(self, terms=terms)

    def of_episodes(self, chosen: IndexArray | BoolArray) -> MeasuredValue:
        """Return the same from some of the episodes."""
        terms = {name: each[..., chosen] for name, each in self.terms.items()}
        return replace(self, terms=terms)

    def of_point(self, point: int) -> MeasuredValue:
        """Return the same at one point alone."""
        terms = {name: each[:, [point]] for name, each in self.terms.items()}
        return replace(self, terms=terms, points=FIXED)

    def at_points(self, chosen: BoolArray) -> MeasuredValue:
        """Return what is 0 elsewhere, for a sum of different values at the points."""
        terms = {
            name: np.where(chosen[:, None], each, 0.0)
            for name, each in self.terms.items()
        }
        return replace(self, terms=terms)


def measured_return(
    cube: Cube, policy: str, points: DrawnPoints, *, yardstick: bool = False
) -> MeasuredValue:
    """Return the return of a policy.

    Broken episodes of a yardstick are missing: the least return would flatter others.
    """
    at = cube.policies.index(policy)
    low = cube.bounds[0] if cube.bounds and not yardstick else None
    values = _filled(cube, at, cube.returns[at], low)
    return MeasuredValue({policy: values[_run(values)]}, points, cube.bounds)


def measured_success(
    cube: Cube, policy: str, points: DrawnPoints
) -> MeasuredValue | None:
    """Return 1 or 0 for each episode, where success is reported at all."""
    at = cube.policies.index(policy)
    if cube.success is None or not np.isfinite(cube.success[at]).any():
        return None
    values = _filled(cube, at, cube.success[at], 0.0)
    return MeasuredValue({policy: values[_run(values)]}, points, (0.0, 1.0))


def returns_of_trainings(cube: Cube, points: DrawnPoints) -> tuple[MeasuredValue, ...]:
    """Return the returns of all policies, which are the same trainings.

    Whatever differs between two trainings is summed up within each. An episode that
    broke under one policy is left out of all, so that sums that agree for every episode
    agree in the mean.
    """
    low = cube.bounds[0] if cube.bounds else None
    every = [_filled(cube, at, each, low) for at, each in enumerate(cube.returns)]
    run = np.any([_run(each) for each in every], axis=0)
    broken = np.isnan(np.sum(every, axis=0)[run])
    return tuple(
        MeasuredValue(
            {"trainings": np.where(broken, np.nan, each[run])}, points, cube.bounds
        )
        for each in every
    )


def weighted(values: tuple[MeasuredValue, ...], weights: FloatArray) -> MeasuredValue:
    """Return the sum of values with factors; those of 0 do not matter."""
    used = [w * each for w, each in zip(weights.tolist(), values, strict=True) if w]
    total = used[0] if used else 0.0 * values[0]
    for each in used[1:]:
        total = total + each
    return total


def mean_of(values: FloatArray) -> FloatArray:
    """Return means over the last axis without what is NaN; NaN where nothing is."""
    there = np.isfinite(values)
    counts = there.sum(axis=-1)
    sums = np.where(there, values, 0.0).sum(axis=-1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _filled(cube: Cube, at: int, values: FloatArray, least: float | None) -> FloatArray:
    """Return (S, T, K) with the least number where an episode broke."""
    found: FloatArray = np.array(values)
    for each in cube.failures:
        if each.policy == cube.policies[at]:
            place = (each.training_seed, each.point, each.episode)
            found[place] = np.nan if least is None else least
    return found


def _run(values: FloatArray) -> BoolArray:
    """Return which training seeds were run, (S,)."""
    return np.array([np.isfinite(each).any() for each in values])
