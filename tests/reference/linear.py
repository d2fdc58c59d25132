"""Linear systems in Fractions, by elimination as taught in school."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solve(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> list[Fraction]:
    """Return x with matrix x = right; raise ZeroDivisionError if there is not one x."""
    size = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            raise ZeroDivisionError("the matrix is singular")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column][column]
        rows[column] = [x / lead for x in rows[column]]
        for r in range(size):
            factor = rows[r][column]
            if r != column and factor:
                rows[r] = [
                    x - factor * y for x, y in zip(rows[r], rows[column], strict=True)
                ]
    return [row[size] for row in rows]
