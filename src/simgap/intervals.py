"""A number known between two ends, and arithmetic on such numbers.

Ends are rounded outwards: whatever the real numbers are that the ends of the arguments
enclose, the ends of the result enclose what becomes of them. Equal ends mean that a
number is known without any error.

What a model is, down to the last digit: floats are taken as the rationals that they
are, and every row, every law of the first state and the prior as divided by its exact
sum. `defect` says how far a stored law is from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf, isfinite, nextafter
from typing import TYPE_CHECKING, final

from simgap.errors import InvalidArgument

if TYPE_CHECKING:  # records are read without numpy
    from simgap.arrays import FloatArray, OffsetArray

EPS = 2.0**-52  # the distance from 1 to the next float; roundings are half of it
SMALLEST = 5e-324
FEW_ENTRIES = 20_000  # of all kernels: their rows are summed without rounding


@final
@dataclass(frozen=True, slots=True)
class Certified:
    """Two numbers that enclose a third; equal ends mean that it is known exactly."""

    lower: float | None  # None: there is no such number, and a note says why
    upper: float | None

    @staticmethod
    def around(value: float, error: float) -> Certified:
        """Return what is within `error` of a float."""
        return Certified(_low(value, -error), _high(value, error))

    @property
    def ends(self) -> tuple[float, float]:
        """Return both ends of a number that there is."""
        if self.lower is None or self.upper is None:
            raise InvalidArgument(
                "a number that there is not has no ends", hint="its note says why"
            )
        return self.lower, self.upper

    def __add__(self, other: Certified) -> Certified:
        (low, high), (least, most) = self.ends, other.ends
        return Certified(_low(low, least), _high(high, most))

    def __sub__(self, other: Certified) -> Certified:
        (low, high), (least, most) = self.ends, other.ends
        return Certified(_low(low, -most), _high(high, -least))

    def wider(self, error: float) -> Certified:
        """Return the same with `error` more on either side."""
        low, high = self.ends
        return Certified(_low(low, -error), _high(high, error))

    def not_negative(self) -> Certified:
        """Return what is left of it for a number that is at least 0."""
        low, high = self.ends
        return Certified(max(0.0, low), max(0.0, high))

    def meet(self, other: Certified) -> Certified:
        """Return what two enclosures of one number say together."""
        (low, high), (least, most) = self.ends, other.ends
        if max(low, least) > min(high, most):
            raise AssertionError(
                f"two brackets of one number are apart: [{low!r}, {high!r}] and "
                f"[{least!r}, {most!r}]; this is a defect of simgap"
            )
        return Certified(max(low, least), min(high, most))


def weighted_sum(
    weights: Iterable[float], lower: Iterable[float], upper: Iterable[float]
) -> Certified:
    """Return the ends of a sum of numbers known between ends; weights are >= 0."""
    factors = list(weights)
    return Certified(_total(factors, lower, -1.0), _total(factors, upper, 1.0))


def around(values: FloatArray, error: FloatArray | float) -> FloatArray:
    """Return the ends of what is within `error` of each number, (..., 2)."""
    import numpy as np

    low, high = values - error, values + error
    exact = (low == values) & (high == values) & (np.asarray(error) == 0.0)
    ends = np.stack([np.nextafter(low, -inf), np.nextafter(high, inf)], axis=-1)
    return np.where(exact[..., None], values[..., None], ends)


def defect(law: Iterable[float]) -> float:
    """Return how far the sum of a stored law is from 1, rounded up."""
    off = abs(fsum([*law, -1.0]))
    return nextafter(off, inf) if off else 0.0


def row_defects(indptr: OffsetArray, values: FloatArray) -> FloatArray:
    """Return the most that a row's sum can be from 1, per model, (M,)."""
    import numpy as np

    if indptr.size < 2:
        return np.zeros(len(values))
    if values.size <= FEW_ENTRIES:  # each row to the last digit
        rows = list(pairwise(indptr.tolist()))
        every = [model.tolist() for model in values]
        return np.array([max(defect(one[a:b]) for a, b in rows) for one in every])
    room = (np.diff(indptr) - 1) * EPS / 2  # what a sum in floats may be off
    sums = (np.add.reduceat(model, indptr[:-1]) for model in values)
    return np.array([(np.abs(each - 1.0) + room).max() for each in sums])


def _total(weights: list[float], values: Iterable[float], side: float) -> float:
    """Return one end of a weighted sum: products round, their sum does so once."""
    terms = [w * x for w, x in zip(weights, values, strict=True) if w and x]
    total = fsum(terms)
    if not terms or not isfinite(total):
        return total
    room = fsum(map(abs, terms)) * EPS + len(terms) * SMALLEST
    return nextafter(total + side * room, side * inf)


def _low(one: float, two: float) -> float:
    return _directed(one, two, Fraction.__gt__, -inf)


def _high(one: float, two: float) -> float:
    return _directed(one, two, Fraction.__lt__, inf)


def _directed(
    one: float, two: float, beyond: Callable[[Fraction, Fraction], bool], way: float
) -> float:
    """Return the nearest float of a sum that is not on its wrong side."""
    total = float(one) + float(two)
    if not isfinite(total):
        return total
    exact = Fraction(one) + Fraction(two)
    return nextafter(total, way) if beyond(Fraction(total), exact) else total
