"""Keep a pole upright on a cart: `CartPole-v1`, and a motor of unknown polarity.

`cart-pole-force` is the same cart under a force between -10 and 10 N, which the motor
multiplies by `gain` and by `sign`.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Choices
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import classic_parameters, classic_start
from simgap.continuous.simulators.tasks.motor import GAIN, SIGN, driven
from simgap.instances import CONTROLS, pushed_cart

GYM_ID = "CartPole-v1"
FORCE = 10.0  # N
ENDS = np.array([4.8, inf, 24 * 2 * np.pi / 360, inf])  # twice where an episode ends


def _start(theta: Any, key: Any) -> Any:
    return classic_start(GYM_ID, key)


def _observe(state: Any, theta: Any, key: Any) -> Any:
    return state


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    return CONTROLS[GYM_ID].step(theta, state, action)


def _force_step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    return pushed_cart(theta, state, FORCE * driven(action[0], theta))


def _place(seen: Any, theta: Any) -> Any:
    return seen


def _return_bounds(steps: int) -> tuple[float, float]:
    return 1.0, float(steps)  # the first step is always paid


CART_POLE = JaxTask(
    name="cartpole",
    parameters=classic_parameters(GYM_ID),
    observation=Box(-ENDS, ENDS),
    action=Choices(2),
    horizon=500,
    seconds=0.02,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    return_bounds=_return_bounds,
)

CART_POLE_FORCE = JaxTask(
    name="cart-pole-force",
    parameters=(
        *(each for each in CART_POLE.parameters if each.name != "force_mag"),
        GAIN,
        SIGN,
    ),
    observation=CART_POLE.observation,
    action=Box(np.array([-1.0]), np.array([1.0])),
    horizon=200,
    seconds=0.02,
    start=_start,
    observe=_observe,
    step=_force_step,
    place=_place,
    return_bounds=_return_bounds,
)
