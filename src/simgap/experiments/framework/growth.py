"""How fast something grows: the slope of a line through logarithms, with an interval.

The fit is least squares of log y on log x. Its interval counts two things: the noise of
every point, carried through the fit, and the scatter of the points about the line, by a
t quantile; the wider of the two is given. A law that is not a power shows as scatter,
so that three points or more are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from simgap.errors import InvalidArgument
from simgap.intervals import Estimate


def growth_exponent(
    x: Sequence[float],
    y: Sequence[Estimate | float],
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Return the exponent p of y ~ x^p, fitted to points that are all positive."""
    if len(x) != len(y) or len(x) < 3:
        raise InvalidArgument(
            f"{len(x)} and {len(y)} points", hint="give three points or more"
        )
    values = [each.estimate if isinstance(each, Estimate) else each for each in y]
    if min(values) <= 0.0 or min(x) <= 0.0:
        raise InvalidArgument(
            "a growth exponent of numbers that are not positive",
            hint="leave out the points where nothing is lost",
        )
    across = np.log(np.asarray(x, np.float64))
    up = np.array([log(value) for value in values])
    noise = np.array(
        [
            (each.standard_error or 0.0) / each.estimate
            if isinstance(each, Estimate)
            else 0.0
            for each in y
        ]
    )
    centred = across - across.mean()
    weight = centred / float(centred @ centred)
    slope = float(weight @ up)
    left = up - up.mean() - slope * centred
    freedom = len(values) - 2
    from scipy.special import ndtri, stdtrit

    half = 0.5 + confidence / 2.0
    scatter = sqrt(float(left @ left) / freedom / float(centred @ centred))
    by_scatter = float(stdtrit(freedom, half)) * scatter
    by_noise = float(ndtri(half)) * sqrt(float((weight**2) @ (noise**2)))
    width = max(by_scatter, by_noise)
    return Estimate(
        estimate=slope,
        lower=slope - width,
        upper=slope + width,
        confidence=confidence,
        method=f"least squares on logarithms, {len(values)} points",
        standard_error=width / float(ndtri(half)),
    )
