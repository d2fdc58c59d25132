"""What has to be run: rounds of episodes, cut into jobs of fixed shape.

A round is ROUND more episodes of every policy at every point. Its jobs do not depend on
how many workers there are, and neither do the rows that are stepped together, so that
the same numbers come out on one core or many, in one go or resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, read_only
from simgap.continuous.cube import Failure
from simgap.continuous.interfaces import Batch, BroughtPolicy, Simulator
from simgap.continuous.measuring.episodes import Look, run_episodes
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.randomization.draws import philox

ROUND = 16  # episodes of a policy at a point between two looks at the numbers
ROWS = 16  # worlds that are stepped together, unless the simulator likes more


@final
@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The values of the parameters at which policies are measured."""

    theta: FloatArray  # (T, P), as drawn
    inside: BoolArray  # (T,), False: beyond the range
    weights: FloatArray | None = None  # (T,) of the points inside, if not equal

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", read_only(self.theta))
        object.__setattr__(self, "inside", read_only(self.inside, np.bool_))


@final
@dataclass(frozen=True, slots=True)
class Job:
    """Some episodes of one policy at some neighbouring points."""

    policy: int  # place in the list of policies, training seeds one by one
    points: tuple[int, int]  # from, to
    episodes: tuple[int, int]  # from, to

    @property
    def key(self) -> str:
        """Return what a finished job is found by."""
        (a, b), (first, last) = self.points, self.episodes
        return f"{self.policy}/{a}-{b}/{first}-{last}"

    @property
    def size(self) -> int:
        """Return the number of episodes."""
        return (self.points[1] - self.points[0]) * (self.episodes[1] - self.episodes[0])

    def halves(self) -> tuple[Job, ...]:
        """Return the job in two parts, or nothing if it is a single episode."""
        for name in ("points", "episodes"):
            first, last = getattr(self, name)
            if last - first > 1:
                middle = (first + last) // 2
                both = ((first, middle), (middle, last))
                if name == "points":
                    return tuple(Job(self.policy, each, self.episodes) for each in both)
                return tuple(Job(self.policy, self.points, each) for each in both)
        return ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """What a job came to: points (t) by episodes (k)."""

    returns: FloatArray  # (t, k), NaN where an episode broke
    success: FloatArray  # (t, k), NaN where nothing is known of it
    steps: int
    clipped: float  # share of the actions' numbers
    broken: tuple[tuple[int, int, int, str, str], ...]  # point, episode, step, ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Everything that a job needs."""

    simulator: Simulator
    randomization: BoundRandomization
    policies: tuple[BroughtPolicy, ...]
    points: Points
    horizon: int
    seed: int
    declared: tuple[float, float] | None = None  # by the user: what a return is between

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return what a return certainly lies between, if somebody knows."""
        return self.declared or self.simulator.return_bounds(self.horizon)

    @property
    def rows(self) -> int:
        """Return how many worlds are stepped together."""
        return int(getattr(self.simulator, "rows", None) or ROWS)


def jobs_of_round(work: Work, first: int, last: int) -> Iterator[Job]:
    """Return the jobs that run episodes `first` to `last` - 1 of every policy.

    A job is what the simulator likes to step together: a slow one has short jobs.
    """
    count = len(work.points.theta)
    for policy in range(len(work.policies)):
        for start in range(0, count, work.rows):
            stop = min(start + work.rows, count)
            side = 1 << (max(1, work.rows // (stop - start)).bit_length() - 1)
            for begin in range(first, last, side):
                episodes = (begin, min(begin + side, last))
                yield Job(policy, (start, stop), episodes)


def run_job(work: Work, job: Job, look: Look | None = None) -> Done:
    """Run the episodes of a job; `look` is shown every step of those side by side.

    The worlds of the points are built once. As many episodes as the simulator likes
    are stepped side by side, the others one after the other.
    """
    (low, high), (first, last) = job.points, job.episodes
    count, length = high - low, last - first
    alone = not work.randomization.names  # nothing is randomized: there is one world
    side = 1 if alone else max(1, min(work.rows // count, length))
    returns, success = np.empty((count, length)), np.full((count, length), np.nan)
    steps, clipped, broken = 0, 0.0, []
    theta = np.tile(work.points.theta[low:high], (side, 1))
    worlds = work.simulator.instantiate(work.randomization.values(theta))
    try:
        for begin in range(0, length, side):
            wide = min(side, length - begin)
            if wide < side:  # the last ones: fewer worlds
                worlds.close()
                theta = theta[: wide * count]
                worlds = work.simulator.instantiate(work.randomization.values(theta))
            episodes = first + begin + np.arange(wide)
            batch = Batch(
                episode_seeds(work.seed, np.arange(low, high), episodes).T.ravel(),
                told_to_informed(work.randomization, theta),
            )
            found = run_episodes(
                worlds,
                work.policies[job.policy],
                work.simulator.action,
                work.horizon,
                batch,
                look,
            )
            here = slice(begin, begin + wide)
            returns[:, here] = found.returns.reshape(wide, count).T
            if found.success is not None:
                success[:, here] = found.success.reshape(wide, count).T
            steps += int(found.steps.sum())
            clipped += found.clipped * wide / length
            broken += [
                (low + each.row % count, int(episodes[each.row // count]), *each[1:])
                for each in found.broken
            ]
    finally:
        worlds.close()
    return Done(returns, success, steps, clipped, tuple(sorted(broken)))


def episode_seeds(seed: int, points: OffsetArray, episodes: OffsetArray) -> OffsetArray:
    """Return the seeds of episodes at points, (T, K): whole numbers below 2^32.

    A pure function of all three, so that every policy meets the same episodes.
    """
    point, episode = np.broadcast_arrays(points[:, None], episodes[None])
    counter = (episode, np.zeros_like(episode), point, np.ones_like(point))
    key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF))
    words = philox(tuple(each.astype(np.uint64) for each in counter), key)
    return words[0].astype(np.int64)


def told_to_informed(
    randomization: BoundRandomization, theta: FloatArray
) -> dict[str, FloatArray]:
    """Return what an informed policy is told: values of parameters, and the draws.

    A name that is both a parameter and a draw (a factor, say) means the parameter.
    """
    drawn = {name: theta[:, at] for at, name in enumerate(randomization.names)}
    return {**drawn, **randomization.values(theta)}


def failures_of(done: Done, policy: str, training_seed: int) -> Iterator[Failure]:
    """Return the broken episodes of a job by name."""
    for point, episode, step, code, text in done.broken:
        yield Failure(policy, training_seed, point, episode, step, code, text)
