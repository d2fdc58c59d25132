"""Gymnasium's MuJoCo environments as tasks of many worlds, without Gymnasium's classes.

The XML files come from the installed Gymnasium; observations, rewards and ends are
written anew, and tests hold each step against the class. The seed of an episode starts
it where `reset(seed=...)` of the class would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.simulators.mujoco_tasks import MuJoCoTask, Seen, Start

FASTEST = 10.0  # velocities beyond are shown as this


@final
@dataclass(frozen=True, slots=True)
class Known:
    """A Gymnasium environment: its id, its XML file and its task."""

    gym_id: str
    file: str
    task: MuJoCoTask


def gymnasium_file(name: str) -> Path:
    """Return the path of an XML file of the installed Gymnasium."""
    found = find_spec("gymnasium")
    folder = Path(str(found and found.origin)).parent
    return folder / "envs" / "mujoco" / "assets" / name


def _noisy(
    scale: float, *, normal: bool = False
) -> Callable[[np.random.Generator, Any], Start]:
    """Return a start near the model's own pose; velocities are uniform or normal."""

    def reset(rng: np.random.Generator, model: Any) -> Start:
        qpos = model.qpos0 + rng.uniform(-scale, scale, model.nq)
        if normal:
            return qpos, scale * rng.standard_normal(model.nv)
        return qpos, rng.uniform(-scale, scale, model.nv)

    return reset


def _moving(hidden: int, *, clipped: bool = False) -> Callable[[Seen], FloatArray]:
    """Return an observation of all but the first positions, and of velocities."""

    def observe(seen: Seen) -> FloatArray:
        qvel = np.clip(seen.qvel, -FASTEST, FASTEST) if clipped else seen.qvel
        return np.concatenate([seen.qpos[:, hidden:], qvel], axis=1)

    return observe


def _unmoved(
    hidden: int, positions: int, velocities: int
) -> Callable[[FloatArray], Start]:
    """Return how such an observation is placed: where the hidden positions are 0."""

    def unobserve(observations: FloatArray) -> Start:
        start = np.zeros((observations.shape[0], hidden))
        shown = positions - hidden
        qpos = np.concatenate([start, observations[:, :shown]], axis=1)
        return qpos, observations[:, shown : shown + velocities]

    return unobserve


def _speed(
    before: FloatArray, after: FloatArray, seen: Seen, frames: int
) -> FloatArray:
    seconds = float(seen.model.opt.timestep) * frames
    return (after - before) / seconds


def _cost(actions: FloatArray) -> FloatArray:
    total: FloatArray = np.square(actions).sum(axis=1)
    return total


