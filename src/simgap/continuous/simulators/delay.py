"""Actions that arrive late: `delay` is a parameter of every simulator.

A delay of d steps plays at step t what the policy chose at step t - d. Before that the
neutral action is played: zero, or the nearest number to it that is allowed, and action
0 of choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

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
    return DelayedSimulator(simulator)


def neutral_action(space: Space, size: int) -> FloatArray:
    """Return what is played while nothing was chosen yet, for so many worlds."""
    if isinstance(space, Choices):
        return np.zeros(size)
    return np.tile(np.clip(0.0, space.low, space.high), (size, 1))


@final
@dataclass(frozen=True, slots=True, eq=False)
class DelayedSimulator:
    """A simulator whose actions may arrive late."""

    inner: Simulator

    @property
    def name(self) -> str:
        """Return the name of the simulator itself."""
        return self.inner.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters and the delay."""
        return (*self.inner.parameters, DELAY)

    @property
    def observation(self) -> Space:
        """Return what is seen."""
        return self.inner.observation

    @property
    def action(self) -> Space:
        """Return what can be done."""
        return self.inner.action

    @property
    def horizon(self) -> int | None:
        """Return the simulator's own limit."""
        return self.inner.horizon

    @property
    def rows(self) -> int:
        """Return how many worlds it likes to step together; AttributeError if not."""
        inner: Any = self.inner
        return int(inner.rows)

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return its bounds: late actions are actions."""
        return self.inner.return_bounds(horizon)

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return worlds; without any delay they are the simulator's own."""
        size, every = checked_values(self, values)
        given = {name: every[name] for name in values if name != DELAY.name}
        worlds = self.inner.instantiate(given or self._how_many(size))
        late = every[DELAY.name]
        if not late.any():
            return worlds
        return DelayedWorlds(worlds, self.action, late.astype(np.int64))

    def _how_many(self, size: int) -> dict[str, FloatArray]:
        """Return values that change nothing, for so many worlds."""
        if not self.inner.parameters and size > 1:
            raise InvalidArgument(
                f"{self.name} has no parameter but the delay: it makes one world",
                hint="measure one delay at a time, or give it a parameter",
                code="no-parameters",
            )
        return {
            each.name: np.full(size, each.nominal) for each in self.inner.parameters[:1]
        }


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
