"""A mass in wind that nobody measures, to be kept at the origin: `point-mass`.

The force is at most 2 N long. The air drags the mass along with the speed of the wind,
which has gusts if one likes. Position and velocity are seen, the wind is not: without
memory a steady wind leaves a steady error, which an integral would remove.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Parameter
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import evenly

STEP = 0.1  # s
FORCE = 2.0  # N
WALL = 3.0  # half the side of the square it stays in, m
FARTHEST = sqrt(2.0) * WALL * (1.0 + 1e-6)  # rounding


def _start(theta: Any, key: Any) -> Any:
    return evenly(key, [-1.0, -1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])


def _observe(state: Any, theta: Any, key: Any) -> Any:
    return state


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp
    from jax import random

    position, velocity = state[:2], state[2:]
    command = action / jnp.maximum(1.0, jnp.hypot(action[0], action[1]))
    gust = theta["gusts"] * random.normal(key, (2,), np.float32)
    wind = jnp.stack([theta["wind_x"], theta["wind_y"]]) + gust
    pull = FORCE * command + theta["drag"] * (wind - velocity)
    velocity = velocity + STEP / theta["mass"] * pull
    moved = position + STEP * velocity
    position = moved.clip(-WALL, WALL)
    velocity = jnp.where(moved == position, velocity, 0.0)  # a wall stops it
    after = jnp.concatenate([position, velocity])
    return after, -jnp.hypot(position[0], position[1]), False


def _place(seen: Any, theta: Any) -> Any:
    return seen


def _return_bounds(steps: int) -> tuple[float, float]:
    return -FARTHEST * steps, 0.0


ENDS = np.array([WALL, WALL, np.inf, np.inf])

POINT_MASS = JaxTask(
    name="point-mass",
    parameters=(
        Parameter("mass", 1.0, 0.0, low_open=True, unit="kg", meaning="what is moved"),
        Parameter("drag", 0.5, 0.0, unit="N s/m", meaning="of the air, per speed"),
        Parameter("wind_x", 0.0, unit="m/s", meaning="speed of the air along x"),
        Parameter("wind_y", 0.0, unit="m/s", meaning="speed of the air along y"),
        Parameter("gusts", 0.0, 0.0, unit="m/s", meaning="spread of the wind per step"),
    ),
    observation=Box(-ENDS, ENDS),
    action=Box(np.array([-1.0, -1.0]), np.array([1.0, 1.0])),
    horizon=100,
    seconds=STEP,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    return_bounds=_return_bounds,
)
