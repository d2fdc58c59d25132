"""Mixture classes by the book: exact least squares, pairs by enumeration, plain loops.

Data are lists of samples (x, y); nothing is summed up before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.mixture_class import MixtureClass
from tests.reference.linear import solve

Samples = Sequence[tuple[Sequence[float], float]]


def ridge_estimate(samples: Samples, ridge: float) -> list[Fraction]:
    """Return the u that minimises sum (y - x.u)^2 + ridge |u|^2."""
    return solve(
        _metric(samples, ridge),
        [
            sum((Fraction(x[i]) * Fraction(y) for x, y in samples), Fraction(0))
            for i in range(len(samples[0][0]))
        ],
    )


def volume(samples: Samples, ridge: float) -> Fraction:
    """Return det(I + sum x x^T / ridge), by minors."""
    scaled = [[v / Fraction(ridge) for v in row] for row in _metric(samples, ridge)]
    return _determinant(scaled)


def square_distances(
    samples: Samples, ridge: float, members: FloatArray
) -> list[Fraction]:
    """Return |u - estimate|^2 in the norm of ridge I + sum x x^T for each member."""
    metric, estimate = _metric(samples, ridge), ridge_estimate(samples, ridge)
    out = []
    for u in members:
        apart = [Fraction(float(a)) - b for a, b in zip(u, estimate, strict=True)]
        pulled = [_dot(row, apart) for row in metric]
        out.append(_dot(pulled, apart))
    return out


def paper_score(
    members: FloatArray, fresh: FloatArray, old: FloatArray, alpha: float
) -> float:
    """Return the score of theory 2.13 over all pairs of members (n, r).

    `fresh` and `old` are features (m, r) of the samples.
    """
    best = 0.0
    for u in members:
        apart = members - u
        new = ((apart @ fresh.T) ** 2).sum(axis=1)
        kept = ((apart @ old.T) ** 2).sum(axis=1)
        best = max(best, float((new / (kept + alpha)).max()))
    return best


def greatest_gain(mixture: MixtureClass, members: FloatArray) -> float:
    """Return the greatest gain of the members given, by relative value iteration."""
    return max(_gain(mixture.kernel(u), mixture.rewards) for u in members)


def relaxed_backup(
    mixture: MixtureClass, members: FloatArray, bias: FloatArray
) -> FloatArray:
    """Return max over a, and over a member per pair, of R + P l, (S,)."""
    out = np.full(mixture.n_states, -inf)
    kernels = [mixture.kernel(u) for u in members]
    for s in range(mixture.n_states):
        for a in range(mixture.n_actions):
            for kernel in kernels:
                total = mixture.rewards[s, a]
                for t in range(mixture.n_states):
                    total += kernel[s, a, t] * bias[t]
                out[s] = max(out[s], total)
    return out


def _gain(kernel: FloatArray, rewards: FloatArray) -> float:
    values = np.zeros(len(kernel))
    while True:
        after = (rewards + kernel @ values).max(axis=1)
        change = after - values
        if change.max() - change.min() < 1e-11:
            return float(change.max())
        values = values + 0.7 * change
        values -= values.min()


def _metric(samples: Samples, ridge: float) -> list[list[Fraction]]:
    r = len(samples[0][0])
    out = [
        [Fraction(ridge) if i == j else Fraction(0) for j in range(r)] for i in range(r)
    ]
    for x, _ in samples:
        for i in range(r):
            for j in range(r):
                out[i][j] += Fraction(x[i]) * Fraction(x[j])
    return out


def _determinant(matrix: list[list[Fraction]]) -> Fraction:
    if not matrix:
        return Fraction(1)
    total = Fraction(0)
    for j, head in enumerate(matrix[0]):
        minor = [row[:j] + row[j + 1 :] for row in matrix[1:]]
        total += (-1) ** j * head * _determinant(minor)
    return total


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))
