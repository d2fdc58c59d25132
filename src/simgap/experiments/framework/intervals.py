"""Arithmetic with numbers known between two ends, and curves made of them.

Every operation rounds its ends outwards, so that what was certified stays certified. A
law that holds with equality somewhere cannot be told from a violation by floats: checks
of such laws allow `ROOM`, and their names say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite, log, nextafter, sqrt

import numpy as np

from simgap.errors import InvalidArgument
from simgap.experiments.framework.claim import Curve, Point
from simgap.experiments.framework.growth import growth_exponent
from simgap.intervals import Certified, Estimate
from simgap.records import Certainty

ROOM = 1e-9  # what a law that is met with equality may seem to miss by
Known = Certified | float  # what is proved; an estimate never becomes part of it
Number = Known | Estimate


def ends(value: Number) -> tuple[float, float]:
    """Return the two ends of a number, or raise if it has none."""
    if isinstance(value, Certified | Estimate):
        return value.ends
    return float(value), float(value)


def around(value: float, slack: float) -> Certified:
    """Return what is known of a number that is off by at most `slack`."""
    return _outward(value - slack, value + slack)


def plus(one: Known, other: Known) -> Certified:
    """Return the sum."""
    (a, b), (c, d) = ends(one), ends(other)
    return _outward(a + c, b + d)


def minus(one: Known, other: Known) -> Certified:
    """Return the difference."""
    (a, b), (c, d) = ends(one), ends(other)
    return _outward(a - d, b - c)


def times(one: Known, other: Known) -> Certified:
    """Return the product."""
    corners = [x * y for x in ends(one) for y in ends(other)]
    return _outward(min(corners), max(corners))


def ratio(one: Known, other: Known) -> Certified:
    """Return the quotient by a number that is certainly positive."""
    low, high = ends(other)
    if not low > 0.0:
        raise InvalidArgument(
            f"a ratio to a number between {low} and {high}",
            hint="divide by what is certainly positive",
        )
    corners = [x / y for x in ends(one) for y in (low, high)]
    return _outward(min(corners), max(corners))


def size(value: Known) -> Certified:
    """Return the absolute value."""
    low, high = ends(value)
    if low <= 0.0 <= high:
        return Certified(0.0, max(-low, high))
    return Certified(min(abs(low), abs(high)), max(abs(low), abs(high)))


def greatest(values: Sequence[Known]) -> Certified:
    """Return the greatest of several numbers."""
    both = [ends(value) for value in values]
    return Certified(max(low for low, _ in both), max(high for _, high in both))


def least(values: Sequence[Known]) -> Certified:
    """Return the least of several numbers."""
    both = [ends(value) for value in values]
    return Certified(min(low for low, _ in both), min(high for _, high in both))


def proved(value: Number) -> Known:
    """Return a number that is not an estimate, or raise."""
    if isinstance(value, Estimate):
        raise InvalidArgument(
            "an estimate where a certified number is needed",
            hint="measure it without sampling",
        )
    return value


def extreme(
    values: Sequence[Certified | Estimate], of: Callable[[Iterable[float]], float]
) -> Certified | Estimate:
    """Return the greatest or least (`of` is max or min) of numbers, some estimated.

    If one is estimated so is the answer; its confidence is that of all together.
    """
    sampled = [value for value in values if isinstance(value, Estimate)]
    low, high = (of(each) for each in zip(*map(ends, values), strict=True))
    if not sampled:
        return Certified(low, high)
    return Estimate(
        estimate=of(middle(value) for value in values),
        lower=low,
        upper=high,
        confidence=1.0 - sum(1.0 - each.confidence for each in sampled),
        method=f"{of.__name__} of {len(values)}, all intervals together",
    )


def middle(value: Number) -> float:
    """Return the number to print: the estimate, or half way between the ends.

    What rounding cannot tell from 0 is printed as 0.
    """
    if isinstance(value, Estimate):
        return value.estimate
    low, high = ends(value)
    if low <= 0.0 <= high and high - low < ROOM:
        return 0.0
    return low if low == high else 0.5 * (low + high)


def curve(
    name: str,
    across: Sequence[float],
    up: Sequence[Number],
    *,
    certainty: Certainty = "certified",
    bound: bool = False,
) -> Curve:
    """Return the line through certified numbers; what is not finite is left out."""
    points = [
        Point(float(x), middle(y), *ends(y))
        for x, y in zip(across, up, strict=True)
        if all(isfinite(end) for end in ends(y))
    ]
    return Curve(name, tuple(points), certainty, bound)


def bracketed_exponent(x: Sequence[float], y: Sequence[Number]) -> Estimate:
    """Return the exponent p of y ~ x^p, whatever the numbers are within their ends.

    The slope is linear in log y, so that the ends of its range are at ends of y; half
    the range is added to the interval of the fit through the middles.
    """
    fitted = growth_exponent(x, [sqrt(ends(v)[0] * ends(v)[1]) for v in y])
    across = np.log(np.asarray(x, np.float64))
    centred = across - across.mean()
    weight = np.abs(centred) / float(centred @ centred)
    widths = np.array([log(ends(v)[1] / ends(v)[0]) / 2.0 for v in y])
    more = float(weight @ widths)
    return Estimate(
        estimate=fitted.estimate,
        lower=fitted.lower - more,
        upper=fitted.upper + more,
        confidence=fitted.confidence,
        method=f"{fitted.method}, brackets included",
    )


def growth(x: Sequence[float], y: Sequence[Number]) -> Certified | Estimate:
    """Return the exponent of y ~ x^p, or 0 if some y may be 0: nothing grows there."""
    if min(ends(value)[0] for value in y) <= 0.0:
        return Certified(0.0, 0.0)
    return bracketed_exponent(x, y)


def _outward(low: float, high: float) -> Certified:
    return Certified(nextafter(low, -inf), nextafter(high, inf))
