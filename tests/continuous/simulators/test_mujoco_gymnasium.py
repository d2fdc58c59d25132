"""Gymnasium's MuJoCo environments, rewritten for many worlds: the classes judge.

The classes import two packages for pictures, which nobody needs here: empty modules
stand in for them.
"""

import sys
import warnings
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from simgap.continuous.simulators.mujoco_door import MuJoCoSimulator, open_mujoco
from simgap.continuous.simulators.mujoco_gymnasium import KNOWN
from simgap.continuous.simulators.mujoco_models import mujoco_library, quiet
from simgap.continuous.simulators.wrapped import PlaceableWorlds

pytest.importorskip("mujoco")

STEPS = 120
FEW = 3


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return how Gymnasium makes one of its MuJoCo environments."""
    for name in ("glfw", "imageio"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    import gymnasium

    def made(gym_id: str) -> Any:
        with quiet(mujoco_library()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return gymnasium.make(gym_id)

    return made


@pytest.mark.parametrize("name", KNOWN)
def test_every_step_is_that_of_gymnasium(make: Any, name: str) -> None:
    """Starts, observations, rewards and ends of STEPS steps, of the middle row."""
    env, simulator = make(KNOWN[name].gym_id), open_mujoco(KNOWN[name].gym_id)
    assert simulator.horizon == env.spec.max_episode_steps
    assert simulator.observation.size == env.observation_space.shape[0]
    assert np.array_equal(simulator.action.high, env.action_space.high)
    worlds = simulator.instantiate({"gravity.y": np.zeros(FEW)})
    rng = np.random.default_rng(7)
    seed = 11
    shown, ours = env.reset(seed=seed)[0], worlds.reset(np.array([1, seed, 2]))
    ends = 0
    for step in range(STEPS):
        assert np.allclose(ours[1], shown, rtol=0.0, atol=1e-12)
        actions = rng.uniform(-1.5, 1.5, (FEW, simulator.action.size))  # beyond the box
        shown, reward, ended, late, _ = env.step(actions[1])
        stepped = worlds.step(actions, np.ones(FEW, np.bool_))
        ours = stepped.observation
        assert abs(stepped.reward[1] - reward) < 1e-12
        assert stepped.ended[1] == (ended or late)
        assert 1 not in stepped.broken
        if ended or late:
            ends += 1
            shown = env.reset(seed=seed + step)[0]
            ours = worlds.reset(np.array([1, seed + step, 2]))
    assert (ends > 0) == (name not in ("half-cheetah", "swimmer"))  # both ways are seen


@pytest.mark.parametrize("name", KNOWN)
def test_a_world_is_put_where_an_observation_says(name: str) -> None:
    """One step from a placed world agrees with the step of the world that was seen."""
    simulator = open_mujoco(name)
    seen, placed = simulator.instantiate({}), simulator.instantiate({})
    observation = seen.reset(np.array([3]))
    action = np.full((1, simulator.action.size), 0.05)  # slow: speeds are cut at 10
    alive = np.ones(1, np.bool_)
    for _ in range(5):
        observation = seen.step(action, alive).observation
    assert isinstance(placed, PlaceableWorlds)
    placed.place(observation)
    steps = [each.step(action, alive).observation for each in (seen, placed)]
    size = 27 if name == "ant" else observation.shape[1]  # the rest are contact forces
    assert np.allclose(steps[0][:, :size], steps[1][:, :size], rtol=0.0, atol=1e-6)


def test_a_wrong_frame_skip_would_be_noticed(make: Any) -> None:
    """The control of the comparison: one frame more, and the first step differs."""
    right = open_mujoco("hopper")
    wrong = MuJoCoSimulator("wrong", right.model, replace(right.task, frame_skip=5))
    env, worlds = make("Hopper-v5"), wrong.instantiate({})
    env.reset(seed=1)
    worlds.reset(np.array([1]))
    ours = worlds.step(np.ones((1, 3)), np.ones(1, np.bool_)).observation
    assert np.abs(ours[0] - env.step(np.ones(3))[0]).max() > 1e-4
