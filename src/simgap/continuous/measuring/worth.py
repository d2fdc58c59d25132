"""What one policy gets more than another, and how sure that is, source by source.

Two things are random: the episodes that a policy was measured in, and the seed that it
was trained with. Another training would have led to another policy, so that a claim
about a way of training needs both; a claim about these very policies needs the first.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from simgap.arrays import FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.means import Level, over_points
from simgap.continuous.measuring.sampled import (
    combined_returns,
    sampled_returns,
    training_seeds,
)
from simgap.continuous.measuring.worst import worst_point
from simgap.intervals import Estimate


class Difference(NamedTuple):
    """One policy less another, averaged over nu."""

    value: Estimate  # of the way of training: episodes and seeds are both random
    evaluation: Estimate  # of these very policies: only episodes are
    spread: float | None  # standard deviation of a training's mean; None: one seed
    seeds: tuple[int, int]  # trainings of each
    worst: tuple[Estimate, Estimate]  # return of each at its own worst point


def compared(
    cube: Cube,
    one: str,
    other: str,
    points: DrawnPoints,
    *,
    confidence: float = 0.95,
    look: int = 0,
) -> Difference:
    """Return what one policy gets more than another, over the points inside."""
    level = Level(confidence, look)
    both = [sampled_returns(cube, each) for each in (one, other)]
    apart = both[0].minus(both[1])
    shares = points.shares(cube.inside)
    spreads = [
        float((means[:, cube.inside] @ shares).var(ddof=1))
        for each in both
        for means in each.seeds
    ]
    return Difference(
        over_points(apart, points, cube.inside, level),
        over_points(replace(apart, seeds=()), points, cube.inside, level),
        float(np.sqrt(np.mean(spreads))) if spreads else None,
        (training_seeds(cube, one), training_seeds(cube, other)),
        (_worst(cube, one, level), _worst(cube, other, level)),
    )


class Combination(NamedTuple):
    """A weighted sum of the same trainings under several conditions, over nu."""

    value: Estimate  # of the way of training: episodes and seeds are both random
    evaluation: Estimate  # of these very policies: only episodes are
    spread: float | None  # standard deviation of a training's sum; None: one seed


def combined(
    cube: Cube, weights: FloatArray, points: DrawnPoints, *, confidence: float = 0.95
) -> Combination:
    """Return a weighted sum of what the policies of a cube get, over points inside."""
    level = Level(confidence)
    found = combined_returns(cube, weights)
    spread = None
    for means in found.seeds:  # of the only policy that there is
        there = cube.inside & np.isfinite(means).all(axis=0)
        spread = float((means[:, there] @ points.shares(there)).std(ddof=1))
    return Combination(
        over_points(found, points, cube.inside, level),
        over_points(replace(found, seeds=()), points, cube.inside, level),
        spread,
    )


def _worst(cube: Cube, policy: str, level: Level) -> Estimate:
    """Return what a training gets at its own worst point, on average over trainings.

    Two trainings may fail at different points: where their mean is worst says little.
    """
    at = cube.policies.index(policy)
    found = [
        worst_point(_one_training(cube, at, seed), policy, cube.inside, level)
        for seed in range(cube.returns.shape[1])
        if np.isfinite(cube.returns[at, seed]).any()
    ]
    numbers = np.array([each.estimate for each in found])
    if numbers.size == 1:
        only = found[0]
        ends = (only.estimate, only.lower, only.upper, only.confidence)
        return Estimate(*ends, only.method, label=only.label)
    error = float(numbers.std(ddof=1)) / sqrt(numbers.size)
    reach = float(stdtrit(numbers.size - 1, 0.5 + level.share() / 2.0)) * error
    mean = float(numbers.mean())
    said = f"t interval, own worst points of {numbers.size} trainings"
    whole = Estimate(mean, mean - reach, mean + reach, level.confidence, said, error)
    return whole.within(*(cube.bounds or (None, None)))


def _one_training(cube: Cube, at: int, seed: int) -> Cube:
    name, here = cube.policies[at], (slice(at, at + 1), slice(seed, seed + 1))
    mine = [e for e in cube.failures if (e.policy, e.training_seed) == (name, seed)]
    return replace(
        cube,
        policies=(name,),
        references=(),
        returns=cube.returns[here],
        success=None,
        failures=tuple(replace(each, training_seed=0) for each in mine),
    )
