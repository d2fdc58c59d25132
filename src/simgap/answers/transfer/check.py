"""Can this be measured? What would make a grading wrong, looked for beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.answers.planned_class import Tell
from simgap.answers.transfer.setup import (
    Policies,
    brought,
    opened_policies,
    opened_simulator,
    steps_of,
)
from simgap.continuous import Points, Work, all_checks, bind, parse_randomization
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
    found = all_checks(Work(opened, randomization, every, points, steps, seed, bounds))
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
