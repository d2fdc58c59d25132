"""Can this be measured? What would make a grading wrong, looked for beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

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
    BoundRandomization,
    Points,
    Randomization,
    Simulator,
    Work,
    all_checks,
    bind,
    ends_of,
    first_episode,
    parse_randomization,
    repetition,
    without_effect,
)
from simgap.interrupts import WATCHER, watched
from simgap.processes import Crew, Ended
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
    repeated = repetition(opened, *ends_of(randomization))
    if repeated == REPEATS and watched() and isinstance(simulator, str):
        progress("running episodes in fresh processes")
        repeated = _in_fresh_processes(simulator, noise, opened, randomization)
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


class Look(NamedTuple):
    """What a few episodes say before anything is measured."""

    repeated: str  # REPEATS, or why episodes do not
    idle: tuple[str, ...]  # parameters that change nothing


def look_at(
    given: Any, noise: str, opened: Simulator, randomization: BoundRandomization
) -> Look | None:
    """Return whether episodes repeat and parameters act; None: they end their process.

    Where code of users is watched a worker looks, so that a crash costs only the look.
    """
    if not (watched() and isinstance(given, str)):
        return _look(opened, randomization)
    ended = _in_a_process(_Task(given, noise, randomization.spec))
    if ended.failure is None:
        return ended.result  # type: ignore[no-any-return]
    if ended.failure.code != "process-died":
        raise ended.failure
    return None


def _look(opened: Simulator, randomization: BoundRandomization) -> Look:
    repeated = repetition(opened, *ends_of(randomization))
    return Look(repeated, without_effect(opened, randomization))


class _Task(NamedTuple):
    """What a process does that has run nothing else."""

    simulator: str
    noise: str
    randomize: Randomization
    theta: dict[str, float] | None = None  # of an episode; None: all that is looked at


def _start(tell: Tell) -> Callable[[_Task], Look | FloatArray]:
    return _run


def _run(task: _Task) -> Look | FloatArray:
    opened = opened_simulator(task.simulator, task.noise)
    if task.theta is None:
        return _look(opened, bind(task.randomize, opened))
    return first_episode(opened, task.theta, task.theta)


def _in_a_process(task: _Task) -> Ended:
    environment = {WATCHER: str(os.getpid())}
    with Crew(_start, 1, environment=environment, tries=1) as crew:
        (ended,) = crew.run([task])
    return ended


def _in_fresh_processes(
    simulator: str, noise: str, opened: Simulator, nu: BoundRandomization
) -> str:
    """Return whether two worlds side by side do what each does in a process alone."""
    ends = ends_of(nu)
    together = first_episode(opened, *ends)
    for at, theta in enumerate(ends if ends[0] else ends[:1]):
        ended = _in_a_process(_Task(simulator, noise, nu.spec, theta))
        if ended.failure is not None:
            raise ended.failure
        if not np.array_equal(together[:, at], ended.result[:, at], equal_nan=True):
            return "worlds-share-state"
    return REPEATS
