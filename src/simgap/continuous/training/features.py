"""Parameters as numbers for a network: of order one, and an angle without a seam.

A range becomes -1 to 1, in the logarithm if it is drawn so; a full turn becomes cosine
and sine; more than two choices get a number each that is 1 for the choice. NaN is a
parameter that is not told: zeros. Where that can happen, one more number says for each
parameter whether it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import log, pi
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.measuring.jobs import told_to_informed
from simgap.continuous.randomization.binding import BoundRandomization, Column
from simgap.continuous.randomization.distributions import Choice, LogUniform
from simgap.continuous.randomization.spec import Operation

MOST_CHOICES = 8  # more are taken as numbers on a line
TURN = 0.98 * 2.0 * pi  # a range as wide as that has no ends


class Scale(Enum):
    """How a parameter becomes numbers."""

    LINE = "line"
    LOG = "log"
    ANGLE = "angle"
    CHOICE = "choice"


@final
@dataclass(frozen=True, slots=True)
class Feature:
    """One parameter as numbers."""

    name: str  # as an informed policy is told it
    scale: Scale
    low: float  # of a line: becomes -1
    high: float  # becomes 1
    choices: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """Return how many numbers it becomes."""
        return {Scale.ANGLE: 2, Scale.CHOICE: len(self.choices)}.get(self.scale, 1)

    @property
    def line(self) -> tuple[float, float]:
        """Return middle and half width of what becomes -1 to 1."""
        low, high = self.low, self.high
        if self.scale is Scale.LOG:
            low, high = log(low), log(high)
        return (low + high) / 2.0, (high - low) / 2.0

    def numbers(self, values: FloatArray) -> FloatArray:
        """Return the numbers of values, (...) -> (..., size); zeros for NaN."""
        if self.scale is Scale.ANGLE:
            found = np.stack([np.cos(values), np.sin(values)], axis=-1)
        elif self.scale is Scale.CHOICE:
            apart = np.abs(values[..., None] - np.array(self.choices))
            found = (apart == apart.min(axis=-1, keepdims=True)).astype(np.float64)
        else:
            middle, half = self.line
            given = np.log(values) if self.scale is Scale.LOG else values
            found = ((given - middle) / half)[..., None]
        told = np.isfinite(values)[..., None]
        return np.where(told, found, 0.0)


@final
@dataclass(frozen=True, slots=True)
class Features:
    """All parameters that vary; `masked`: some may not be told."""

    each: tuple[Feature, ...]
    masked: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameters by name."""
        return tuple(feature.name for feature in self.each)

    @property
    def size(self) -> int:
        """Return how many numbers there are in all."""
        every = sum(feature.size for feature in self.each)
        return every + (len(self.each) if self.masked else 0)

    def numbers(
        self, theta: Mapping[str, FloatArray], shape: tuple[int, ...]
    ) -> FloatArray:
        """Return the numbers of parameters by name, (shape) each -> (shape, size)."""
        parts = [feature.numbers(theta[feature.name]) for feature in self.each]
        if self.masked:
            told = [np.isfinite(theta[name]) for name in self.names]
            parts.append(np.stack(told, axis=-1).astype(np.float64))
        return np.concatenate([np.zeros((*shape, 0)), *parts], axis=-1)


def features_of(randomization: BoundRandomization, *, masked: bool = False) -> Features:
    """Return how the parameters that vary are told."""
    ends = np.tile(randomization.support[:, 0], (2, 1))
    ends[1] = randomization.support[:, 1]
    told = told_to_informed(randomization, ends)
    return Features(
        tuple(
            _feature(column, *sorted(told[column.name].tolist()))
            for column in randomization.columns
            if column.varies
        ),
        masked,
    )


def _feature(column: Column, low: float, high: float) -> Feature:
    law, first = column.distribution, column.targets[0]
    itself = first.name == column.name  # told as the parameter, not as the draw
    if isinstance(law, Choice) and 2 < len(law.values) <= MOST_CHOICES:
        values = np.array(law.values)
        if itself:
            values = column.operation.absolute(values, first.nominal)
        return Feature(column.name, Scale.CHOICE, low, high, tuple(values.tolist()))
    angles = all(each.unit == "rad" for each in column.targets)
    factor = column.operation is Operation.SCALE and not itself
    if angles and not factor and high - low >= TURN:
        return Feature(column.name, Scale.ANGLE, low, high)
    if isinstance(law, LogUniform) and low > 0.0:
        return Feature(column.name, Scale.LOG, low, high)
    return Feature(column.name, Scale.LINE, low, high)
