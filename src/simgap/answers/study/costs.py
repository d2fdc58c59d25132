"""What the parts of a study take: counted work times measured speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import final

from simgap.answers.study.kinds import MEMORY, Kind

KEPT = 2  # programs that a process of a training keeps
BEYOND = 1.25  # points beyond the range are measured as well
MOST_SETS = 6  # parameters: blame tells more of them one by one, in random orders
ORDERS = 24


@final
@dataclass(frozen=True, slots=True)
class Speeds:
    """What things take on this machine, in seconds of one core."""

    begin: float  # until the first round of a training: process and compilation
    step: dict[str, float]  # of a training, by its memory
    measured_step: float  # of an episode that is measured
    first_episode: float  # until measuring begins

    def of(self, kind: Kind) -> float:
        """Return the seconds of a step of a training."""
        return self.step.get(kind.memory, self.step[MEMORY.memory])


@final
@dataclass(frozen=True, slots=True)
class Episodes:
    """At how many points is measured, in how many episodes of each policy at each."""

    points: int
    episodes: int

    @property
    def design(self) -> str:
        """Return the points in the words of `transfer`."""
        return f"sobol:{self.points}"

    @property
    def each(self) -> int:
        """Return the episodes of a policy."""
        return self.points * self.episodes


def training_seconds(
    jobs: Sequence[tuple[Kind, int]], speeds: Speeds, workers: int
) -> float:
    """Return how long trainings take if each begins as soon as a process is free.

    A job is a kind and its steps. A process compiles a program that it has not kept.
    """
    free: list[tuple[float, int, tuple[object, ...]]]
    free = [(0.0, each, ()) for each in range(workers)]
    heapify(free)
    for kind, steps in jobs:
        now, worker, kept = free[0]
        if kind.program in kept:
            kept = tuple(each for each in kept if each != kind.program)
        else:
            now += speeds.begin
        now += steps * speeds.of(kind)
        heapreplace(free, (now, worker, (*kept, kind.program)[-KEPT:]))
    return max(now for now, _, _ in free)


def measuring_seconds(
    policies: float, episodes: int, horizon: int, speeds: Speeds, workers: int
) -> float:
    """Return how long so many episodes of each policy take."""
    steps = policies * episodes * horizon
    return speeds.first_episode + steps * speeds.measured_step / workers


def told_sets(parameters: int) -> int:
    """Return how many sets of parameters blame tells a policy, about."""
    few = parameters <= MOST_SETS
    return 2**parameters if few else ORDERS * parameters
