"""The thruster puck: bring it to goals with thrusters mounted at an unknown angle.

It is written the way a user's task is, as functions beside `puck.xml`, with a parameter
of its own: `angle` turns both thrusters, and shows only in how the puck moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin
from typing import Any

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.simulators.mujoco_tasks import Seen, Start

frame_skip = 2
horizon = 100
GOAL_STEPS = 25  # then there is another goal
parameters = (
    Parameter(
        "angle", 0.0, -pi, pi, unit="rad", meaning="how the thrusters are mounted"
    ),
)


def apply(model: Any, values: Mapping[str, float]) -> None:
    """Turn the direction of both thrusters."""
    turn = values["angle"]
    across = np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
    model.actuator_gear[:, :2] = model.actuator_gear[:, :2] @ across.T + 0.0


def reset(rng: np.random.Generator, model: Any) -> Start:
    """Return the middle, at rest, and the goals of the episode."""
    goals = rng.uniform(-1.0, 1.0, 2 * -(-horizon // GOAL_STEPS))
    return np.zeros(model.nq), np.zeros(model.nv), goals


def observe(seen: Seen) -> FloatArray:
    """Return where the goal lies from here, the position and the velocity."""
    return np.concatenate([_goal(seen) - seen.qpos, seen.qpos, seen.qvel], axis=1)


def unobserve(observations: FloatArray) -> Start:
    """Return the state, with one goal for the rest of the episode."""
    here = observations[:, 2:4]
    return here, observations[:, 4:], np.tile(here + observations[:, :2], (1, 4))


def reward(before: Seen, actions: FloatArray, after: Seen) -> FloatArray:
    """Return minus the distance to the goal that was shown."""
    far: FloatArray = np.linalg.norm(_goal(before) - after.qpos, axis=1)
    return -far


def _goal(seen: Seen) -> FloatArray:
    steps: OffsetArray = np.rint(seen.time / (seen.model.opt.timestep * frame_skip))
    which = np.minimum(
        steps.astype(np.int64) // GOAL_STEPS, seen.notes.shape[1] // 2 - 1
    )
    goals = seen.notes.reshape(len(which), -1, 2)
    found: FloatArray = goals[np.arange(len(which)), which]
    return found
