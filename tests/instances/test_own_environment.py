"""A Gymnasium environment of one's own gives the table that its equations give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import RandomSimulator
from simgap.instances import classic_control, environment_physics
from simgap.mdp import Axis, Moved, StateGrid, discretise
from simgap.mdp.grid_states import NodeSet
from simgap.mdp.physics import Physics, Theta
from simgap.records.provenance import ON_GRID

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


def square(low: float, high: float, cells: int) -> StateGrid:
    return StateGrid((Axis("x", low, high, cells), Axis("y", low, high, cells)))


def test_luck_is_refused_with_the_way_out() -> None:
    physics = own(lambda theta: Lucky())
    with pytest.raises(RandomSimulator) as caught:
        discretise(physics, square(-4.0, 4.0, 5), {"mass": (1.0,)})
    assert "samples=" in caught.value.hint


def test_luck_is_sampled_where_it_is_asked_for_and_the_class_says_how_well() -> None:
    """A step is a standard normal: rows have its mean and variance, up to sampling."""
    physics = own(lambda theta: Lucky(), reward_range=(-1.0, 0.0))
    physics = replace(physics, start=((-0.5, 0.5), (-0.5, 0.5)))
    n = 400
    found = discretise(physics, square(-6.0, 6.0, 13), {"mass": (1.0,)}, samples=n)
    grid, worlds = found.grid, found.simulators
    middle = int(grid.nearest(np.zeros((1, 2)))[0])
    row = [worlds[0].probability(middle, 0, at) for at in range(worlds.n_states)]
    mean = np.array(row) @ grid.points
    assert np.abs(mean).max() < 5.0 / np.sqrt(n)
    assert np.abs(mean).max() > 1e-6  # the control: it is a sample, not the law
    assert found.origin.samples == n
    assert f"sampled {n} times" in found.origin.words
    assert worlds.certified == ON_GRID


def test_ends_drawn_by_luck_have_the_chance_of_the_sample() -> None:
    def coin(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        ended = generator.random(len(state)) < theta["chance"]
        return Moved(state, np.ones(len(state)), ended)

    generator = np.random.default_rng(3)
    physics = Physics(
        "coin", coin, np.zeros(1), ("on",), ((0.0, 1.0),), (0.0, 1.0), ends=True
    )
    line, n = StateGrid((Axis("x", 0.0, 1.0, 2),)), 1000
    with pytest.raises(RandomSimulator):
        discretise(physics, line, {"chance": (0.3,)})
    found = discretise(physics, line, {"chance": (0.3,)}, samples=n)
    chance = found.simulators[0].probability(0, 0, 2)
    assert abs(chance - 0.3) < 5.0 * 0.5 / np.sqrt(n)
