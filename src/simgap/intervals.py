"""A number known between two ends, proved or sampled, and arithmetic on such numbers.

*Certified*: the ends enclose the number, and are rounded outwards: whatever the real
numbers are that the ends of the arguments enclose, the ends of the result enclose what
becomes of them. Equal ends mean that a number is known without any error.

*Estimate*: found by sampling, with two intervals: one that a statistician would use,
and, where a theorem allows it, one that holds whatever the law of what was sampled.

What a model is, down to the last digit: floats are taken as the rationals that they
are, and every row, every law of the first state and the prior as divided by its exact
sum. `defect` says how far a stored law is from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf, isfinite, nextafter
from typing import TYPE_CHECKING, Annotated, final, overload

from simgap.errors import InvalidArgument
from simgap.text import means

if TYPE_CHECKING:  # records are read without numpy
    from simgap.arrays import FloatArray, OffsetArray

EPS = 2.0**-52  # the distance from 1 to the next float; roundings are half of it
SMALLEST = 5e-324
FEW_ENTRIES = 20_000  # of all kernels: their rows are summed without rounding


class Interval:
    """A number between two ends: `Certified` or `Estimate`."""

    __slots__ = ()
    lower: float
    upper: float

    @property
    def ends(self) -> tuple[float, float]:
        """Return both ends."""
        return self.lower, self.upper

    @property
    def middle(self) -> float:
        """Return one number for it: the estimate, or half way between the ends."""
        return self.lower / 2.0 + self.upper / 2.0


@final
@dataclass(frozen=True, slots=True)
class Certified(Interval):
    """Two numbers that enclose a third; equal ends mean that it is known exactly."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise InvalidArgument(
                f"an interval from {self.lower!r} to {self.upper!r}",
                hint="both ends are numbers, the lower one first",
            )

    @staticmethod
    def around(value: float, error: float) -> Certified:
        """Return what is within `error` of a float."""
        return Certified(_low(value, -error), _high(value, error))

    def __add__(self, other: Known) -> Certified:
        low, high = _both_ends(other)
        return Certified(_low(self.lower, low), _high(self.upper, high))

    def __sub__(self, other: Known) -> Certified:
        low, high = _both_ends(other)
        return Certified(_low(self.lower, -high), _high(self.upper, -low))

    def __rsub__(self, other: float) -> Certified:
        return Certified(_low(other, -self.upper), _high(other, -self.lower))

    def __mul__(self, other: Known) -> Certified:
        pairs = [(x, y) for x in self.ends for y in _both_ends(other)]
        return Certified(
            min(_towards(-inf, x * y, Fraction.__mul__, x, y) for x, y in pairs),
            max(_towards(inf, x * y, Fraction.__mul__, x, y) for x, y in pairs),
        )

    def __truediv__(self, other: Known) -> Certified:
        low, high = _both_ends(other)
        if not low > 0.0:
            raise InvalidArgument(
                f"a ratio to a number between {low} and {high}",
                hint="divide by what is certainly positive",
            )
        pairs = [(x, y) for x in self.ends for y in (low, high)]
        return Certified(
            min(_towards(-inf, x / y, Fraction.__truediv__, x, y) for x, y in pairs),
            max(_towards(inf, x / y, Fraction.__truediv__, x, y) for x, y in pairs),
        )

    def __rtruediv__(self, other: float) -> Certified:
        return Certified(other, other) / self

    def __abs__(self) -> Certified:
        least = 0.0 if self.lower <= 0.0 <= self.upper else min(map(abs, self.ends))
        return Certified(least, max(map(abs, self.ends)))

    def wider(self, error: float) -> Certified:
        """Return the same with `error` more on either side."""
        return Certified(_low(self.lower, -error), _high(self.upper, error))

    def not_negative(self) -> Certified:
        """Return what is left of it for a number that is at least 0."""
        return Certified(max(0.0, self.lower), max(0.0, self.upper))

    def meet(self, other: Certified) -> Certified:
        """Return what two enclosures of one number say together."""
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        if lower > upper:
            raise AssertionError(
                f"two brackets of one number are apart: {self} and {other}; this is a "
                "defect of simgap"
            )
        return Certified(lower, upper)


@final
@dataclass(frozen=True, slots=True)
class Guaranteed(Interval):
    """Ends that hold at a confidence by theorem, whatever the law of the samples."""

    lower: float
    upper: float

    def changed(self, factor: float, offset: float) -> Guaranteed:
        """Return the ends of factor times the number plus an offset."""
        return Guaranteed(*sorted(factor * end + offset for end in self.ends))

    def within(self, least: float, most: float) -> Guaranteed:
        """Return what is left between two certain ends of the same number."""
        return Guaranteed(*_inside(self.lower, self.upper, least, most))


