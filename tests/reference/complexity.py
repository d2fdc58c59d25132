"""Measures of a class by the letter of their definitions, in Fractions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

from tests.reference.rational import Kernel, Row


def l1(p: Row, q: Row) -> Fraction:
    """Return the sum of |p - q|."""
    return sum((abs(x - y) for x, y in zip(p, q, strict=True)), Fraction(0))


def greatest_l1(P: Kernel, Q: Kernel) -> tuple[Fraction, tuple[int, int]]:
    """Return the greatest L1 distance over (s, a) and the first pair that has it."""
    best, where = Fraction(-1), (0, 0)
    for s, (here, there) in enumerate(zip(P, Q, strict=True)):
        for a, (p, q) in enumerate(zip(here, there, strict=True)):
            if l1(p, q) > best:
                best, where = l1(p, q), (s, a)
    return best, where


def average_l1(P: Kernel, Q: Kernel) -> Fraction:
    """Return the mean L1 distance over (s, a)."""
    rows = [
        l1(p, q)
        for here, there in zip(P, Q, strict=True)
        for p, q in zip(here, there, strict=True)
    ]
    return sum(rows, Fraction(0)) / len(rows)


def separation(kernels: Sequence[Kernel]) -> tuple[Fraction, tuple[int, int] | None]:
    """Return delta(U) and the first pair of members that has it; 2 for one member."""
    best, pair = Fraction(2), None
    for i, j in combinations(range(len(kernels)), 2):
        apart = greatest_l1(kernels[i], kernels[j])[0]
        if pair is None or apart < best:
            best, pair = apart, (i, j)
    return best, pair


def bhattacharyya(p: Row, q: Row) -> Decimal:
    """Return sum sqrt(p q) to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        return sum(
            (
                (Decimal((x * y).numerator) / Decimal((x * y).denominator)).sqrt()
                for x, y in zip(p, q, strict=True)
            ),
            Decimal(0),
        )


def least_bhattacharyya(P: Kernel, Q: Kernel) -> Decimal:
    """Return the least coefficient over (s, a)."""
    return min(
        bhattacharyya(p, q)
        for here, there in zip(P, Q, strict=True)
        for p, q in zip(here, there, strict=True)
    )
