"""What the tabular half knows of Gymnasium's classic control, for the JAX door."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous.interfaces import Parameter
from simgap.instances import CONTROLS


def classic_parameters(gym_id: str) -> tuple[Parameter, ...]:
    """Return the parameters of an environment of classic control."""
    return tuple(
        Parameter(
            name,
            each.default,
            each.allowed.low,
            each.allowed.high,
            low_open=each.allowed.low_open,
            high_open=each.allowed.high_open,
            unit=each.unit,
            meaning=each.meaning,
        )
        for name, each in CONTROLS[gym_id].parameters.items()
    )


def classic_start(gym_id: str, key: Any) -> Any:
    """Return a state drawn evenly from where episodes of an environment start."""
    return evenly(key, *zip(*CONTROLS[gym_id].start, strict=True))


def evenly(key: Any, low: Any, high: Any) -> Any:
    """Return numbers drawn evenly between ends, the same ones in every precision."""
    from jax import random

    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    return random.uniform(key, low.shape, np.float32, low, high)
