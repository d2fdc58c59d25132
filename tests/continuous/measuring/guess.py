"""A number that is the sum of two parameters is to be guessed at every step.

The reward is minus the squared error. Whoever is told some parameters guesses their
sum, and what is lost is the variance of the others: all answers are closed forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import (
    Batch,
    Box,
    BroughtPolicy,
    Parameter,
    Points,
    Stepped,
    Work,
    bind,
    parse_randomization,
)

VARIANCES = {"mass": 3.0, "length": 1.0 / 3.0}  # of -3..3 and of -1..1
SPEC = "mass=-3..3 length=-1..1"


@final
class GuessWorlds:
    """Rows with a sum each; nothing of it is seen."""

    def __init__(self, wanted: FloatArray, ends: int | None) -> None:
        self.wanted, self.ends, self.steps = wanted, ends, 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        self.steps = 0
        return np.zeros((self.wanted.size, 1))

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        self.steps += 1
        over = np.full(alive.size, self.steps == self.ends)
        reward = -((actions[:, 0] - self.wanted) ** 2)
        return Stepped(np.zeros((alive.size, 1)), reward, over)

    def close(self) -> None:
        """Hold nothing."""


@final
@dataclass(frozen=True, slots=True)
class Guess:
    """Guess mass + length; with `ends` every episode is over after so many steps."""

    ends: int | None = None
    rows: int = 64
    name: str = "guess"
    parameters: tuple[Parameter, ...] = (
        Parameter("mass", 0.0),
        Parameter("length", 0.0),
    )
    horizon: int | None = 20
    observation: Box = Box(np.zeros(1), np.zeros(1))  # noqa: RUF009
    action: Box = Box(np.array([-9.0]), np.array([9.0]))  # noqa: RUF009

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        return None

    def instantiate(self, values: Mapping[str, FloatArray]) -> GuessWorlds:
        wanted: Any = sum(values.values())
        return GuessWorlds(np.asarray(wanted), self.ends)


class Known(NamedTuple):
    """What a guesser has found out: nothing before its step."""

    theta: FloatArray  # (B, 2), NaN: not told
    steps: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Guesser:
    """Guess the sum of what is told, from step `after` + 1 on."""

    after: int = 0
    forgets: bool = False  # acts well, and its memory holds nothing of theta
    name: str = "guesser"
    told: tuple[str, ...] = ("mass", "length")
    informed: bool = True

    def reset(self, batch: Batch) -> Known:
        return Known(np.stack([batch.theta[name] for name in self.told], axis=1), 0)

    def act(self, observations: FloatArray, memory: Known) -> tuple[FloatArray, Known]:
        known = np.nan_to_num(memory.theta) * (memory.steps >= self.after)
        return known.sum(axis=1)[:, None], Known(memory.theta, memory.steps + 1)

    def remembered(self, memory: Known) -> FloatArray:
        rng = np.random.default_rng(memory.steps)
        if self.forgets or memory.steps <= self.after:
            return rng.standard_normal((len(memory.theta), 8))
        return np.nan_to_num(memory.theta) @ rng.standard_normal((2, 8))


def work(*policies: BroughtPolicy, worlds: int = 200, ends: int | None = None) -> Work:
    """Return guessers in worlds drawn from nu."""
    simulator = Guess(ends)
    drawn = bind(parse_randomization(SPEC), simulator)
    theta = drawn.sample(0, np.arange(worlds))
    points = Points(theta, np.ones(worlds, np.bool_))
    return Work(simulator, drawn, policies, points, 20, 0)
