"""Linear systems of a chain without subtraction (Grassmann, Taksar and Heyman).

(I - P) x = b, P the moves of a policy among the states that are not yet at a target,
is solved by taking states out one by one. The probability of leaving a state is the
sum of its moves, so that no digits are lost however long the chain takes: the
entries of the inverse come out with a small relative error each. Where a product of
chances underflows to 0, or x is beyond the floats, x comes out infinite or NaN.
"""

from __future__ import annotations

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray


@kernel(divides_by_zero=True)
def eliminate(moves: FloatArray, exits: FloatArray) -> None:
    """Factor in place: moves (n, n) among states, exits (n,) to outside them.

    Afterwards row i keeps, left of the diagonal, the moves of state i when its turn
    came, on the diagonal the chance of leaving it, and to the right the shares of its
    inflow that later states passed on.
    """
    n = exits.size
    for out in range(n - 1, -1, -1):
        leave = exits[out]
        for j in range(out):
            leave += moves[out, j]
        moves[out, out] = leave
        for i in range(out):
            inflow = moves[i, out]
            if inflow > 0.0:
                share = inflow / leave
                moves[i, out] = share
                exits[i] += share * exits[out]
                for j in range(out):
                    if j != i:
                        moves[i, j] += share * moves[out, j]


@kernel(divides_by_zero=True)
def solve_eliminated(factor: FloatArray, right: FloatArray) -> None:
    """Solve (I - P) x = right in place, with a factor made by `eliminate`."""
    n = right.size
    for out in range(n - 1, -1, -1):
        for i in range(out):
            if factor[i, out] > 0.0:
                right[i] += factor[i, out] * right[out]
    for state in range(n):
        total = right[state]
        for j in range(state):
            if factor[state, j] > 0.0:
                total += factor[state, j] * right[j]
        right[state] = total / factor[state, state]


@kernel(divides_by_zero=True)
def visits_of_eliminated(factor: FloatArray, visits: FloatArray) -> None:
    """Write the relative visits of a closed class, from its factor without exits.

    State 0 counts 1 and is left when all others are taken out; they are put back one
    by one. Visits are scaled down when they grow large: only ratios matter.
    """
    visits[0] = 1.0
    for state in range(1, visits.size):
        total = 0.0
        for i in range(state):
            if factor[i, state] > 0.0:
                total += visits[i] * factor[i, state]
        visits[state] = total
        if total > 1e200:
            for i in range(state + 1):
                visits[i] /= total
