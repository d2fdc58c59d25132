"""Experiments that tell two models apart, history by history.

Nothing is merged: a history is followed with its probability in either model, and the
best action after it is found by trying all. BC needs roots, so it is in decimals of 60
digits; errors of guesses are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import TypeVar

from tests.reference.rational import Kernel

getcontext().prec = 60

Number = TypeVar("Number", Fraction, Decimal)


def least_error(first: Kernel, second: Kernel, start: int, steps: int) -> Fraction:
    """Return the least chance of a wrong guess, equal weights, exactly."""
    return _best(first, second, start, steps, lambda p, q: min(p, q) / 2, Fraction(0))


def least_affinity(first: Kernel, second: Kernel, start: int, steps: int) -> Decimal:
    """Return the least sum over histories of sqrt(P_i P_j)."""
    return _best(first, second, start, steps, lambda p, q: root(p * q), Decimal(0))


def root(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()


def swept(
    groups: Sequence[int],
    indptr: Sequence[int],
    indices: Sequence[int],
    shared: Sequence[float],
    values: Sequence[float],
) -> list[float]:
    """Return one sweep of the recursion over rows of weights."""
    rows = [
        sum(shared[k] * values[indices[k]] for k in range(indptr[r], indptr[r + 1]))
        for r in range(len(indptr) - 1)
    ]
    return [min(rows[groups[g] : groups[g + 1]]) for g in range(len(groups) - 1)]


def _best(
    first: Kernel,
    second: Kernel,
    start: int,
    steps: int,
    at_end: Callable[[Fraction, Fraction], Number],
    nothing: Number,
) -> Number:
    def follow(state: int, p: Fraction, q: Fraction, left: int) -> Number:
        if left == 0:
            return at_end(p, q)
        return min(
            sum(
                (
                    follow(t, p * first[state][a][t], q * second[state][a][t], left - 1)
                    for t in range(len(first))
                    if first[state][a][t] or second[state][a][t]
                ),
                nothing,
            )
            for a in range(len(first[state]))
        )

    return follow(start, Fraction(1), Fraction(1), steps)
