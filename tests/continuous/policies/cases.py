"""A small simulator of linear equations, to try policies on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import Box, Choices, Parameter, Space, Stepped


@final
@dataclass(frozen=True, eq=False)
class Linear:
    """x' = 0.9 x + gain * (the action's sum) + noise of the seed; shows x."""

    action: Space
    observation: Space
    name: str = "linear"
    horizon: int | None = None
    parameters: tuple[Parameter, ...] = (Parameter("gain", 0.1),)

    def return_bounds(self, horizon: int) -> None:
        return None

    def instantiate(self, values: Mapping[str, FloatArray]) -> LinearWorlds:
        gain = values.get("gain", np.full(1, 0.1))
        return LinearWorlds(self, np.asarray(gain, np.float64))


@final
class LinearWorlds:
    def __init__(self, of: Linear, gain: FloatArray) -> None:
        self.of, self.gain = of, gain
        self.x: FloatArray = np.zeros((gain.size, of.observation.size))

    def reset(self, seeds: OffsetArray) -> FloatArray:
        space = self.of.observation
        for row, seed in enumerate(seeds.tolist()):
            random = np.random.default_rng(seed)
            self.x[row] = (
                random.integers(space.n)
                if isinstance(space, Choices)
                else random.uniform(-1, 1, space.size)
            )
        return self.x.copy()

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        push = actions.reshape(len(self.gain), -1).sum(axis=1)
        if isinstance(space := self.of.observation, Choices):
            self.x = (self.x + push[:, None]) % space.n
        else:
            self.x = 0.9 * self.x + (self.gain * push)[:, None]
        return Stepped(self.x.copy(), self.x.sum(axis=1), ~alive)

    def close(self) -> None:
        pass


def linear(width: int = 3, size: int = 2, end: float = 1.0) -> Linear:
    free = np.full(width, np.inf)
    return Linear(Box(np.full(size, -end), np.full(size, end)), Box(-free, free))


def choosing(width: int = 3, choices: int = 3) -> Linear:
    free = np.full(width, np.inf)
    return Linear(Choices(choices), Box(-free, free))


def tabular(states: int = 6, choices: int = 2) -> Linear:
    return Linear(Choices(choices), Choices(states))
