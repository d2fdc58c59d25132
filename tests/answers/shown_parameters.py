"""The heading task with one of its parameters in the observation: it is told alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from simgap.continuous import Box, JaxTask
from simgap.continuous.simulators.tasks.heading import HEADING

SPEC = "mounting_angle=-3.14159265..3.14159265 speed=0.75..2.25"
SEEN = 4  # numbers of the task's own observation


def _with(name: str, numbers: int, shown: Callable[[Any], list[Any]]) -> JaxTask:
    def observe(state: Any, theta: Any, key: Any) -> Any:
        import jax.numpy as jnp

        own = HEADING.observe(state, theta, key)
        return jnp.concatenate([own, jnp.stack(shown(theta))])

    ends = np.ones(numbers)
    seen = HEADING.observation
    assert isinstance(seen, Box)
    return replace(
        HEADING,
        name=name,
        observe=observe,
        place=None,
        observation=Box(np.append(seen.low, -ends), np.append(seen.high, ends)),
    )


def _angle(theta: Any) -> list[Any]:
    import jax.numpy as jnp

    return [jnp.cos(theta["mounting_angle"]), jnp.sin(theta["mounting_angle"])]


ANGLE = _with("heading-angle-shown", 2, _angle)
SPEED = _with("heading-speed-shown", 1, lambda theta: [(theta["speed"] - 1.5) / 0.75])