def _forward(
    frames: int, price: float, healthy: Callable[[Seen], BoolArray] | None = None
) -> Callable[[Seen, FloatArray, Seen], FloatArray]:
    """Return the speed of the first coordinate, plus 1 if healthy, less the effort."""

    def reward(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
        speed = _speed(before.qpos[:, 0], after.qpos[:, 0], after, frames)
        bonus = 0.0 if healthy is None else healthy(after) * 1.0
        return speed + bonus - price * _cost(actions)

    return reward


def _not(healthy: Callable[[Seen], BoolArray]) -> Callable[[Seen], BoolArray]:
    return lambda seen: ~healthy(seen)


def _hopping(seen: Seen) -> BoolArray:
    others = np.concatenate([seen.qpos[:, 2:], seen.qvel], axis=1)
    upright = (seen.qpos[:, 1] > 0.7) & (np.abs(seen.qpos[:, 2]) < 0.2)
    healthy: BoolArray = upright & (np.abs(others) < 100.0).all(axis=1)
    return healthy


def _walking(seen: Seen) -> BoolArray:
    z, angle = seen.qpos[:, 1], seen.qpos[:, 2]
    upright: BoolArray = (z > 0.8) & (z < 2.0) & (np.abs(angle) < 1.0)
    return upright


def _ant_alive(seen: Seen) -> BoolArray:
    finite = np.isfinite(seen.qpos).all(axis=1) & np.isfinite(seen.qvel).all(axis=1)
    alive: BoolArray = finite & (seen.qpos[:, 2] >= 0.2) & (seen.qpos[:, 2] <= 1.0)
    return alive


def _ant_forces(seen: Seen) -> FloatArray:
    forces: FloatArray = np.clip(seen.cfrc_ext, -1.0, 1.0)  # (B, bodies, 6)
    return forces


def _ant_seen(seen: Seen) -> FloatArray:
    forces = _ant_forces(seen)[:, 1:].reshape(len(seen.qpos), -1)
    return np.concatenate([seen.qpos[:, 2:], seen.qvel, forces], axis=1)


def _ant_reward(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
    speed = _speed(before.xpos[:, 1, 0], after.xpos[:, 1, 0], after, 5)
    touch = 5e-4 * np.square(_ant_forces(after)).sum(axis=(1, 2))
    total: FloatArray = speed + _ant_alive(after) - (0.5 * _cost(actions) + touch)
    return total


def _reacher_start(rng: np.random.Generator, model: Any) -> Start:
    qpos = rng.uniform(-0.1, 0.1, model.nq) + model.qpos0
    while np.linalg.norm(goal := rng.uniform(-0.2, 0.2, 2)) >= 0.2:
        pass
    qpos[-2:] = goal
    qvel = rng.uniform(-0.005, 0.005, model.nv)
    qvel[-2:] = 0.0
    return qpos, qvel


def _reacher_far(seen: Seen) -> FloatArray:
    finger, target = seen.model.body("fingertip").id, seen.model.body("target").id
    far: FloatArray = seen.xpos[:, finger] - seen.xpos[:, target]
    return far


def _reacher_seen(seen: Seen) -> FloatArray:
    angles, far = seen.qpos[:, :2], _reacher_far(seen)[:, :2]
    parts = [np.cos(angles), np.sin(angles), seen.qpos[:, 2:], seen.qvel[:, :2], far]
    return np.concatenate(parts, axis=1)


def _reacher_reward(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
    far: FloatArray = np.linalg.norm(_reacher_far(after), axis=1)
    return -far - _cost(actions)


def _reacher_placed(seen: FloatArray) -> Start:
    angles = np.arctan2(seen[:, 2:4], seen[:, :2])
    qvel = np.concatenate([seen[:, 6:8], np.zeros_like(angles)], axis=1)
    return np.concatenate([angles, seen[:, 4:6]], axis=1), qvel


def _fallen(seen: Seen) -> BoolArray:
    finite = np.isfinite(seen.qpos).all(axis=1) & np.isfinite(seen.qvel).all(axis=1)
    fallen: BoolArray = ~finite | (np.abs(seen.qpos[:, 1]) > 0.2)
    return fallen


def _standing(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
    return (~_fallen(after)).astype(np.float64)


def _double_seen(seen: Seen) -> FloatArray:
    angles = seen.qpos[:, 1:]
    parts = [
        seen.qpos[:, :1],
        np.sin(angles),
        np.cos(angles),
        np.clip(seen.qvel, -FASTEST, FASTEST),
        np.clip(seen.qfrc_constraint, -FASTEST, FASTEST)[:, :1],
    ]
    return np.concatenate(parts, axis=1)


def _double_fallen(seen: Seen) -> BoolArray:
    fallen: BoolArray = seen.site_xpos[:, 0, 2] <= 1.0
    return fallen


def _double_reward(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
    x, y = after.site_xpos[:, 0, 0], after.site_xpos[:, 0, 2]
    place = 0.01 * x**2 + (y - 2.0) ** 2
    speed = 1e-3 * after.qvel[:, 1] ** 2 + 5e-3 * after.qvel[:, 2] ** 2
    total: FloatArray = 10.0 * ~_double_fallen(after) - place - speed
    return total


def _double_placed(seen: FloatArray) -> Start:
    angles = np.arctan2(seen[:, 1:3], seen[:, 3:5])
    return np.concatenate([seen[:, :1], angles], axis=1), seen[:, 5:8]


KNOWN: Mapping[str, Known] = {
    "hopper": Known(
        "Hopper-v5",
        "hopper.xml",
        MuJoCoTask(
            reset=_noisy(5e-3),
            observe=_moving(1, clipped=True),
            reward=_forward(4, 1e-3, _hopping),
            ended=_not(_hopping),
            unobserve=_unmoved(1, 6, 6),
            frame_skip=4,
            horizon=1000,
        ),
    ),
    "half-cheetah": Known(
        "HalfCheetah-v5",
        "half_cheetah.xml",
        MuJoCoTask(
            reset=_noisy(0.1, normal=True),
            observe=_moving(1),
            reward=_forward(5, 0.1),
            unobserve=_unmoved(1, 9, 9),
            frame_skip=5,
            horizon=1000,
        ),
    ),
    "walker2d": Known(
        "Walker2d-v5",
        "walker2d_v5.xml",
        MuJoCoTask(
            reset=_noisy(5e-3),
            observe=_moving(1, clipped=True),
            reward=_forward(4, 1e-3, _walking),
            ended=_not(_walking),
            unobserve=_unmoved(1, 9, 9),
            frame_skip=4,
            horizon=1000,
        ),
    ),
    "ant": Known(
        "Ant-v5",
        "ant.xml",
        MuJoCoTask(
            reset=_noisy(0.1, normal=True),
            observe=_ant_seen,
            reward=_ant_reward,
            ended=_not(_ant_alive),
            unobserve=_unmoved(2, 15, 14),
            fields=("xpos", "cfrc_ext"),
            frame_skip=5,
            horizon=1000,
        ),
    ),
    "swimmer": Known(
        "Swimmer-v5",
        "swimmer.xml",
        MuJoCoTask(
            reset=_noisy(0.1),
            observe=_moving(2),
            reward=_forward(4, 1e-4),
            unobserve=_unmoved(2, 5, 5),
            frame_skip=4,
            horizon=1000,
        ),
    ),
    "reacher": Known(
        "Reacher-v5",
        "reacher.xml",
        MuJoCoTask(
            reset=_reacher_start,
            observe=_reacher_seen,
            reward=_reacher_reward,
            unobserve=_reacher_placed,
            fields=("xpos",),
            frame_skip=2,
            horizon=50,
        ),
    ),
    "inverted-pendulum": Known(
        "InvertedPendulum-v5",
        "inverted_pendulum.xml",
        MuJoCoTask(
            reset=_noisy(0.01),
            reward=_standing,
            ended=_fallen,
            unobserve=_unmoved(0, 2, 2),
            frame_skip=2,
            horizon=1000,
            reward_bounds=(0.0, 1.0),
        ),
    ),
    "inverted-double-pendulum": Known(
        "InvertedDoublePendulum-v5",
        "inverted_double_pendulum.xml",
        MuJoCoTask(
            reset=_noisy(0.1, normal=True),
            observe=_double_seen,
            reward=_double_reward,
            ended=_double_fallen,
            unobserve=_double_placed,
            fields=("site_xpos", "qfrc_constraint"),
            frame_skip=5,
            horizon=1000,
        ),
    ),
}
