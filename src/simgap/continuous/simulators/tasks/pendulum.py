"""Swing a pendulum up and hold it: `Pendulum-v1`, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import classic_parameters, classic_start
from simgap.instances import CONTROLS

GYM_ID = "Pendulum-v1"
KNOWN = CONTROLS[GYM_ID]
LOWEST = KNOWN.reward_range[0] * (1.0 + 1e-6)  # pi in float32 is above pi


def _start(theta: Any, key: Any) -> Any:
    return classic_start(GYM_ID, key)


def _observe(state: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack([jnp.cos(state[0]), jnp.sin(state[0]), state[1]])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    return KNOWN.step(theta, state, action[0])


def _place(seen: Any, theta: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack([jnp.arctan2(seen[1], seen[0]), seen[2]])


def _return_bounds(steps: int) -> tuple[float, float]:
    return LOWEST * steps, 0.0


PENDULUM = JaxTask(
    name="pendulum",
    parameters=classic_parameters(GYM_ID),
    observation=Box(np.array([-1.0, -1.0, -8.0]), np.array([1.0, 1.0, 8.0])),
    action=Box(np.array([-2.0]), np.array([2.0])),
    horizon=200,
    seconds=0.05,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    return_bounds=_return_bounds,
)
