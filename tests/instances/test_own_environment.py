"""A Gymnasium environment of one's own gives the table that its equations give."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, InvalidModel
from simgap.instances import classic_control, environment_physics
from simgap.mdp import discretise
from simgap.mdp.grid_states import NodeSet
from simgap.mdp.physics import Physics, Theta

LEVELS = {"left": [-2.0], "none": [0.0], "right": [2.0]}


def pendulum(theta: Theta) -> Any:
    env = gymnasium.make("Pendulum-v1").unwrapped
    env.m = theta["mass"]
    return env


def put(env: Any, state: FloatArray) -> None:
    env.state = state


def read(env: Any) -> FloatArray:
    return np.array(env.state)


def own(make: Any = pendulum, **changes: Any) -> Physics:
    settings: dict[str, Any] = {
        "put": put,
        "read": read,
        "actions": LEVELS,
        "start": ((-np.pi, np.pi), (-1.0, 1.0)),
        "reward_range": (-16.2736044 - 1e-3, 0.0),
    }
    return environment_physics("pendulum", make, **(settings | changes))


def test_a_pendulum_of_ones_own_is_the_built_in_one() -> None:
    built_in = classic_control(
        "Pendulum-v1", grid={"mass": (0.7, 1.3)}, cells=9, actions=3
    )
    found = discretise(
        own(),
        built_in.grid,
        {"mass": (0.7, 1.3)},
        states=NodeSet.COMMUNICATING,
    ).simulators
    wanted = built_in.simulators
    assert found.n_states == wanted.n_states
    assert found.theta.names == ("mass",)
    first, second = found.transitions, wanted.transitions
    assert np.array_equal(first.indices, second.indices)
    assert np.allclose(first.values, second.values, atol=1e-9)
    assert np.allclose(found.rewards, wanted.rewards, atol=1e-9)


class Lucky(gymnasium.Env):  # type: ignore[misc]
    """An environment that draws its next state."""

    def __init__(self) -> None:
        self.state = np.zeros(2)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.state = self.state + self.np_random.normal(size=2)
        return self.state, -1.0, False, False, {}


def test_luck_is_refused() -> None:
    physics = own(lambda theta: Lucky())
    with pytest.raises(InvalidModel, match="steps from the same state"):
        physics.step({"mass": 1.0}, np.zeros((3, 2)), np.zeros(3))


def test_a_state_of_another_shape_is_refused() -> None:
    physics = own(read=lambda env: np.array([env.state[0]]))
    with pytest.raises(InvalidModel, match="shape"):
        physics.step({"mass": 1.0}, np.zeros((1, 2)), np.zeros(1))


def test_no_actions_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="no actions"):
        own(actions={})
