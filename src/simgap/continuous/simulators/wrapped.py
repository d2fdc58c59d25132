"""Simulators and worlds with something around them; all else is handed through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Parameter, Simulator, Space, Stepped, Worlds


@final
@dataclass(frozen=True, slots=True, eq=False)
class WrappedSimulator:
    """A simulator whose worlds are built in another way."""

    inner: Simulator
    build: Callable[[WrappedSimulator, Mapping[str, FloatArray]], Worlds]
    more: tuple[Parameter, ...] = ()  # parameters besides its own

    @property
    def name(self) -> str:
        """Return the name of the simulator itself."""
        return self.inner.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters, and those of what is around it."""
        return (*self.inner.parameters, *self.more)

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
    def seconds(self) -> float | None:
        """Return how long a step is, if the simulator says so."""
        return getattr(self.inner, "seconds", None)

    @property
    def rows(self) -> int:
        """Return how many worlds it likes to step together; AttributeError if not."""
        inner: Any = self.inner
        return int(inner.rows)

    @property
    def check_name(self) -> Callable[[str], None]:
        """Return how it refuses a name with its own reason; AttributeError if not."""
        inner: Any = self.inner
        check: Callable[[str], None] = inner.check_name
        return check

    @property
    def unlisted(self) -> Callable[[str], Parameter | None]:
        """Return how to find parameters in no list; AttributeError if not."""
        inner: Any = self.inner
        found: Callable[[str], Parameter | None] = inner.unlisted
        return found

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return its bounds: whatever arrives late or disturbed is an action."""
        return self.inner.return_bounds(horizon)

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return worlds with what is around them."""
        return self.build(self, values)


@final
class PlaceableWorlds:
    """Worlds that can be put into a state, by a function of observations (B, O)."""

    def __init__(self, inner: Worlds, put: Callable[[FloatArray], None]) -> None:
        self._inner, self._put = inner, put

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world."""
        return self._inner.reset(seeds)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step in each world whose episode still runs."""
        return self._inner.step(actions, alive)

    def close(self) -> None:
        """Close the worlds."""
        self._inner.close()

    def place(self, observations: FloatArray) -> None:
        """Put world i into the state that shows observation i, (B, O)."""
        self._put(observations)
