"""Run on, or stop? Rounds of episodes, each twice as long as all before.

After each round the intervals are looked at. They are told as the look they were made
at (`Level.look`), so that they hold although they decided when to stop.

*Threshold*: it is enough when the mean loss of every policy is known to be above or
below it. Where the noise of episodes makes up little of the error, more of them cannot
decide, and points are what is missing. *Half-width*: it is enough when, at every point
inside the range, the gap of every policy is known to within so much, or its return
where there is no reference. (The mean over nu may stay wider: points limit it, not
episodes.) *Budget*: steps of the simulator in all. What the next round costs is
foretold from the steps of an episode so far; the last round is cut to what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, NamedTuple, final

import numpy as np

from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.gaps import gap_at_points, losses, mean_gap
from simgap.continuous.measuring.means import Level, mean_at, share_of_noise
from simgap.continuous.measuring.value import FIXED, measured_return
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate

BETWEEN = 0.1  # of the variance is noise of episodes: points are what is missing
LITTLE = 1e-3  # of the noise: what would take more than a thousand times the episodes


@final
@dataclass(frozen=True, slots=True)
class Rounds:
    """How many episodes to run at each point, and when it is enough."""

    first: int = 16  # episodes at each point, of the first round
    half_width: float | None = None  # in units of reward
    budget: int | None = None  # steps of the simulator
    most: int = 16_384  # episodes at each point
    threshold: float | None = None  # a mean loss, in units of reward

    def __post_init__(self) -> None:
        for name in ("first", "half_width", "budget", "most", "threshold"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidArgument(
                    f"{name.replace('_', '-')} is {value}", hint="it is above 0"
                )


class Next(NamedTuple):
    """Episodes that each point shall have; None: stop."""

    episodes: int | None
    why: Literal[
        "go-on",
        "decided",
        "points-limit",
        "half-width-reached",
        "budget-spent",
        "most-episodes",
    ]


class Open(NamedTuple):
    """A mean loss whose interval holds the threshold, and what would decide."""

    policy: str
    episodes: int | None  # at each point, in all; None: only more points would do
    points: int  # in all, with the same episodes
    noise: float  # of episodes: what part of the variance of the mean it is


def next_round(
    rounds: Rounds,
    cube: Cube,
    *,
    look: int,
    steps: int,
    confidence: float = 0.95,
    points: DrawnPoints = FIXED,
) -> Next:
    """Return how many episodes to have next; `look` counts from 1, the first round.

    `steps` is what the simulator has done so far.
    """
    level = Level(confidence, look)
    done = cube.returns.shape[-1]
    if rounds.half_width is not None and widest(cube, level) <= 2 * rounds.half_width:
        return Next(None, "half-width-reached")
    if rounds.threshold is not None:
        questions = undecided(cube, points, rounds.threshold, level)
        if not questions:
            return Next(None, "decided")
        if all(each.noise < BETWEEN for each in questions):
            return Next(None, "points-limit")
    more = min(2 * done, rounds.most)
    if more <= done:
        return Next(None, "most-episodes")
    if rounds.budget is not None:
        left = rounds.budget - steps
        fits = done + int(done * left / max(1, steps))
        if fits <= done:
            return Next(None, "budget-spent")
        more = min(more, fits)
    return Next(more, "go-on")


def undecided(
    cube: Cube, points: DrawnPoints, threshold: float, level: Level
) -> tuple[Open, ...]:
    """Return the policies that may lose more than a threshold on average, or less.

    What would decide is foretold from the error so far: of points and of episodes.
    """
    found = []
    for policy in cube.policies:
        lost = losses(cube, policy, points)
        if lost is None or not (there := cube.inside & lost.there).any():
            continue
        gap = mean_gap(lost, there, level)
        if not gap.lower <= threshold < gap.upper:
            continue
        noise = share_of_noise(lost.chosen_on_others(), there, gap)
        half, away = (gap.upper - gap.lower) / 2.0, abs(gap.estimate - threshold)
        factor = (half / max(away, 1e-3 * half)) ** 2  # less variance, so many times
        left = 1.0 / factor - (1.0 - noise)
        episodes = cube.returns.shape[-1]
        found.append(
            Open(
                policy,
                ceil(episodes * noise / left) if left > LITTLE * noise else None,
                ceil(factor * int(there.sum())),
                noise,
            )
        )
    return tuple(found)


def widest(cube: Cube, level: Level) -> float:
    """Return the width of the widest interval at a point inside the range."""
    found: list[Estimate] = []
    for policy in cube.policies:
        if policy in cube.references:
            continue
        lost = losses(cube, policy, FIXED)
        returns = measured_return(cube, policy, FIXED)
        gaps = None if lost is None else gap_at_points(lost, level)
        for point in np.flatnonzero(cube.inside & (returns.counts > 0)).tolist():
            if gaps is None:
                found.append(mean_at(returns, point, level))
            elif (gap := gaps[point]) is not None:
                found.append(gap[0])
    return max((each.upper - each.lower for each in found), default=0.0)
