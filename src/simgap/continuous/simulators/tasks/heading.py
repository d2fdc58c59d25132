"""A planar vehicle whose drive was mounted at an unknown angle: `heading`.

It is to follow a goal that jumps every 25 of 100 steps. The command is a velocity in
the frame of the drive, at most 1 long; `mounting_angle` turns it. A policy without
memory cannot tell where a command will take the vehicle; one with memory sees it in a
step. The position stays in a square of side 4, and goals lie in one of side 2.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Parameter
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import evenly

STEP = 0.1  # s
EVERY = 25  # steps between two jumps of the goal
WALL, GOALS = 2.0, 1.0  # half the sides, m
FARTHEST = sqrt(2.0) * (WALL + GOALS) * (1.0 + 1e-6)  # rounding


def _start(theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    goal = evenly(key, [-GOALS] * 2, [GOALS] * 2)
    return {"position": jnp.zeros(2), "goal": goal, "steps": 0}


def _observe(state: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    return jnp.concatenate([state["position"], state["goal"] - state["position"]])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    command = action / jnp.maximum(1.0, jnp.hypot(action[0], action[1]))
    cos, sin = jnp.cos(theta["mounting_angle"]), jnp.sin(theta["mounting_angle"])
    turned = jnp.stack(
        [cos * command[0] - sin * command[1], sin * command[0] + cos * command[1]]
    )
    position = state["position"] + STEP * theta["speed"] * turned
    position = position.clip(-WALL, WALL)
    away = state["goal"] - position
    steps = state["steps"] + 1
    drawn = evenly(key, [-GOALS] * 2, [GOALS] * 2)
    goal = jnp.where(steps % EVERY == 0, drawn, state["goal"])
    after = {"position": position, "goal": goal, "steps": steps}
    return after, -jnp.hypot(away[0], away[1]), False


def _place(seen: Any, theta: Any) -> Any:
    """Return a state whose goal was drawn just now: when it was is not seen."""
    return {"position": seen[:2], "goal": seen[:2] + seen[2:], "steps": 0}


def _return_bounds(steps: int) -> tuple[float, float]:
    return -FARTHEST * steps, 0.0


HEADING = JaxTask(
    name="heading",
    parameters=(
        Parameter(
            "mounting_angle",
            0.0,
            -2 * pi,
            2 * pi,
            unit="rad",
            meaning="by which the drive is turned against the vehicle",
        ),
        Parameter("speed", 1.5, 0.0, unit="m/s", meaning="at full command"),
    ),
    observation=Box(np.array([-2.0, -2.0, -3.0, -3.0]), np.array([2.0, 2.0, 3.0, 3.0])),
    action=Box(np.array([-1.0, -1.0]), np.array([1.0, 1.0])),
    horizon=100,
    seconds=STEP,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    return_bounds=_return_bounds,
)
