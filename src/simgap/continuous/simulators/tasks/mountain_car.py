"""A weak car that needs a run-up: `MountainCar-v0` and `MountainCarContinuous-v0`.

One thing differs from Gymnasium: of the continuous car, the price of an action beyond
its ends is that of the end, so that returns have bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Choices, Parameter
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import classic_parameters, classic_start
from simgap.instances import CONTROLS, pushed_car

GYM_ID = "MountainCar-v0"
GOAL, CONTINUOUS_GOAL = 0.5, 0.45  # positions


def _start(theta: Any, key: Any) -> Any:
    return classic_start(GYM_ID, key)


def _observe(state: Any, theta: Any, key: Any) -> Any:
    return state


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    return CONTROLS[GYM_ID].step(theta, state, action)


def _continuous_step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    force = action[0].clip(-1.0, 1.0)
    push = force * theta["power"]
    after, ended = pushed_car(state, push, theta["gravity"], goal=CONTINUOUS_GOAL)
    return after, 100.0 * ended - 0.1 * force**2, ended


def _place(seen: Any, theta: Any) -> Any:
    return seen


def _success(state: Any, theta: Any) -> Any:
    return (state[0] >= GOAL) & (state[1] >= 0.0)


def _continuous_success(state: Any, theta: Any) -> Any:
    return (state[0] >= CONTINUOUS_GOAL) & (state[1] >= 0.0)


def _return_bounds(steps: int) -> tuple[float, float]:
    return -float(steps), -1.0


def _continuous_return_bounds(steps: int) -> tuple[float, float]:
    return -0.1 * (1.0 + 1e-6) * steps, 100.0  # 0.1 in float32 is above 0.1


MOUNTAIN_CAR = JaxTask(
    name="mountain-car",
    parameters=classic_parameters(GYM_ID),
    observation=Box(np.array([-1.2, -0.07]), np.array([0.6, 0.07])),
    action=Choices(3),
    horizon=200,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    success=_success,
    return_bounds=_return_bounds,
)

MOUNTAIN_CAR_CONTINUOUS = JaxTask(
    name="mountain-car-continuous",
    parameters=(
        Parameter("power", 0.0015, meaning="of the engine; negative: gears swapped"),
        *(each for each in MOUNTAIN_CAR.parameters if each.name == "gravity"),
    ),
    observation=MOUNTAIN_CAR.observation,
    action=Box(np.array([-1.0]), np.array([1.0])),
    horizon=999,
    start=_start,
    observe=_observe,
    step=_continuous_step,
    place=_place,
    success=_continuous_success,
    return_bounds=_continuous_return_bounds,
)
