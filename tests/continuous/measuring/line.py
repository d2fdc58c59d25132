"""A point on a line that is pushed: the smallest simulator that can be measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import (
    Batch,
    BoundRandomization,
    Box,
    Parameter,
    Stepped,
    bind,
    parse_randomization,
)
from simgap.continuous.measuring.jobs import Points, Work


@final
class LineWorlds:
    """Rows with a gain each; some of them die, if the line is deadly."""

    def __init__(self, gain: FloatArray, line: Line) -> None:
        self.gain, self.line = gain, line
        self.x: FloatArray = np.zeros(gain.size)
        self.noise: list[np.random.Generator] = []

    def reset(self, seeds: OffsetArray) -> FloatArray:
        self.noise = [np.random.default_rng(int(each)) for each in seeds]
        self.x = np.array([each.normal() for each in self.noise])
        return self.x[:, None].copy()

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        if self.line.kills is not None and (self.gain[alive] > self.line.kills).any():
            os._exit(3)
        drawn = np.array([each.normal() for each in self.noise])
        self.x = self.x + self.gain * actions[:, 0] + 0.1 * drawn
        ended = np.abs(self.x) > 5.0
        return Stepped(self.x[:, None].copy(), -np.abs(self.x), ended, ~ended)

    def close(self) -> None:
        """Hold nothing."""


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Keep x near 0; `gain` says how much a push moves it."""

    kills: float | None = None  # a gain above which the process dies
    rows: int | None = None
    name: str = "line"
    parameters: tuple[Parameter, ...] = (Parameter("gain", 1.0, low=-2.0, high=4.0),)
    horizon: int | None = 5
    observation: Box = Box(np.array([-9.0]), np.array([9.0]))  # noqa: RUF009
    action: Box = Box(np.array([-2.0]), np.array([2.0]))  # noqa: RUF009

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        return (-12.0 * horizon, 0.0)

    def instantiate(self, values: Mapping[str, FloatArray]) -> LineWorlds:
        return LineWorlds(values.get("gain", np.ones(1)), self)


@final
@dataclass(frozen=True, slots=True)
class Push:
    """Push against where one stands, `part` of the way."""

    part: float
    name: str = "push"

    def reset(self, batch: Batch) -> None: ...

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        return -self.part * observations, None


def randomization() -> BoundRandomization:
    return bind(parse_randomization("gain=0.5..1.5"), Line())


@final
@dataclass(frozen=True, slots=True)
class LineRecipe:
    """What a worker needs to build the same work again."""

    points: int = 10
    kills: float | None = None
    rows: int | None = None
    seed: int = 5

    def __call__(self) -> Work:
        theta = np.linspace(0.5, 1.5, self.points)[:, None]
        return Work(
            simulator=Line(self.kills, self.rows),
            randomization=randomization(),
            policies=(Push(0.5), Push(1.0)),
            points=Points(theta, np.ones(self.points, np.bool_)),
            horizon=5,
            seed=self.seed,
        )
