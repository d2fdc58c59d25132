"""Noise of sensors and motors, drawn from the seed of the episode.

It is no parameter of the world: its size is fixed, `observation=0.01 action=0.05`, a
standard deviation in the units of the numbers themselves. Two policies that meet the
same seed meet the same noise. Noisy actions stay within their ends, as motors do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import (
    Choices,
    Simulator,
    Space,
    Stepped,
    Worlds,
)
from simgap.continuous.simulators.wrapped import WrappedSimulator
from simgap.errors import InvalidArgument
from simgap.text import shown, suggestion

KINDS = ("observation", "action")
BLOCK = 64  # steps whose noise is drawn at once
STREAM = 0x6E6F697365  # keeps this noise apart from other uses of an episode's seed


@final
@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations of what is added to observations and actions."""

    observation: float = 0.0
    action: float = 0.0

    def __post_init__(self) -> None:
        for kind in KINDS:
            value = getattr(self, kind)
            if not (isfinite(value) and value >= 0.0):
                raise InvalidArgument(
                    f"the noise of the {kind} is {value}",
                    hint="a standard deviation is a finite number from 0 on",
                    code="bad-noise",
                )

    def __str__(self) -> str:
        said = ((kind, getattr(self, kind)) for kind in KINDS)
        return " ".join(f"{kind}={value!r}" for kind, value in said if value)


def noise_of(text: str) -> Noise:
    """Return the noise of a text such as `observation=0.01 action=0.05`."""
    found: dict[str, float] = {}
    for part in text.split():
        kind, sign, value = part.partition("=")
        if kind not in KINDS or kind in found or not sign:
            raise _unread(part, suggestion(kind, KINDS))
        try:
            found[kind] = float(value)
        except ValueError as error:
            raise _unread(part, "") from error
    return Noise(**found)


def with_noise(simulator: Simulator, given: Noise | str) -> Simulator:
    """Return the simulator with noise, itself if there is none.

    A text is such as `observation=0.01 action=0.05`.
    """
    noise = noise_of(given) if isinstance(given, str) else given
    if not (noise.observation or noise.action):
        return simulator
    for kind in KINDS:
        if getattr(noise, kind) and isinstance(getattr(simulator, kind), Choices):
            raise InvalidArgument(
                f"{simulator.name} has one of n as {kind}, to which no noise is added",
                hint=f"leave {kind}= out of the noise",
                code="noise-on-choices",
            )

    def worlds(wrapped: WrappedSimulator, values: Mapping[str, FloatArray]) -> Worlds:
        inner = wrapped.inner.instantiate(values)
        return NoisyWorlds(inner, simulator.observation, simulator.action, noise)

    return WrappedSimulator(simulator, worlds)


@final
class NoisyWorlds:
    """Worlds whose observations and actions are disturbed."""

    def __init__(self, inner: Worlds, seen: Space, done: Space, noise: Noise) -> None:
        self._inner, self._noise = inner, noise
        self._done, self._seen_size, self._done_size = done, seen.size, done.size
        self._streams: list[np.random.Generator] = []
        self._drawn: FloatArray = np.zeros((0, 0, 0))
        self._next = 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world, each with the noise of its seed."""
        self._streams = [
            np.random.default_rng([STREAM, seed]) for seed in seeds.tolist()
        ]
        self._next = BLOCK
        seen = self._inner.reset(seeds)
        return seen + self._noise.observation * self._normal()[:, : self._seen_size]

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step with disturbed actions, and disturb what is seen."""
        drawn = self._normal()
        given = actions
        if self._noise.action and not isinstance(self._done, Choices):
            moved = actions + self._noise.action * drawn[:, self._seen_size :]
            given = np.clip(moved, self._done.low, self._done.high)
        after = self._inner.step(given, alive)
        seen = self._noise.observation * drawn[:, : self._seen_size]
        return after._replace(observation=after.observation + seen)

    def close(self) -> None:
        """Close the worlds."""
        self._inner.close()

    def _normal(self) -> FloatArray:
        """Return the noise of this step, (B, O + A), in units of its deviation."""
        if self._next == BLOCK:
            width = self._seen_size + self._done_size
            self._drawn = np.stack(
                [each.standard_normal((BLOCK, width)) for each in self._streams]
            )
            self._next = 0
        self._next += 1
        found: FloatArray = self._drawn[:, self._next - 1]
        return found


def _unread(part: str, near: str) -> InvalidArgument:
    return InvalidArgument(
        f"the noise {shown(part)!r} cannot be read",
        hint=" ".join(filter(None, (near, 'write "observation=0.01 action=0.05"'))),
        code="bad-noise",
    )
