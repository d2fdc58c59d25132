"""Tasks of our own mean what they say: closed forms, and what memory would be for."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous import open_jax, open_simulator

jax = pytest.importorskip("jax")

ROWS = 64
Controller = Callable[[Any], Any]  # observations (B, O) -> actions


def played(
    name: str, theta: dict[str, float], controller: Controller, steps: int = 0
) -> Any:
    """Return rewards (T, B), the last observations and successes of a controller."""
    simulator = open_jax(name)
    first = {simulator.parameters[0].name: simulator.parameters[0].nominal} | theta
    worlds = simulator.instantiate({k: np.full(ROWS, v) for k, v in first.items()})
    seen, rewards, success = worlds.reset(np.arange(ROWS)), [], []
    alive = np.ones(ROWS, bool)
    for _ in range(steps or simulator.horizon or 0):
        told = worlds.step(controller(seen), alive)
        rewards.append(told.reward * alive)
        success.append(told.success)
        alive, seen = alive & ~told.ended, told.observation
    return np.array(rewards), seen, success


def to_the_goal(angle: float) -> Controller:
    """Return who drives straight to the goal, believing in a mounting angle."""
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return lambda seen: np.clip((seen[:, 2:] / 0.15) @ turn.T, -1.0, 1.0)


def test_who_knows_the_mounting_angle_follows_the_goal_and_others_do_not() -> None:
    """E d^2 / 2v for four goals, practical DR 1.3: about -14."""
    for angle in (0.0, 0.5 * pi, -2.0):
        right, _, _ = played("heading", {"mounting_angle": angle}, to_the_goal(angle))
        wrong, _, _ = played(
            "heading", {"mounting_angle": angle}, to_the_goal(angle + pi)
        )
        assert -16.0 < right.sum(axis=0).mean() < -12.0
        assert wrong.sum(axis=0).mean() < -200.0


def test_the_goal_jumps_every_25_steps_and_elsewhere_in_every_episode() -> None:
    def still(seen: Any) -> Any:
        goals.append(seen[:, 2:] + seen[:, :2])
        return np.zeros((ROWS, 2))

    goals: list[Any] = []
    played("heading", {}, still)
    jumped = np.abs(np.diff(goals, axis=0)).max(axis=2) > 1e-5
    assert (np.flatnonzero(jumped.any(axis=1)) == [24, 49, 74]).all()
    assert jumped[[24, 49, 74]].all()
    assert len(np.unique(np.round([goals[i][:, 0] for i in (0, 30, 60)], 5))) > 180


@pytest.mark.parametrize(("sign", "gain"), [(1.0, 1.0), (-1.0, 0.5), (-1.0, 1.5)])
def test_a_servo_crosses_in_the_time_its_motor_takes(sign: float, gain: float) -> None:
    def follow(polarity: float) -> Controller:
        return lambda seen: (
            polarity * np.clip((seen[:, 1:] - seen[:, :1]) / (0.15 * gain), -1.0, 1.0)
        )

    theta = {"sign": sign, "gain": gain}
    rewards, seen, _ = played("servo", theta, follow(sign))
    np.testing.assert_allclose(seen[:, 0], -seen[:, 1], atol=1e-5)  # it flips at 200
    crossing = rewards[40:80, 0]  # from one side to the other
    stride, left = 0.15 * gain, 2.0
    for reward in crossing:
        left = max(left - stride, 0.0)
        assert reward == pytest.approx(-left, abs=1e-4)
    rewards, seen, _ = played("servo", theta, follow(-sign))
    assert rewards.sum(axis=0).max() < -350.0  # it runs to the stop


def test_wind_leaves_the_error_that_statics_say() -> None:
    """A spring of 2 N/m and damping: the drag of the wind over the stiffness."""
    theta = {"wind_x": 0.8, "wind_y": -0.4, "drag": 0.5}
    _, seen, _ = played(
        "point-mass", theta, lambda seen: -seen[:, :2] - seen[:, 2:], 100
    )
    statics = 0.5 * np.array([0.8, -0.4]) / 2.0
    np.testing.assert_allclose(seen[:, :2], np.tile(statics, (ROWS, 1)), atol=1e-3)
    _, gusty, _ = played(
        "point-mass", theta | {"gusts": 1.0}, lambda seen: -seen[:, :2] - seen[:, 2:]
    )
    assert 1e-2 < gusty[:, 0].std() < 0.5


@pytest.mark.parametrize("name", ["mountain-car", "mountain-car-continuous"])
def test_a_car_that_swings_gets_out_and_that_is_a_success(name: str) -> None:
    def swing(seen: Any) -> Any:
        side = np.where(seen[:, 1] >= 0.0, 1.0, -1.0)
        return side + 1.0 if name == "mountain-car" else side[:, None]

    rewards, _, success = played(name, {}, swing)
    assert np.any(success, axis=0).all()
    returns = rewards.sum(axis=0)
    assert returns.min() > (-150.0 if name == "mountain-car" else 80.0)
    _, _, success = played(name, {}, lambda seen: 0.0 * swing(seen) + (name[-1] == "r"))
    assert not np.any(success)


def test_a_task_in_a_file_is_named_like_any_simulator(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import jax\n"
        "from simgap.continuous import Box, JaxTask, Parameter\n"
        "task = JaxTask(\n"
        "    name='drift', parameters=(Parameter('push', 1.0),), horizon=9,\n"
        "    observation=Box([-9.0], [9.0]), action=Box([-1.0], [1.0]),\n"
        "    start=lambda theta, key: jax.random.normal(key, (1,)),\n"
        "    observe=lambda state, theta, key: state,\n"
        "    step=lambda state, action, theta, key: (\n"
        "        state + theta['push'] * action, -abs(state[0]), False),\n"
        ")\n"
    )
    simulator = open_simulator(f"{file}:task")
    assert [each.name for each in simulator.parameters] == ["push", "delay"]
    worlds = simulator.instantiate({"push": np.array([0.0, 2.0])})
    start = worlds.reset(np.array([3, 3]))
    moved = worlds.step(np.ones((2, 1)), np.ones(2, bool)).observation - start
    np.testing.assert_allclose(moved, [[0.0], [2.0]], atol=1e-6)
