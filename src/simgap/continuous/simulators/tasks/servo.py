"""A position servo whose motor may be wired the wrong way round: `servo`.

The reference jumps between -1 and 1 every 40 of 200 steps. Only positions are seen, so
that a policy without memory cannot tell the polarity: half of them run to the stop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Parameter
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import evenly
from simgap.continuous.simulators.tasks.motor import GAIN, SIGN, driven

STEP = 0.05  # s
EVERY = 40  # steps between two jumps of the reference
STOP = 2.0  # where the track ends
FARTHEST = (STOP + 1.0) * (1.0 + 1e-6)  # rounding


def _start(theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    position, side = evenly(key, [-0.5, -1.0], [0.5, 1.0])
    reference = jnp.where(side < 0.0, -1.0, 1.0)
    return {"position": position, "reference": reference, "steps": 0}


def _observe(state: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack([state["position"], state["reference"]])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    moved = state["position"] + STEP * theta["speed"] * driven(action[0], theta)
    position, steps = moved.clip(-STOP, STOP), state["steps"] + 1
    reward = -jnp.abs(state["reference"] - position)
    flip = jnp.where(steps % EVERY == 0, -1.0, 1.0)
    after = {
        "position": position,
        "reference": flip * state["reference"],
        "steps": steps,
    }
    return after, reward, False


def _place(seen: Any, theta: Any) -> Any:
    """Return a state whose reference jumped just now: when it did is not seen."""
    return {"position": seen[0], "reference": seen[1], "steps": 0}


def _return_bounds(steps: int) -> tuple[float, float]:
    return -FARTHEST * steps, 0.0


SERVO = JaxTask(
    name="servo",
    parameters=(
        GAIN,
        SIGN,
        Parameter("speed", 3.0, 0.0, unit="1/s", meaning="at full command, gain 1"),
    ),
    observation=Box(np.array([-STOP, -1.0]), np.array([STOP, 1.0])),
    action=Box(np.array([-1.0]), np.array([1.0])),
    horizon=200,
    seconds=STEP,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    return_bounds=_return_bounds,
)
