"""Elimination without subtraction against Fractions: a small relative error each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.solving.linear_systems import eliminate, solve_eliminated
from simgap.arrays import FloatArray
from tests.reference.linear import solve


def chain(
    rng: np.random.Generator, n: int, density: float, exit_scale: float
) -> tuple[FloatArray, FloatArray]:
    """Moves without diagonal and exits; a path 0 <- 1 <- ... keeps it proper."""
    moves = rng.random((n, n)) * (rng.random((n, n)) < density)
    for i in range(1, n):
        moves[i, i - 1] = rng.random() + 0.1
    np.fill_diagonal(moves, 0.0)
    exits = np.where(rng.random(n) < 0.3, rng.random(n), 0.0) * exit_scale
    exits[0] = exit_scale
    total = moves.sum(axis=1) + exits
    return moves / (2.0 * total[:, None]), exits / (2.0 * total)


def exact_solution(
    moves: FloatArray, exits: FloatArray, right: FloatArray
) -> list[Fraction]:
    """Solve with 1 - p(s, s) as the exact sum of what leaves s."""
    n = exits.size
    matrix = []
    for i in range(n):
        off = [Fraction(float(x)) for x in moves[i]]
        leave = sum(off, Fraction(float(exits[i])))
        matrix.append([leave if i == j else -off[j] for j in range(n)])
    return solve(matrix, [Fraction(float(x)) for x in right])


@pytest.mark.parametrize("n", [1, 2, 3, 6, 10])
@pytest.mark.parametrize("exit_scale", [1.0, 1e-6, 1e-12])
def test_times_have_a_small_relative_error_however_rare_the_exit(
    n: int, exit_scale: float
) -> None:
    """No subtraction: the error is a few roundings per state taken out (here 5 n)."""
    rng = np.random.default_rng(31 + n)
    for density in (0.1, 0.5, 1.0):
        moves, exits = chain(rng, n, density, exit_scale)
        right = rng.random(n)
        wanted = exact_solution(moves, exits, right)
        factor, found = moves.copy(), right.copy()
        eliminate(factor, exits.copy())
        solve_eliminated(factor, found)
        for x, y in zip(found, wanted, strict=True):
            assert abs(Fraction(float(x)) - y) <= 5 * n * Fraction(2.0**-53) * abs(y)
        again = right.copy()
        solve_eliminated(factor, again)  # a factor can be used any number of times
        assert (again == found).all()


def test_the_digits_that_lu_loses_are_kept() -> None:
    """Up 1/5, down 2/5, 40 states: times of 5e12, of which LU has few digits right."""
    n = 39
    moves, exits = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        if i > 0:
            moves[i, i - 1] = 0.4
        if i < n - 1:
            moves[i, i + 1] = 0.2
    exits[-1] = 0.2
    climb = [Fraction(0)]
    up, down = Fraction(0.2), Fraction(0.4)
    for i in range(n):
        climb.append((1 + (down * climb[-1] if i else 0)) / up)
    wanted = sum(climb, Fraction(0))
    leave = moves.sum(axis=1) + exits
    naive = np.linalg.solve(np.diag(leave) - moves, np.ones(n))[0]
    factor, found = moves.copy(), np.ones(n)
    eliminate(factor, exits.copy())
    solve_eliminated(factor, found)
    assert abs(Fraction(float(naive)) / wanted - 1) > 1e-8
    assert abs(Fraction(float(found[0])) / wanted - 1) < 1e-14
