"""Upper bounds on the eluder dimension that need no search (theory 2.11, errata E7).

Counting. In a sequence at scale eps', the pair of functions that shows a point to be
independent is from then on farther apart than eps' on the points so far, so that it can
show no other point; and no point can occur twice. So dim_E(F, eps) is at most the
number of pairs farther apart than eps somewhere, and at most the number of different
points on which some pair is. The paper's "at most M" is false (errata E7): four
functions can have six.

Linear classes. Let differences f - f' = d . phi(x) with d, phi(x) in R^r. Take a
quadratic form W with d W d <= 1 for all differences, and V = k eps'^2 W + sum of
phi phi' over the points so far. If pair d shows that x is independent, then
d V d <= (1 + k) eps'^2 while (d . phi)^2 > eps'^2, hence phi V^-1 phi > q = 1/(1+k) and
det V grows by 1 + q with every point. After n points, by the mean of the eigenvalues,

    (1 + q)^n <= (1 + n E / k)^r ,   E = max over x of phi W^-1 phi / (r eps^2) .

The argument is that of Russo and Van Roy (2014, appendix on linear models); here k is
free and chosen best. If |f - f'| <= R everywhere, John's theorem gives a W with
phi W^-1 phi <= r R^2, hence E <= (R / eps)^2 whatever the coordinates.

In one dimension phi_n^2 > phi_1^2 + ... + phi_(n-1)^2 and |phi_1| > eps / max |d|, so
that the sums double from the second point on: 2^(n - 2) < (R / eps)^2.

A class that is linear only up to an error h everywhere obeys the same with 1/(1+k)
replaced by (1 - 2h/eps)^2 / ((1 + 2h sqrt(n)/eps)^2 + k); k = 0 in one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, floor, inf, isfinite, log, log1p, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.complexity.function_class import FunctionClass
from simgap.errors import InvalidArgument

FREE = tuple(2.0**power for power in range(-8, 5))  # values tried for k
MOST_DIMENSIONS = 16  # low dimensions tried; the full one always is
BLOCK = 4096
LARGEST = 2**62


class UpperBound(Enum):
    """What an upper bound on the eluder dimension rests on."""

    PAIRS = "a pair of functions shows at most one point to be independent"
    POINTS = "a point comes at most once"
    LINEAR = "the class is nearly linear in few dimensions"
    SEARCH = "all sequences were searched"


@final
@dataclass(frozen=True, slots=True)
class EluderUpper:
    """An upper bound and its reason."""

    value: int
    reason: UpperBound


def counting_bound(functions: FunctionClass, epsilon: float) -> EluderUpper:
    """Return the smaller of the numbers of useful pairs and of useful points."""
    beyond = epsilon + functions.resolution
    pairs = int(np.count_nonzero(np.triu(functions.distance > beyond)))
    points = int(np.count_nonzero(_spreads(functions.values) > beyond))
    if pairs <= points:
        return EluderUpper(pairs, UpperBound.PAIRS)
    return EluderUpper(points, UpperBound.POINTS)


def linear_eluder_bound(dimension: int, ratio: float) -> int:
    """Return a bound on dim_E of a linear class from its dimension and R / eps alone.

    Differences f - f' form a set in a space of that dimension and are at most
    `ratio` times eps everywhere.
    """
    if dimension < 0 or not isfinite(ratio) or ratio < 0.0:
        raise InvalidArgument(
            f"dimension {dimension} and ratio {ratio!r} of a linear class",
            hint="a dimension of 0 or more, and the largest difference over eps",
        )
    if dimension == 0 or ratio <= 1.0:
        return 0  # no difference exceeds eps
    return _best_bound(dimension, 2.0 * log(ratio), 1.0, 1.0)


def linear_bound(functions: FunctionClass, epsilon: float, most: int) -> int:
    """Return the bound above for the best of several dimensions, at most `most`.

    The class is split into a part of r dimensions and a rest, whose size is measured;
    r = F - 1 leaves no rest.
    """
    if epsilon <= 0.0 or functions.n_functions < 2:
        return most
    largest = float(functions.distance.max())
    rests, longest = _rests(functions.values)
    best = most
    for dimension, rest in [*rests, (functions.n_functions - 1, 0.0)]:
        near = 1.0 - 2.0 * rest / epsilon
        if near <= 0.0:
            continue
        far = 1.0 + 2.0 * rest * sqrt(best) / epsilon
        # In the coordinates of the split, differences are at most sqrt 2 long.
        length = min(largest + 2.0 * rest, sqrt(2.0 / dimension) * longest)
        energy = 2.0 * (log(length) - log(epsilon)) if length > 0.0 else -inf
        best = min(best, _best_bound(dimension, energy + 1e-9, near, far))
    return best


def _best_bound(dimension: int, energy: float, near: float, far: float) -> int:
    """Return the bound for the best k from the logarithm of the energy E.

    near and far are 1 for a linear class.
    """
    bound = min(_potential_bound(dimension, energy, near, far, k) for k in FREE)
    if dimension == 1:
        share = (near / far) ** 2
        doublings = max(energy - log(share * near**2), 0.0) / log1p(share)
        bound = min(bound, 2 + floor(doublings * (1.0 + 1e-9)))
    return bound


def _potential_bound(
    dimension: int, energy: float, near: float, far: float, k: float
) -> int:
    """Return the greatest n with (1 + q)^n <= (1 + n E / k)^r."""
    growth = log1p(near**2 / (far**2 + k))

    def possible(n: int) -> bool:
        more = energy + log(n / k)
        room = dimension * (log1p(exp(more)) if more < 40.0 else more)
        return n * growth <= room * (1.0 + 1e-9)  # on the safe side of rounding

    high = 1
    while possible(high):  # log is concave: once impossible, it stays so
        high *= 2
        if high > LARGEST:
            return LARGEST
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low


def _rests(values: FloatArray) -> tuple[list[tuple[int, float]], float]:
    """Return (r, sup of what r dimensions leave) and the length of the longest point.

    Directions are eigenvectors of the points' second moments. They need not be exact:
    the rest is measured for those found, with room for rounding.
    """
    count, functions = values.shape
    moments = np.zeros((functions, functions))
    longest, size = 0.0, 0.0
    for begin in range(0, count, BLOCK):
        part = values[begin : begin + BLOCK]
        size = max(size, float(np.abs(part).max()))
        part = part - part.mean(axis=1, keepdims=True)
        moments += part.T @ part
        longest = max(longest, float((part**2).sum(axis=1).max()))
    most = min(MOST_DIMENSIONS, functions - 2)
    if most < 1 or count == 0:
        return [], sqrt(longest)
    directions = np.linalg.eigh(moments)[1][:, ::-1][:, :most]
    rest = np.zeros(most)
    for begin in range(0, count, BLOCK):
        part = values[begin : begin + BLOCK]
        part = part - part.mean(axis=1, keepdims=True)
        along = part @ directions
        for r in range(most):
            part -= along[:, r, None] * directions[:, r]
            rest[r] = max(rest[r], float(np.abs(part).max()))
    room = 1e-14 * size * (functions + most)
    return [(r + 1, float(rest[r]) + room) for r in range(most)], sqrt(longest)


def _spreads(values: FloatArray) -> FloatArray:
    if values.size == 0:
        return np.zeros(len(values))
    return np.asarray(values.max(axis=1) - values.min(axis=1))
