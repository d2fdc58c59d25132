"""Polynomials of parameters that are orthonormal over nu, alone and in products.

For independent parameters E[psi_a psi_b] = 1 if a = b, else 0, so that a function with
coefficients c has the mean c_0 and the variance sum c_a^2 without c_0, and each term
belongs to the parameters whose degree in it is not 0 (polynomial chaos; Sudret 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import final

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander

from simgap.arrays import FloatArray, OffsetArray

DEGREE = 10  # of one parameter alone
TOGETHER = {2: 7, 3: 6}  # sum of degrees of two and of three parameters
LEVELS = 12  # values that a parameter has in common with many points: a choice
MOST_TERMS = 1_500


@final
@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Orthonormal polynomials of one parameter."""

    theta: FloatArray  # (n,), increasing
    place: FloatArray  # (n,), where these lie in [-1, 1]
    change: FloatArray  # (d + 1, d + 1), from Legendre's polynomials to ours

    @property
    def degree(self) -> int:
        """Return the greatest degree: one less than the number of values."""
        return len(self.change) - 1

    def at(self, theta: FloatArray) -> FloatArray:
        """Return the polynomials at some values of the parameter, (n, d + 1)."""
        place = np.interp(theta, self.theta, self.place)
        found: FloatArray = np.asarray(legvander(place, self.degree)) @ self.change
        return found


def axis_of(
    theta: FloatArray, uniforms: FloatArray | None, weights: FloatArray
) -> Axis:
    """Return the polynomials of a parameter from the values that were met.

    Where it takes few values, or where its distribution is not known, the points stand
    for the distribution. Uniforms that do not grow with theta are those of a group of
    parameters, and say nothing of one alone.
    """
    values, first, which = np.unique(theta, return_index=True, return_inverse=True)
    few = values.size <= LEVELS < theta.size
    if uniforms is None or few or np.any(np.diff(uniforms[first]) < 0.0):
        wide = values[-1] - values[0]
        place = 2.0 * (values - values[0]) / wide - 1.0 if wide else np.zeros(1)
        nodes, shares = place, np.bincount(which, weights).astype(float)
    else:
        place = 2.0 * uniforms[first] - 1.0
        nodes, shares = (np.asarray(each) for each in leggauss(2 * DEGREE))
        shares = shares / 2.0
    degree = min(DEGREE, values.size - 1)
    _, upper = np.linalg.qr(np.sqrt(shares)[:, None] * legvander(nodes, degree))
    upper *= np.sign(np.diag(upper))[:, None]
    return Axis(values, place, np.linalg.inv(upper))


def terms_of(degrees: Sequence[int]) -> OffsetArray:
    """Return the degrees of each term in each parameter, (terms, P); none is first.

    Parameters alone and up to three together; of many parameters fewer.
    """
    size = len(degrees)
    rows: list[tuple[int, ...]] = [(0,) * size]
    for order in (1, 2, 3):
        for most in range(TOGETHER.get(order, DEGREE), order - 1, -1):
            more = list(_products(degrees, order, most))
            if len(rows) + len(more) <= MOST_TERMS or order == 1:
                rows += more
                break
    return np.array(rows, dtype=np.int64)


def _products(
    degrees: Sequence[int], order: int, most: int
) -> Iterator[tuple[int, ...]]:
    for chosen in combinations(range(len(degrees)), order):
        for powers in product(*(range(1, min(most, degrees[j]) + 1) for j in chosen)):
            if sum(powers) <= most:
                row = [0] * len(degrees)
                for j, power in zip(chosen, powers, strict=True):
                    row[j] = power
                yield tuple(row)


def features(axes: Sequence[Axis], terms: OffsetArray, theta: FloatArray) -> FloatArray:
    """Return the value of each term at each point, (T, terms)."""
    found = np.ones((len(theta), len(terms)))
    for j, axis in enumerate(axes):
        found *= axis.at(theta[:, j])[:, terms[:, j]]
    return found
