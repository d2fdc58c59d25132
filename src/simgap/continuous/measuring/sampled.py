"""Numbers of episodes over points, averaged over training seeds.

*Broken episodes*: where bounds of a return are known they count as the lower one, and
as no success; without bounds they are left out, and counted. Those of a reference are
always left out of a comparison: nobody loses less because a reference broke.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.cube import Cube

Bounds = tuple[float, float] | None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Numbers of episodes, averaged over training seeds, and the means of each seed."""

    values: FloatArray  # (T, K), NaN: not there
    seeds: tuple[FloatArray, ...] = ()  # (S, T) of each policy with several seeds
    bounds: Bounds = None  # of one number
    what: str = ""  # for the method

    def minus(self, other: Sampled) -> Sampled:
        """Return the difference, episode by episode."""
        bounds = None
        if self.bounds and other.bounds:
            low, high = (
                self.bounds[0] - other.bounds[1],
                self.bounds[1] - other.bounds[0],
            )
            bounds = (low, high)
        return Sampled(
            self.values - other.values, self.seeds + other.seeds, bounds, "paired"
        )

    def episodes(self, kept: slice) -> Sampled:
        """Return the same from some of the episodes."""
        return replace(self, values=self.values[:, kept])

    @property
    def means(self) -> FloatArray:
        """Return the mean at each point, (T,); NaN where there is none."""
        return mean_of(self.values)

    @property
    def counts(self) -> np.typing.NDArray[np.int64]:
        """Return the episodes at each point, (T,)."""
        found: np.typing.NDArray[np.int64] = np.isfinite(self.values).sum(axis=1)
        return found


def sampled_returns(cube: Cube, policy: str, *, yardstick: bool = False) -> Sampled:
    """Return the returns of a policy.

    Those of a `yardstick` that broke are left out: nothing is compared with them.
    """
    low = cube.bounds[0] if cube.bounds and not yardstick else None
    at = cube.policies.index(policy)
    return _averaged(_filled(cube, at, cube.returns[at], low), cube.bounds)


def combined_returns(cube: Cube, weights: FloatArray) -> Sampled:
    """Return a weighted sum of all policies' returns, episode by episode.

    The policies are the same trainings under several conditions: what differs between
    two trainings is summed up within each. An episode that broke under one condition
    is left out of all, so that sums that agree for every episode agree in the mean.
    What a return lies between says little of a sum: intervals are approximate.
    """
    low = cube.bounds[0] if cube.bounds else None
    every = np.stack(
        [_filled(cube, at, each, low) for at, each in enumerate(cube.returns)]
    )
    total: FloatArray = np.tensordot(weights, every, axes=1)
    return replace(_averaged(total, None), what="paired")


def sampled_success(cube: Cube, policy: str) -> Sampled | None:
    """Return 1 or 0 for each episode, where success is reported at all."""
    if cube.success is None:
        return None
    at = cube.policies.index(policy)
    values = _filled(cube, at, cube.success[at], 0.0)
    reported = np.isfinite(cube.success[at]).any()
    return _averaged(values, (0.0, 1.0)) if reported else None


def training_seeds(cube: Cube, policy: str) -> int:
    """Return how many training seeds a policy has, broken ones included."""
    at = cube.policies.index(policy)
    return int(_run(_filled(cube, at, cube.returns[at], 0.0)).sum())


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


def _averaged(values: FloatArray, bounds: Bounds) -> Sampled:
    """Return the mean over the training seeds that were run."""
    values = values[_run(values)]
    episodes = mean_of(np.moveaxis(values, 0, -1))
    return Sampled(episodes, (mean_of(values),) if len(values) > 1 else (), bounds)