@final
@dataclass(frozen=True, slots=True)
class Estimate(Interval):
    """A number found by sampling, with its interval, and one that a theorem gives.

    The interval holds the truth at `confidence` for laws whose rare events are like
    those that were sampled; verdicts use it. `guaranteed` holds for every law, and is
    known only where the samples are bounded. Both are always given: none is chosen
    after seeing the data. A `warning` says that the samples look as if rare events
    mattered that were seldom sampled.
    """

    estimate: float
    lower: float
    upper: float
    confidence: Annotated[float, means("with which either interval holds the truth")]
    method: Annotated[str, means('for instance "t interval, 20000 episodes"')] = ""
    standard_error: Annotated[
        float | None, means("of the estimate, where it has one")
    ] = None
    guaranteed: Annotated[
        Guaranteed | None, means("ends that hold by theorem; null: none are known")
    ] = None
    warning: Annotated[
        str | None, means("code: what the interval cannot know; null: nothing")
    ] = None

    def __post_init__(self) -> None:
        ends = (self.lower, self.estimate, self.upper)
        if not all(isfinite(each) for each in ends):
            raise InvalidArgument(f"an estimate with ends {ends} is not a number")
        if not self.lower <= self.estimate <= self.upper:
            raise InvalidArgument(f"an estimate outside its own interval: {ends}")
        if not 0.0 < self.confidence < 1.0:
            raise InvalidArgument(
                f"a confidence of {self.confidence}", hint="it is between 0 and 1"
            )

    @staticmethod
    def proved(
        estimate: float, lower: float, upper: float, confidence: float, method: str
    ) -> Estimate:
        """Return a number whose only interval is one that holds by theorem."""
        ends = Guaranteed(lower, upper)
        return Estimate(estimate, lower, upper, confidence, method, guaranteed=ends)

    @property
    def middle(self) -> float:
        """Return the estimate."""
        return self.estimate

    def within(self, lower: float | None, upper: float | None) -> Estimate:
        """Return what is left inside a certified bracket of the same number.

        An end that is None is not known. If nothing is left, the interval missed: the
        bracket alone remains, or, if it is endless, the interval moved to its end.
        """
        least = -inf if lower is None else lower
        most = inf if upper is None else upper
        if not least <= most:
            raise InvalidArgument(
                f"a bracket from {lower} to {upper}", hint="its ends are swapped"
            )
        low, high = _inside(self.lower, self.upper, least, most)
        sure = self.guaranteed
        return replace(
            self,
            estimate=min(max(self.estimate, low), high),
            lower=low,
            upper=high,
            guaranteed=None if sure is None else sure.within(least, most),
        )

    def __truediv__(self, other: float) -> Estimate:
        return self.changed(1.0 / other)

    def changed(self, factor: float, offset: float = 0.0) -> Estimate:
        """Return the estimate of factor times the number plus an offset."""
        ends = [factor * end + offset for end in (self.lower, self.upper)]
        error, sure = self.standard_error, self.guaranteed
        return replace(
            self,
            estimate=factor * self.estimate + offset,
            lower=min(ends),
            upper=max(ends),
            standard_error=None if error is None else abs(factor) * error,
            guaranteed=None if sure is None else sure.changed(factor, offset),
        )


Known = Certified | float  # what is proved; an estimate never becomes part of it
Number = Known | Estimate
NOTHING_KNOWN = Certified(-inf, inf)  # of a number that was not found


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


def greatest_of(
    found: Sequence[Estimate], confidence: float, what: str = "models"
) -> Estimate:
    """Return the greatest of several numbers whose intervals hold at once.

    The standard error is that of the number that was greatest.
    """
    most = max(found, key=lambda each: each.estimate)
    return replace(
        most,
        lower=max(each.lower for each in found),
        upper=max(each.upper for each in found),
        confidence=confidence,
        method=f"greatest of {len(found)} {what} at once, {most.method}",
        guaranteed=_all_guaranteed(found, max),
    )


@overload
def greatest(values: Sequence[Known]) -> Certified: ...
@overload
def greatest(values: Sequence[Number]) -> Certified | Estimate: ...
def greatest(values: Sequence[Number]) -> Certified | Estimate:
    """Return the greatest of several numbers; an estimate if one of them is.

    Its confidence is that all intervals hold together.
    """
    return _extreme(values, max, "greatest")


@overload
def least(values: Sequence[Known]) -> Certified: ...
@overload
def least(values: Sequence[Number]) -> Certified | Estimate: ...
def least(values: Sequence[Number]) -> Certified | Estimate:
    """Return the least of several numbers; an estimate if one of them is."""
    return _extreme(values, min, "least")


def _extreme(
    values: Sequence[Number], of: Callable[[Iterable[float]], float], word: str
) -> Certified | Estimate:
    low, high = (of(side) for side in zip(*map(_both_ends, values), strict=True))
    sampled = [each for each in values if isinstance(each, Estimate)]
    if not sampled:
        return Certified(low, high)
    return Estimate(
        of(each.middle if isinstance(each, Interval) else each for each in values),
        low,
        high,
        confidence=1.0 - sum(1.0 - each.confidence for each in sampled),
        method=f"{word} of {len(values)}, all intervals together",
        guaranteed=_all_guaranteed(values, of),
    )


def _all_guaranteed(
    values: Sequence[Number], of: Callable[[Iterable[float]], float]
) -> Guaranteed | None:
    """Return the same of the ends that hold by theorem, if every number has them."""
    sure = [each.guaranteed if isinstance(each, Estimate) else each for each in values]
    if any(each is None for each in sure):
        return None
    low, high = zip(
        *(_both_ends(each) for each in sure if each is not None), strict=True
    )
    return Guaranteed(of(low), of(high))


def _inside(
    lower: float, upper: float, least: float, most: float
) -> tuple[float, float]:
    """Return what is left of two ends in a bracket, or the bracket if nothing is."""
    low, high = max(lower, least), min(upper, most)
    if low > high:
        wide = upper - lower
        low = least if isfinite(least) else most - wide
        high = most if isfinite(most) else least + wide
    return low, high


def _both_ends(value: Interval | float) -> tuple[float, float]:
    """Return the ends of a number; a float is known without any error."""
    return value.ends if isinstance(value, Interval) else (value, value)


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


def _towards(
    way: float,
    found: float,
    operation: Callable[[Fraction, Fraction], Fraction],
    one: float,
    two: float,
) -> float:
    """Return the nearest float of a product or ratio that is not on its wrong side."""
    if not isfinite(found):
        return found
    off = Fraction(found) - operation(Fraction(one), Fraction(two))
    return nextafter(found, way) if off and (off > 0) == (way < 0) else found
