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

from simgap.arrays import BoolArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.means import ENOUGH_SEEDS, Level, mean_over
from simgap.continuous.measuring.value import MeasuredValue, mean_of, measured_return
from simgap.continuous.measuring.worst import worst_point
from simgap.intervals import Estimate
from simgap.statistics import Part, estimated_mean


class Combination(NamedTuple):
    """A measured value, averaged over nu."""

    value: Estimate  # of the way of training, if there are three trainings or more
    evaluation: Estimate  # of these very policies: only episodes are random
    spread: float | None  # standard deviation of a training's mean; None: one seed


class Difference(NamedTuple):
    """One policy less another, averaged over nu."""

    mean: Combination
    seeds: tuple[int, int]  # trainings of each
    worst: tuple[Estimate, Estimate]  # return of each at its own worst point


def averaged(value: MeasuredValue, chosen: BoolArray, level: Level) -> Combination:
    """Return the mean of a value over the chosen points, with and without trainings."""
    there = chosen & (value.counts > 0)
    shares = value.points.shares(there)
    spreads = [
        float((np.nan_to_num(mean_of(each[:, there])) @ shares).var(ddof=1))
        for each in value.terms.values()
        if len(each) > 1
    ]
    return Combination(
        mean_over(value, chosen, level),
        mean_over(value.of_these_trainings(), chosen, level),
        sqrt(float(np.mean(spreads))) if spreads else None,
    )


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
    mine, theirs = (measured_return(cube, each, points) for each in (one, other))
    seeds = [len(each.terms[name]) for each, name in ((mine, one), (theirs, other))]
    return Difference(
        averaged(mine - theirs, cube.inside, level),
        (seeds[0], seeds[1]),
        (_worst(mine, cube, level), _worst(theirs, cube, level)),
    )


def _worst(value: MeasuredValue, cube: Cube, level: Level) -> Estimate:
    """Return what a training gets at its own worst point, on average over trainings.

    Two trainings may fail at different points: where their mean is worst says little.
    """
    ((name, table),) = value.terms.items()
    found = [
        worst_point(replace(value, terms={name: table[s : s + 1]}), cube, level).number
        for s in range(len(table))
    ]
    if len(found) == 1:
        return found[0]
    numbers = np.array([each.estimate for each in found])
    if numbers.size < ENOUGH_SEEDS:  # of these trainings: their errors are independent
        half = sqrt(sum((e.upper - e.lower) ** 2 for e in found)) / 2 / numbers.size
        mean, how = (
            float(numbers.mean()),
            f"own worst points of {numbers.size} trainings",
        )
        about = Estimate(mean, mean - half, mean + half, level.confidence, how)
        return about.within(*(value.bounds or (None, None)))
    low, high = value.bounds or (-np.inf, np.inf)
    known = estimated_mean(
        [Part(numbers, low, high)], level.share(), least=low, greatest=high
    )
    how = f"t interval, own worst points of {numbers.size} trainings"
    return replace(known, confidence=level.confidence, guaranteed=None, method=how)
