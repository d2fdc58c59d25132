"""A guess of a hidden number, paid by its square: every mean has a closed form.

One step: the return of the guess a is -(a - theta)^2 plus noise that the seed of the
episode decides. The best guess over a law is its mean, so that what a policy trained on
a part of a range gets over all of it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import Batch, Box, OwnSampler, Parameter, Simulator, Stepped


@final
class TargetWorlds:
    """One number in each world."""

    def __init__(self, theta: FloatArray, noise: float) -> None:
        self.theta, self.noise = theta, noise
        self.drawn: FloatArray = np.zeros(theta.size)

    def reset(self, seeds: OffsetArray) -> FloatArray:
        drawn = [np.random.default_rng(int(each)).normal() for each in seeds]
        self.drawn = self.noise * np.array(drawn)
        return np.zeros((self.theta.size, 1))

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        reward = self.drawn - (actions[:, 0] - self.theta) ** 2
        over = np.ones(alive.size, np.bool_)
        return Stepped(np.zeros((alive.size, 1)), reward, over)

    def close(self) -> None:
        """Hold nothing."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """Guess theta, whose nominal value is `nominal`."""

    nominal: float = 1.0
    noise: float = 0.5
    name: str = "target"
    horizon: int | None = 1
    observation: Box = Box(np.array([-1.0]), np.array([1.0]))  # noqa: RUF009
    action: Box = Box(np.array([-8.0]), np.array([8.0]))  # noqa: RUF009

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("theta", self.nominal),)

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        return None

    def instantiate(self, values: Mapping[str, FloatArray]) -> TargetWorlds:
        return TargetWorlds(values.get("theta", np.full(1, self.nominal)), self.noise)


@final
@dataclass(frozen=True, slots=True)
class Guess:
    """Always the same number."""

    number: float
    name: str = "guess"

    def reset(self, batch: Batch) -> None: ...

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        return np.full((len(observations), 1), self.number), None


@final
@dataclass(frozen=True, slots=True)
class MeanGuess:
    """A trainer that finds the best guess, up to an error that the seed draws."""

    error: float = 0.0

    def __call__(self, simulator: Simulator, sampler: OwnSampler, memory: str) -> Guess:
        drawn = sampler.draw(sampler.seed, range(20_000))
        mean = (
            float(drawn[:, 0].mean())
            if drawn.shape[1]
            else simulator.parameters[0].nominal
        )
        off = self.error * np.random.default_rng(100 + sampler.seed).normal()
        return Guess(mean + off)
