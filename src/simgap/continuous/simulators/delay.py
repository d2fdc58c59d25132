"""Actions that arrive late: `delay` is a parameter of every simulator.

A delay of d steps plays at step t what the policy chose at step t - d. Before that the
neutral action is played: zero, or the nearest number to it that is allowed, and action
0 of choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import (
    Choices,
    Parameter,
    Simulator,
    Space,
    Stepped,
    Worlds,
)
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.simulators.wrapped import WrappedSimulator
from simgap.errors import InvalidArgument

DELAY = Parameter(
    "delay",
    0.0,
    low=0.0,
    high=20.0,
    whole=True,
    unit="steps",
    meaning="how long an action takes to arrive",
)


def with_delay(simulator: Simulator) -> Simulator:
    """Return the simulator with the parameter `delay`, itself if it has one already."""
    if any(each.name == DELAY.name for each in simulator.parameters):
        return simulator
    return WrappedSimulator(simulator, _worlds, (DELAY,))


def neutral_action(space: Space, size: int) -> FloatArray:
    """Return what is played while nothing was chosen yet, for so many worlds."""
    if isinstance(space, Choices):
        return np.zeros(size)
    return np.tile(np.clip(0.0, space.low, space.high), (size, 1))


def _worlds(simulator: WrappedSimulator, values: Mapping[str, FloatArray]) -> Worlds:
    """Return worlds; without any delay they are the simulator's own."""
    size, every = checked_values(simulator, values)
    given = {name: every[name] for name in values if name != DELAY.name}
    if not given and size > 1:
        given = _nominal(simulator.inner, size)
    worlds = simulator.inner.instantiate(given)
    late = every[DELAY.name]
    if not late.any():
        return worlds
    return DelayedWorlds(worlds, simulator.action, late.astype(np.int64))


def _nominal(simulator: Simulator, size: int) -> dict[str, FloatArray]:
    """Return values that change nothing, for so many worlds."""
    if not simulator.parameters:
        raise InvalidArgument(
            f"{simulator.name} has no parameter but the delay: it makes one world",
            hint="measure one delay at a time, or give it a parameter",
            code="no-parameters",
        )
    first = simulator.parameters[0]
    return {first.name: np.full(size, first.nominal)}


@final
class DelayedWorlds:
    """Worlds that play what was chosen some steps ago."""

    def __init__(self, inner: Worlds, space: Space, delays: OffsetArray) -> None:
        self._inner, self._delays = inner, delays
        self._rows = np.arange(delays.size)
        self._neutral = neutral_action(space, delays.size)
        self._step = 0
        self._chosen = self._ring()

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start new episodes in which nothing was chosen yet."""
        self._step, self._chosen = 0, self._ring()
        return self._inner.reset(seeds)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step with the actions that arrive now."""
        length = len(self._chosen)
        self._chosen[self._step % length] = actions
        arriving = self._chosen[(self._step - self._delays) % length, self._rows]
        self._step += 1
        return self._inner.step(arriving, alive)

    def close(self) -> None:
        """Close the worlds."""
        self._inner.close()

    def _ring(self) -> FloatArray:
        """Return the last choices, (longest delay + 1, B, ...), all neutral."""
        return np.repeat(self._neutral[None], int(self._delays.max()) + 1, axis=0)
