"""What an adaptive sampler knows before it begins: where to start, what is good.

Samplers that adapt work in the unit cube of nu, as `BoundRandomization.quantile` has
it. There a log-uniform range is even in its logarithm, a normal number has ends, and
parameters that are drawn together may be moved one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, read_only
from simgap.continuous.randomization.binding import BoundRandomization, Column
from simgap.continuous.randomization.distributions import is_discrete
from simgap.errors import InvalidArgument
from simgap.text import number

EDGE = 0.001  # share of nu beyond which a law without an end is not followed


class Needed(Enum):
    """What must be trained before, so that returns can be judged; its cost counts."""

    NOTHING = "nothing"
    NOMINAL = "a policy for the nominal values alone"
    INFORMED = "a policy for all of nu that is told the parameters"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What returns are bad and good: those of an untrained policy and of a reference.

    Returns may be negative, so that a share of a return means nothing. Thresholds are
    shares of the way from the mean return of an untrained policy (0) to that of a
    reference (1), both where the reference was trained: at the nominal values alone,
    or over nu if it is told the parameters.
    """

    untrained: float
    reached: float  # by the reference
    cells: FloatArray = field(default_factory=lambda: np.empty(0))
    # its mean return in each cell of nu, for the gap-aware sampler

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", read_only(self.cells))
        if not (isfinite(self.way) and self.way > 0.0):
            raise InvalidArgument(
                f"the reference returns {number(self.reached)}, an untrained policy "
                f"{number(self.untrained)}",
                hint="give more steps: a share of them trains the reference, by which "
                "returns are judged",
                code="reference-too-weak",
            )

    @property
    def way(self) -> float:
        """Return how far the reference is from an untrained policy, in returns."""
        return self.reached - self.untrained

    def threshold(self, share: float) -> float:
        """Return the return that lies so far on the way to the reference."""
        return self.untrained + share * self.way


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The sides of the unit cube that are narrowed: parameters that have a range.

    Points on them are numbers from 0 to 1, whatever the range. Choices and the rows of
    a file are no sides: all of them are drawn at any time.
    """

    randomization: BoundRandomization
    places: OffsetArray  # (A,), columns of theta
    middle: FloatArray  # (A,), where nominal values lie, else the middle
    low: FloatArray  # (A,), where a side begins in the unit cube: 0 or EDGE
    high: FloatArray  # (A,)

    def points(self, cube: FloatArray) -> FloatArray:
        """Return the uniform numbers of the sides, (n, P) -> (n, A)."""
        return np.asarray(cube[:, self.places])

    def theta(self, cube: FloatArray, points: FloatArray) -> FloatArray:
        """Return theta with points of the sides instead of uniform numbers, (n, P)."""
        moved = cube.copy()
        moved[:, self.places] = self.low + (self.high - self.low) * points
        return self.randomization.quantile(moved)


def sides_of(randomization: BoundRandomization) -> Sides:
    """Return the sides of a randomization, or raise if there are none."""
    columns = randomization.columns[: randomization.alone]
    places = [i for i, each in enumerate(columns) if not is_discrete(each.distribution)]
    if not places:
        raise InvalidArgument(
            "no parameter is drawn from a range: there is nothing to narrow",
            hint="choices and rows of a file are always drawn whole: randomize a "
            "range, draw by the gap, or uniformly",
            code="nothing-to-adapt",
        )
    laws = [columns[i].distribution for i in places]
    dependent = randomization.dependent
    return Sides(
        randomization,
        np.array(places),
        np.array([0.5 if i in dependent else _nominal(columns[i]) for i in places]),
        np.array([0.0 if isfinite(law.support[0]) else EDGE for law in laws]),
        np.array([1.0 if isfinite(law.support[1]) else 1.0 - EDGE for law in laws]),
    )


def _nominal(column: Column) -> float:
    """Return where the nominal value lies on a side, 0.5 if it is not inside."""
    nominal = next((each.nominal for each in column.targets if each.nominal), 0.0)
    drawn = column.operation.drawn(nominal, nominal)
    low, high = column.distribution.support
    if not low <= drawn <= high:
        return 0.5
    return float(column.distribution.cdf(np.array(drawn)))
