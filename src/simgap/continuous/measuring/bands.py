"""A mean curve with a band that holds at all steps at once, approximately.

The curve is a mean of independent curves, or a sum of such means, the *sources* of its
error: worlds, and trainings. A reach is what the greatest deviation over all steps, in
standard errors, exceeds with a chance of 1 - confidence: by simulation from a
multivariate t law with the correlations of the curves. Reaches of several sources are
added as squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from simgap.arrays import FloatArray

DRAWS = 2_000


class Band(NamedTuple):
    """A curve over H steps and a band around it."""

    mean: FloatArray  # (H,)
    lower: FloatArray  # (H,)
    upper: FloatArray  # (H,)

    @property
    def settled(self) -> int | None:
        """Return from which step on, counted from 1, nothing is certainly above 0.

        None: something is at the last step.
        """
        above = np.flatnonzero(self.lower > 0.0)
        last = int(above[-1]) + 1 if above.size else 0
        return last + 1 if last < self.mean.size else None


def band_around(
    mean: FloatArray,
    sources: Sequence[FloatArray],
    *,
    confidence: float = 0.95,
) -> Band:
    """Return the band of a curve; a source is (n, H), n curves of 2 or more."""
    rng = np.random.default_rng(0)
    squares = sum(
        (_reach(each, confidence, rng) ** 2 for each in sources), np.zeros(mean.size)
    )
    reach = np.sqrt(squares)
    return Band(mean, mean - reach, mean + reach)


def _reach(
    curves: FloatArray, confidence: float, rng: np.random.Generator
) -> FloatArray:
    """Return how far the mean of n curves may be off at each step, (H,)."""
    count = len(curves)
    apart = (curves - curves.mean(axis=0)) / sqrt(count * (count - 1.0))
    error: FloatArray = np.sqrt((apart**2).sum(axis=0))
    varies = error > 0.0
    if not varies.any():
        return error
    drawn = rng.standard_normal((DRAWS, count)) @ (apart[:, varies] / error[varies])
    scale = np.sqrt(rng.chisquare(count - 1, DRAWS) / (count - 1))
    greatest = np.abs(drawn).max(axis=1) / scale
    return float(np.quantile(greatest, confidence)) * error
