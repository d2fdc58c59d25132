"""How fast something grows: the slope of a line through logarithms, with an interval.

The fit is least squares of log y on log x. Its interval counts two things: the noise of
every point, carried through the fit, and the scatter of the points about the line, by a
t quantile; the wider of the two is given. A law that is not a power shows as scatter,
so that three points or more are needed. A certified number may be anything between its
ends: the slope is linear in log y, so that the ends of its range are at ends of y, and
half the range is added.

Of a sequence without noise the interval is the scatter about the line alone: how well a
power describes these points. No chance is in it, and `method` calls it a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate, Number

CONFIDENCE = 0.95


def growth_exponent(x: Sequence[float], y: Sequence[Number]) -> Estimate:
    """Return the exponent p of y ~ x^p, fitted to points that are all positive."""
    if len(x) != len(y) or len(x) < 3:
        raise InvalidArgument(
            f"{len(x)} and {len(y)} points", hint="give three points or more"
        )
    least = [each.lower if isinstance(each, Certified) else _centre(each) for each in y]
    if min(least) <= 0.0 or min(x) <= 0.0:
        raise InvalidArgument(
            "a growth exponent of numbers that are not positive",
            hint="leave out the points where nothing is lost",
        )
    across = np.log(np.asarray(x, np.float64))
    up = np.array([log(_centre(each)) for each in y])
    noise = np.array([_noise(each) for each in y])
    certified = [each for each in y if isinstance(each, Certified)]
    brackets = [
        log(each.upper / each.lower) / 2.0 if isinstance(each, Certified) else 0.0
        for each in y
    ]
    centred = across - across.mean()
    weight = centred / float(centred @ centred)
    slope = float(weight @ up)
    left = up - up.mean() - slope * centred
    freedom = len(y) - 2
    from scipy.special import ndtri, stdtrit

    half = 0.5 + CONFIDENCE / 2.0
    scatter = sqrt(float(left @ left) / freedom / float(centred @ centred))
    by_scatter = float(stdtrit(freedom, half)) * scatter
    by_noise = float(ndtri(half)) * sqrt(float((weight**2) @ (noise**2)))
    width = max(by_scatter, by_noise)
    room = width + float(np.abs(weight) @ np.array(brackets))
    return Estimate(
        estimate=slope,
        lower=slope - room,
        upper=slope + room,
        confidence=CONFIDENCE,
        method=f"least squares on logarithms, {len(y)} points"
        + (", brackets included" if certified else "")
        + ("" if noise.any() else "; a fit, nothing was sampled"),
        standard_error=None if certified else width / float(ndtri(half)),
    )


def _centre(value: Number) -> float:
    """Return the point that is fitted; the middle of a bracket in logarithms."""
    if isinstance(value, Certified):
        return sqrt(value.lower * value.upper)
    return value.estimate if isinstance(value, Estimate) else value


def _noise(value: Number) -> float:
    """Return the relative standard error."""
    if not isinstance(value, Estimate):
        return 0.0
    return (value.standard_error or 0.0) / value.estimate
