"""Worlds that a user builds together: arrays in, arrays out, whatever library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from simgap.arrays import FloatArray
from simgap.continuous import (
    Box,
    Choices,
    Simulator,
    Stepped,
    open_simulator,
    simulator_from_batch,
)
from simgap.continuous.simulators.gym_door import open_gym
from simgap.errors import SimgapError

MASS = {"mass": (0.1, 1.0, 10.0)}


class Tensor:
    """As much of a torch tensor as can be seen from outside."""

    def __init__(self, array: Any) -> None:
        self.array, self.here = np.asarray(array), False

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        moved = Tensor(self.array)
        moved.here = True
        return moved

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self.here:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self.array.astype(dtype)


class Points:
    """Points that are pushed, ending beyond 3; `kind` says what they return."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, thetas: Mapping[str, FloatArray], kind: str = "three") -> None:
        self.mass, self.kind = np.asarray(thetas["mass"])[:, None], kind

    def shown(self) -> Any:
        if self.kind == "tensors":
            return {"policy": Tensor(self.at[:, :1]), "rest": Tensor(self.at[:, 1:])}
        return self.at

    def reset(self, seeds: Any) -> Any:
        self.at = np.array([np.random.default_rng(s).normal(size=2) for s in seeds])
        return (self.shown(), {}) if self.kind == "five" else self.shown()

    def set_state(self, observations: FloatArray) -> None:
        self.at = observations

    def step(self, actions: Any) -> Any:
        assert actions.dtype == np.float32
        assert np.isfinite(actions).all()
        self.at = self.at + actions / self.mass
        reward, ended = -np.abs(self.at).sum(1), np.abs(self.at).max(1) > 3.0
        none = np.zeros_like(ended)
        info = {"success": ~ended}
        return {
            "three": (self.shown(), reward, ended),
            "four": (self.shown(), reward, ended, info),
            "five": (self.shown(), reward, none, ended, info),
            "tensors": (self.shown(), Tensor(reward[:, None]), Tensor(ended)),
        }[self.kind]


def points(kind: str) -> Simulator:
    return simulator_from_batch(lambda thetas: Points(thetas, kind), parameters=MASS)


def played(simulator: Simulator, values: Mapping[str, FloatArray]) -> list[Stepped]:
    size = len(next(iter(values.values())))
    worlds = simulator.instantiate(values)
    worlds.reset(np.arange(size) + 10)
    alive, found = np.ones(size, np.bool_), []
    rng, space = np.random.default_rng(3), simulator.action
    for _ in range(60):
        actions = (
            rng.integers(space.n, size=size).astype(np.float64)
            if isinstance(space, Choices)
            else rng.uniform(space.low, space.high, (size, space.size))
        )
        found.append(worlds.step(actions, alive.copy()))
        alive &= ~found[-1].ended
    assert not alive.all()
    return found


@pytest.mark.parametrize("kind", ["four", "five", "tensors"])
def test_all_forms_of_a_step_are_the_same_episode(kind: str) -> None:
    values = {"mass": np.array([0.2, 0.5, 5.0])}
    one, two = played(points("three"), values), played(points(kind), values)
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.observation, b.observation)
        assert np.array_equal(a.reward, b.reward)
        assert np.array_equal(a.ended, b.ended)
        assert (b.success is None) is (kind == "tensors")


def test_worlds_are_put_where_observations_say() -> None:
    worlds: Any = points("three").instantiate({"mass": np.array([1.0, 2.0])})
    worlds.place(np.array([[0.0, 1.0], [2.0, 0.0]]))
    after = worlds.step(np.ones((2, 2)), np.ones(2, np.bool_))
    assert after.observation.tolist() == [[1.0, 2.0], [2.5, 0.5]]


def lengths(mode: AutoresetMode) -> Simulator:
    """Return cart-poles of different lengths, as one vector environment."""

    def make_batch(thetas: Mapping[str, FloatArray]) -> Any:
        def one(length: float) -> Any:
            env = gymnasium.make("CartPole-v1")
            env.unwrapped.length = length
            env.unwrapped.polemass_length = length * env.unwrapped.masspole
            return env

        makers = [lambda length=each: one(float(length)) for each in thetas["length"]]
        return SyncVectorEnv(makers, autoreset_mode=mode)

    return simulator_from_batch(make_batch, parameters={"length": (0.1, 0.5, 2.0)})


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_vector_environment_is_its_environments_whatever_it_does_at_the_end(
    mode: AutoresetMode,
) -> None:
    values = {"length": np.linspace(0.2, 1.5, 8)}
    alone, together = (
        played(each, values) for each in (open_gym("CartPole-v1"), lengths(mode))
    )
    alive = np.ones(8, np.bool_)
    for a, b in zip(alone, together, strict=True):
        running = alive & ~a.ended  # the last observation may be of the next episode
        assert np.array_equal(a.observation[running], b.observation[running])
        assert np.array_equal(a.reward[alive], b.reward[alive])
        assert np.array_equal(a.ended, b.ended)
        alive &= ~a.ended
    assert alive.sum() <= 1  # most poles fell, and their worlds went on


