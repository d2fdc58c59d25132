"""Can this be measured? What would make a grading wrong, looked for beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.transfer.setup import (
    Policies,
    brought,
    opened_policies,
    opened_simulator,
    steps_of,
)
from simgap.arrays import FloatArray
from simgap.continuous import (
    REPEATS,
    Points,
    Simulator,
    Work,
    all_checks,
    bind,
    ends_of,
    first_episode,
    parse_randomization,
    repetition,
)
from simgap.interrupts import WATCHER, watched
from simgap.processes import Crew
from simgap.records.check import SimulatorCheck
from simgap.records.provenance import provenance


def check(
    simulator: Any,
    policies: Policies,
    *,
    randomize: Any = "nominal",
    horizon: int | None = None,
    bounds: tuple[float, float] | None = None,
    noise: str = "",
    seed: int = 0,
    progress: Tell = lambda _: None,
) -> SimulatorCheck:
    """Return what would make the grading of policies in a simulator wrong.

    Arguments are those of `transfer`. A few episodes are run, so that this takes
    seconds where a measurement takes hours.

    >>> import simgap
    >>> simgap.check("gym:CartPole-v1", "random", randomize="length=0.3..1.0").passed
    True
    """
    progress("opening the simulator")
    opened = opened_simulator(simulator, noise)
    randomization = bind(parse_randomization(randomize), opened)
    steps = steps_of(opened, horizon)
    every, entries = opened_policies(brought(policies), opened)
    points = Points(randomization.sample(seed, range(1)), np.ones(1, np.bool_))
    progress("running a few episodes")
    ends = ends_of(randomization)
    repeated = repetition(opened, *ends)
    if repeated == REPEATS and watched() and isinstance(simulator, str):
        progress("running episodes in fresh processes")
        repeated = _in_fresh_processes(simulator, noise, opened, ends)
    work = Work(opened, randomization, every, points, steps, seed, bounds)
    found = all_checks(work, repeated)
    return SimulatorCheck(
        simulator=opened.name,
        policy=", ".join(each.name for each in entries),
        randomize=randomization.to_string(),
        horizon=steps,
        passed=all(each.status != "fail" for each in found),
        checks=found,
        certainty={"checks": "exact"},
        provenance=provenance(command="", model=opened.name, latent=None, seed=seed),
    )


@final
@dataclass(frozen=True, slots=True)
class _Fresh:
    """Episodes of a simulator in a process that has run nothing else."""

    simulator: str
    noise: str

    def __call__(self, tell: Tell) -> Callable[[dict[str, float]], FloatArray]:
        return self.episode

    def episode(self, theta: dict[str, float]) -> FloatArray:
        return first_episode(opened_simulator(self.simulator, self.noise), theta, theta)


def _in_fresh_processes(
    simulator: str, noise: str, opened: Simulator, ends: list[dict[str, float]]
) -> str:
    """Return whether two worlds side by side do what each does in a process alone."""
    together = first_episode(opened, *ends)
    for at, theta in enumerate(ends if ends[0] else ends[:1]):
        environment = {WATCHER: str(os.getpid())}
        with Crew(_Fresh(simulator, noise), 1, environment=environment) as crew:
            (ended,) = crew.run([theta])
        if ended.failure is not None:
            raise ended.failure
        if not np.array_equal(together[:, at], ended.result[:, at], equal_nan=True):
            return "worlds-share-state"
    return REPEATS
