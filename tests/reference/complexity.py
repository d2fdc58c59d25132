"""Measures of a class by the letter of their definitions, in Fractions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

from simgap.arrays import FloatArray
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


Matrix = Sequence[Row]  # functions by points


def function_matrix(
    kernels: Sequence[Kernel], biases: Sequence[Row]
) -> list[list[Fraction]]:
    """Return f_M(s, a, l) with a row per member and a column per (s, a, l)."""
    return [
        [
            sum((p * x for p, x in zip(row, bias, strict=True)), Fraction(0))
            for pair in P
            for row in pair
            for bias in biases
        ]
        for P in kernels
    ]


def covering_number(matrix: Matrix, epsilon: Fraction) -> int:
    """Return the least number of rows whose balls hold all rows, by trying all sets."""
    rows = sorted({tuple(row) for row in matrix})
    near = [
        [max((abs(x - y) for x, y in zip(f, g, strict=True)), default=0) <= epsilon
         for g in rows]
        for f in rows
    ]  # fmt: skip
    for size in range(1, len(rows) + 1):
        for centres in combinations(range(len(rows)), size):
            if all(any(near[c][g] for c in centres) for g in range(len(rows))):
                return size
    raise AssertionError("all rows together are a cover")


def eluder_dimension(matrix: Matrix, epsilon: Fraction) -> int:
    """Return dim_E by trying every scale that can matter and every sequence at it.

    If a sequence works at some scale, it works at the lowest end of the scales that
    allow it, and ends are eps and norms of pairs over sets of points.
    """
    pairs = list(combinations(range(len(matrix)), 2))
    points = sorted(
        {tuple((matrix[i][x] - matrix[j][x]) ** 2 for i, j in pairs)
         for x in range(len(matrix[0]))}
    )  # fmt: skip
    norms = {epsilon**2}
    for p in range(len(pairs)):
        sums = {Fraction(0)}
        for point in points:
            sums |= {total + point[p] for total in sums}
        norms |= {total for total in sums if total > epsilon**2}
    largest = max((max(point, default=0) for point in points), default=0)
    return max(
        (_longest(points, scale) for scale in norms if scale < largest), default=0
    )


def _longest(points: Sequence[Sequence[Fraction]], scale: Fraction) -> int:
    """Return the longest sequence at one squared scale; sets are visited once."""
    seen: set[int] = set()

    def beyond(chosen: int, sums: Sequence[Fraction], length: int) -> int:
        if chosen in seen:
            return 0
        seen.add(chosen)
        best = length
        for x, point in enumerate(points):
            if any(c <= scale < d for c, d in zip(sums, point, strict=True)):
                added = [c + d for c, d in zip(sums, point, strict=True)]
                best = max(best, beyond(chosen | 1 << x, added, length + 1))
        return best

    start = [Fraction(0)] * (len(points[0]) if points else 0)
    return beyond(0, start, 0)


def is_eluder_sequence(
    matrix: Matrix, points: Sequence[int], scale_squared: Fraction
) -> bool:
    """Return whether every point is independent of those before it, by definition."""
    for k, x in enumerate(points):
        independent = any(
            sum(((f[z] - g[z]) ** 2 for z in points[:k]), Fraction(0)) <= scale_squared
            and (f[x] - g[x]) ** 2 > scale_squared
            for f, g in combinations(matrix, 2)
        )
        if not independent:
            return False
    return True


def fractions(matrix: Sequence[Sequence[float]] | FloatArray) -> list[list[Fraction]]:
    """Return floats as the numbers they are."""
    return [[Fraction(float(value)) for value in row] for row in matrix]


def greedy_sequence(
    values: Sequence[Sequence[float]],
    order: Sequence[int],
    scale: float,
    *,
    careful: bool,
) -> list[int]:
    """Return what the two greedy rules choose; values are points by functions.

    Plainly: the first independent point in turn, or the one that ends fewest pairs.
    """
    pairs = list(combinations(range(len(values[0])), 2))
    sums = dict.fromkeys(pairs, 0.0)
    chosen: list[int] = []
    left = list(order)
    while left:
        free = [
            x
            for x in left
            if any(abs(values[x][i] - values[x][j]) > scale for i, j in sums)
        ]
        if not free:
            return chosen
        ended = {
            x: sum(
                sums[i, j] + (values[x][i] - values[x][j]) ** 2 > scale**2
                for i, j in sums
            )
            for x in free
        }
        x = min(free, key=lambda y: ended[y]) if careful else free[0]
        chosen.append(x)
        left = [y for y in free if y != x] if careful else left[left.index(x) + 1 :]
        for i, j in list(sums):
            sums[i, j] += (values[x][i] - values[x][j]) ** 2
            if sums[i, j] > scale**2:
                del sums[i, j]
    return chosen


def lipschitz(
    values: Row, distance: Sequence[Row], members: Sequence[int]
) -> Fraction | None:
    """Return the least L over pairs of members; None: no finite one does."""
    best = Fraction(0)
    for i, j in combinations(members, 2):
        rise = abs(values[i] - values[j])
        if rise and not distance[i][j]:
            return None
        if rise:
            best = max(best, rise / distance[i][j])
    return best