def test_a_failing_batch_breaks_all_that_still_run() -> None:
    class Failing(Points):
        def step(self, actions: Any) -> Any:
            raise MemoryError("the card is full")

    simulator = simulator_from_batch(Failing, parameters=MASS)
    worlds = simulator.instantiate({"mass": np.ones(3)})
    worlds.reset(np.arange(3))
    after = worlds.step(np.zeros((3, 2)), np.array([True, False, True]))
    assert sorted(after.broken) == [0, 2]
    assert "the card is full" in after.broken[0]
    assert after.ended.all()


class Wrong(Points):
    """One that is wrong in a way of its own."""

    changed: Any = None

    def step(self, actions: Any) -> Any:
        return self.changed


def wrong(**names: Any) -> Any:
    return type("WrongPoints", (Wrong,), names)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (wrong(reset=lambda self, seeds: 1 / 0), "environment-fails"),
        (wrong(reset=lambda self, seeds: np.zeros((5, 2))), "observation-shape"),
        (wrong(reset=lambda self, seeds: "here"), "observation-shape"),
        (wrong(action_space=None), "no-action-space"),
        (wrong(action_space=gymnasium.spaces.MultiBinary(2)), "action-space"),
        (lambda thetas: None, "not-an-environment"),
        (lambda thetas: thetas["length"], "environment-not-made"),
    ],
)
def test_worlds_that_cannot_be_used_are_refused_at_once(kind: Any, code: str) -> None:
    with pytest.raises(SimgapError) as found:
        simulator_from_batch(kind, parameters=MASS)
    assert found.value.code == code


@pytest.mark.parametrize(
    ("returned", "code"),
    [
        (None, "step-result"),
        ((np.zeros((3, 2)), np.zeros(3)), "step-result"),
        ((np.zeros((3, 4)), np.zeros(3), np.zeros(3)), "observation-shape"),
        ((np.zeros((3, 2)), np.zeros(4), np.zeros(3)), "reward-shape"),
        ((np.zeros((3, 2)), np.zeros(3), False), "ended-shape"),
    ],
)
def test_a_step_of_another_form_is_refused(returned: Any, code: str) -> None:
    simulator = simulator_from_batch(wrong(changed=returned), parameters=MASS)
    worlds = simulator.instantiate({"mass": np.ones(3)})
    worlds.reset(np.arange(3))
    with pytest.raises(SimgapError) as found:
        worlds.step(np.zeros((3, 2)), np.ones(3, np.bool_))
    assert found.value.code == code


def test_parameters_of_a_batch_must_be_declared() -> None:
    with pytest.raises(SimgapError) as found:
        simulator_from_batch(Points)
    assert found.value.code == "no-parameters"


SOURCE = """
import numpy as np
import gymnasium
from tests.continuous.simulators.test_batch import Points
PARAMETERS = {"mass": (0.1, 1.0, 10.0)}
RETURNS = (-100, 0)
HORIZON = 5
BUILT = []
def make_batch(thetas):
    BUILT.append(sorted(thetas))
    return Points(thetas)
"""


def test_a_file_with_make_batch_is_stepped_together(tmp_path: Path) -> None:
    path = tmp_path / "together.py"
    path.write_text(SOURCE)
    simulator = open_simulator(f"{path}:make_batch")
    assert simulator.horizon == 5
    assert simulator.return_bounds(3) == (-100.0, 0.0)
    assert isinstance(simulator.observation, Box)
    worlds = simulator.instantiate({"mass": np.array([1.0, 2.0])})
    worlds.reset(np.arange(2))
    alive = np.ones(2, np.bool_)
    ended = [worlds.step(np.zeros((2, 2)), alive).ended.all() for _ in range(5)]
    assert ended == [False] * 4 + [True]
