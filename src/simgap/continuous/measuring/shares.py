"""Which parameter? Shares of the variance of the loss over nu (Sobol' 1993).

The *first* share of a parameter is what knowing it alone would explain, its *total* one
what would be left if all others were known; a pair has what only both together explain.
They come from the measured points alone: a function is fitted (`surrogate`), functions
that the losses allow just as well are drawn, and each of them has its shares in closed
form. Noise of episodes is not part of the variance. Variance that no function explains
is a part of the whole: it counts against the estimate and the lower end, and, as it may
belong to any share, for the upper one.

Parameters are taken as independent.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.measuring.surrogate import Surrogate
from simgap.intervals import Estimate
from simgap.records.transfer import VarianceShare

CLOSEST = 0.01  # what is nearer to none may be none: no term is exactly 0
SPARE = 0.04  # times s (1 - s): what polynomials may misstate of a share s


def variance_shares(
    found: Surrogate, names: tuple[str, ...], confidence: float
) -> tuple[tuple[VarianceShare, ...], tuple[VarianceShare, ...]]:
    """Return the shares of each parameter, and of each pair; the greatest first."""
    squares = found.sampled[:, 1:] ** 2
    degrees = found.terms[1:] > 0
    order = degrees.sum(axis=1)
    points = found.apart.size

    def share(terms: BoolArray) -> Estimate:
        return _share(
            squares @ terms.astype(float), squares, found.rest, confidence, points
        )

    alone = [
        VarianceShare(
            name=name,
            share=share(degrees[:, j] & (order == 1)),
            total=share(degrees[:, j]),
        )
        for j, name in enumerate(names)
    ]
    pairs = [
        VarianceShare(
            name=f"{names[j]} x {names[k]}",
            share=share(degrees[:, j] & degrees[:, k] & (order == 2)),
            total=None,
        )
        for j, k in combinations(range(len(names)), 2)
    ]
    return _sorted(alone), _sorted(pairs)


def _share(
    part: FloatArray,
    squares: FloatArray,
    rest: FloatArray,
    confidence: float,
    points: int,
) -> Estimate:
    whole = squares.sum(axis=1) + rest
    tail = 0.5 * (1.0 - confidence)
    middle = float(np.median(part / whole))
    spare = SPARE * middle * (1.0 - middle)
    low = float(np.quantile(part / whole, tail))
    low = max(0.0, low - spare) if low >= CLOSEST else 0.0
    high = float(np.quantile((part + rest) / whole, 1.0 - tail)) + spare
    high = min(1.0, high)
    return Estimate(
        min(max(middle, low), high),
        low,
        high,
        confidence,
        f"polynomials through {points} points",
    )


def _sorted(found: list[VarianceShare]) -> tuple[VarianceShare, ...]:
    return tuple(sorted(found, key=lambda each: -each.share.estimate))
