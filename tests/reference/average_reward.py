"""Gain and bias: by trying every stationary policy exactly, and by linear program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog

from simgap.arrays import FloatArray
from tests.reference.linear import solve
from tests.reference.rational import Kernel, Rewards, Row


def optimal_gain(P: Kernel, R: Rewards) -> Fraction:
    """Return rho*: the best mean reward over policies and their closed classes.

    In a communicating model every closed class can be reached, so nothing is lost by
    taking the best of them.
    """
    return max(
        _mean_reward(P, R, policy, closed)
        for policy in _policies(P)
        for closed in closed_classes(P, policy)
    )


def policy_gain(P: Kernel, R: Rewards, policy: Sequence[int]) -> list[Fraction]:
    """Return rho^pi(s) for every start: absorption into classes times their means."""
    S = len(P)
    classes = closed_classes(P, policy)
    means = [_mean_reward(P, R, policy, closed) for closed in classes]
    known = {
        s: mean for closed, mean in zip(classes, means, strict=True) for s in closed
    }
    passing = [s for s in range(S) if s not in known]
    if not passing:
        return [known[s] for s in range(S)]
    at = {s: i for i, s in enumerate(passing)}
    matrix = [
        [Fraction(int(s == t)) - P[s][policy[s]][t] for t in passing] for s in passing
    ]
    right = [
        sum((P[s][policy[s]][t] * known[t] for t in known), Fraction(0))
        for s in passing
    ]
    solved = solve(matrix, right)
    return [known[s] if s in known else solved[at[s]] for s in range(S)]


def optimal_gain_and_bias(P: Kernel, R: Rewards) -> tuple[Fraction, list[Fraction]]:
    """Return rho* and a solution of the optimality equation with minimum 0.

    Tries every policy with one closed class; the bias of one of them solves the
    equation, since a communicating model's set of solutions is bounded and a corner of
    it links all optimal classes.
    """
    gain = optimal_gain(P, R)
    for policy in _policies(P):
        if len(closed_classes(P, policy)) > 1:
            continue
        bias = _bias(P, R, policy, gain)
        if bias is not None and not any(equation_defects(P, R, gain, bias)):
            low = min(bias)
            return gain, [value - low for value in bias]
    raise AssertionError("no policy solves the optimality equation: not communicating?")


def equation_defects(
    P: Kernel, R: Rewards, gain: Fraction, bias: Row
) -> list[Fraction]:
    """Return max_a [R + P l](s, a) - l(s) - rho for every s; zero for a solution."""
    S, A = len(P), len(P[0])
    return [max(_surplus(P, R, (gain, bias), s, a) for a in range(A)) for s in range(S)]


def bias_is_unique(P: Kernel, R: Rewards, gain: Fraction, bias: Row) -> bool:
    """Return whether the optimality equation has one solution up to a constant.

    It has one exactly if the recurrent classes of all policies made of tied actions
    hang together (Schweitzer and Federgruen 1978). Counting closed classes of the tied
    actions taken together is not enough: a class that can be left, but need not be,
    is free to move as well.
    """
    S, A = len(P), len(P[0])
    tied = [
        [a for a in range(A) if not _surplus(P, R, (gain, bias), s, a)]
        for s in range(S)
    ]
    together: list[set[int]] = []
    for policy in product(*tied):
        for closed in closed_classes(P, policy):
            met = [group for group in together if group & set(closed)]
            together = [group for group in together if group not in met]
            together.append(set(closed).union(*met))
    return len(together) == 1


def gain_by_linear_program(P: FloatArray, R: FloatArray) -> tuple[float, FloatArray]:
    """Return rho and a bias of: minimise rho, rho + l(s) >= R(s, a) + P l(s, a)."""
    S, A = R.shape
    rows = P.reshape(S * A, S) - np.repeat(np.eye(S), A, axis=0)
    constraints = np.hstack([-np.ones((S * A, 1)), rows])
    cost = np.zeros(S + 1)
    cost[0] = 1.0
    bounds = [(None, None), (0.0, 0.0)] + [(None, None)] * (S - 1)
    answer = linprog(cost, A_ub=constraints, b_ub=-R.reshape(-1), bounds=bounds)
    assert answer.x is not None, answer.message
    bias: FloatArray = np.asarray(answer.x[1:], np.float64)
    return float(answer.x[0]), bias - bias.min()


def closed_classes(P: Kernel, policy: Sequence[int]) -> list[list[int]]:
    """Return the recurrent classes of a policy, each in increasing order."""
    S = len(P)
    reach = [_reachable(P, policy, s) for s in range(S)]
    found = {
        tuple(sorted(reach[s]))
        for s in range(S)
        if all(s in reach[t] for t in reach[s])
    }
    return [list(closed) for closed in sorted(found)]


def _surplus(
    P: Kernel, R: Rewards, solution: tuple[Fraction, Row], s: int, a: int
) -> Fraction:
    gain, bias = solution
    future = (p * x for p, x in zip(P[s][a], bias, strict=True) if p)
    return R[s][a] + sum(future, Fraction(0)) - bias[s] - gain


def _policies(P: Kernel) -> Iterator[tuple[int, ...]]:
    return product(range(len(P[0])), repeat=len(P))


def _reachable(P: Kernel, policy: Sequence[int], start: int) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        s = todo.pop()
        for t, p in enumerate(P[s][policy[s]]):
            if p and t not in seen:
                seen.add(t)
                todo.append(t)
    return seen


def _mean_reward(
    P: Kernel, R: Rewards, policy: Sequence[int], closed: Sequence[int]
) -> Fraction:
    """Return the reward per step inside one closed class, from its stationary law."""
    size = len(closed)
    matrix = [
        [P[s][policy[s]][t] - Fraction(int(s == t)) for s in closed] for t in closed
    ]
    matrix[-1] = [Fraction(1)] * size  # one balance equation is redundant
    right = [Fraction(0)] * (size - 1) + [Fraction(1)]
    law = solve(matrix, right)
    return sum(
        (x * R[s][policy[s]] for x, s in zip(law, closed, strict=True)), Fraction(0)
    )


def _bias(
    P: Kernel, R: Rewards, policy: Sequence[int], gain: Fraction
) -> list[Fraction] | None:
    """Return l with rho + l = R_pi + P_pi l and l = 0 in one recurrent state."""
    S = len(P)
    (closed,) = closed_classes(P, policy)
    anchor = closed[0]
    others = [s for s in range(S) if s != anchor]
    matrix = [
        [Fraction(int(s == t)) - P[s][policy[s]][t] for t in others] for s in others
    ]
    solved = solve(matrix, [R[s][policy[s]] - gain for s in others])
    bias = [Fraction(0)] * S
    for s, value in zip(others, solved, strict=True):
        bias[s] = value
    drift = sum(
        (p * x for p, x in zip(P[anchor][policy[anchor]], bias, strict=True)),
        Fraction(0),
    )
    return bias if R[anchor][policy[anchor]] + drift == gain else None
