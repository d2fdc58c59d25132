"""What is trained before a sampler begins: its steps, and what it gets at points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simgap.continuous import bind, open_simulator, parse_memory, preset
from simgap.continuous.training.beforehand import Needed
from simgap.continuous.training.references import budget_of, returns_at
from tests.continuous.training.trial import trial


@pytest.mark.parametrize(
    ("simulator", "spec"),
    [("servo", "gain=0.5..1.5 sign={-1,1}"), ("cartpole", "length=0.3..1.5")],
)
def test_returns_at_points_are_those_of_the_points_however_they_are_collected(
    simulator: str, spec: str
) -> None:
    """Equations in one program, or stepped from outside; actions are never drawn."""
    given = trial(open_simulator(simulator), spec, "none", horizon=100)
    learner, learnt = given.learner, given.learner.start(0)
    head = learnt.weights.actor.head
    louder = head._replace(weight=50.0 * head.weight)
    actor = learnt.weights.actor._replace(head=louder)
    learnt = learnt._replace(weights=learnt.weights._replace(actor=actor))
    theta = given.randomization.sample(3, range(6))

    def at(points: Any, seed: int, one_program: bool = True) -> Any:
        chosen = learner
        if not one_program:
            chosen = replace(learner, programs=learner.programs._replace(whole=None))
        return returns_at(chosen, learnt, given.randomization, points, seed)

    found = at(theta, 5)
    np.testing.assert_allclose(at(theta, 5, one_program=False), found, rtol=1e-4)
    # the last points again, from the starts of the first ones
    again = at(np.concatenate([theta[3:], theta[:3]]), 5)
    assert not np.allclose(again, found)
    np.testing.assert_allclose(at(theta[:3], 5), found[:3], rtol=1e-5)
    assert not np.allclose(at(theta, 6), found)


def test_steps_are_split_by_what_is_needed() -> None:
    """`heading` with 1 200 000 steps: rounds of 6400, 64 cells of 4 episodes."""
    nu = bind("mounting_angle=-3.1..3.1 speed=0.5..2.5", open_simulator("heading"))
    settings = preset(parse_memory("gru"), 100)
    assert settings.batch == 6400
    steps = 1_200_000
    nominal = budget_of(Needed.NOMINAL, steps, settings, nu)
    assert nominal == (100_000, 15 * 6400, steps - 15 * 6400)
    informed = budget_of(Needed.INFORMED, steps, settings, nu)
    before = 62 * 6400 + 64 * 4 * 100
    assert informed == (400_000, before, steps - before)
    assert budget_of(Needed.NOTHING, steps, settings, nu) == (0, 0, steps)
