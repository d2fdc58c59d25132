"""The worst point without the luck of having been chosen, and where losses are large.

The least of many means is too small: it was chosen for its bad luck, too. So the point
is chosen on one random half of the episodes and reported from the other, and its
interval is for what is true *at that point*, of these very policies. Where there are
too few episodes to halve, the point is chosen on all of them and its interval is one of
as many as there are points, which hold at once. What is reported is never better than
the mean over all points: no worst point is.

Nothing is said of points in between: a cliff may hide there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.gaps import Losses, halves
from simgap.continuous.measuring.means import Level, mean_at
from simgap.continuous.measuring.value import MeasuredValue
from simgap.intervals import Estimate
from simgap.records.transfer import LossRegion, WorstPoint

HALVES = "chosen on one half of the episodes, reported from the other"
LEAST = 2  # episodes of a half


def worst_point(value: MeasuredValue, cube: Cube, level: Level) -> WorstPoint:
    """Return the point inside the range with the least return."""
    return _of_least(value.of_these_trainings(), cube, cube.inside, level, 1.0)


def worst_gap(given: Losses, cube: Cube, chosen: BoolArray, level: Level) -> WorstPoint:
    """Return the chosen point with the greatest loss against the best reference."""
    first, second = halves(given.episodes)
    loss = given.against_best(given.best(first, second))
    return _of_least(-1.0 * loss.of_these_trainings(), cube, chosen, level, -1.0)


def _of_least(
    value: MeasuredValue, cube: Cube, chosen: BoolArray, level: Level, sign: float
) -> WorstPoint:
    """Return the least of a value, as `sign` times it."""
    looks, tells = (value.of_episodes(each) for each in halves(value.values.shape[1]))
    met = chosen & (value.counts > 0)
    claims = 1
    if min(looks.counts[met].min(), tells.counts[met].min()) < LEAST:
        looks = tells = value
        claims = int(met.sum())
    point = int(np.nanargmin(np.where(met, looks.means, np.nan)))
    found = mean_at(tells, point, level, claims)
    mean = float(value.points.shares(met) @ value.means[met])
    number = replace(
        found, estimate=min(found.estimate, mean), lower=min(found.lower, mean)
    ).changed(sign)
    how = HALVES if claims == 1 else f"one of {claims} that hold at once"
    return WorstPoint(
        theta=theta_at(cube, point),
        estimate=number.estimate,
        lower=number.lower,
        upper=number.upper,
        confidence=number.confidence,
        method=f"{number.method}, {how}",
        guaranteed=number.guaranteed,
    )


def loss_region(
    intervals: Sequence[Estimate | None],
    theta: FloatArray,
    names: Sequence[str],
    weights: FloatArray,
    threshold: float,
    confidence: float,
) -> LossRegion:
    """Return where a loss exceeds a threshold, from intervals that hold at once.

    Where nothing was measured it may exceed it.
    """
    lower = np.array([-np.inf if e is None else e.lower for e in intervals])
    upper = np.array([np.inf if e is None else e.upper for e in intervals])
    certain = lower > threshold
    box = {
        name: (float(column[certain].min()), float(column[certain].max()))
        for name, column in zip(names, theta.T, strict=True)
        if certain.any()
    }
    return LossRegion(
        threshold=threshold,
        certain=float(weights[certain].sum()),
        possible=min(1.0, float(weights[upper > threshold].sum())),
        confidence=confidence,
        ranges=box,
    )


def theta_at(cube: Cube, point: int) -> dict[str, float]:
    """Return the parameters of a point by name."""
    return dict(zip(cube.parameters, cube.theta[point].tolist(), strict=True))
