"""Finite-horizon values by backward induction."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from simgap.arrays import FloatArray
from tests.reference.rational import Kernel, Rewards, Row

Policy = Sequence[Sequence[Row]]  # (H, S, A): the chance of each action


def optimal_values(P: Kernel, R: Rewards, horizon: int) -> list[list[Fraction]]:
    """Return V*_h(s) for h = 1 .. H + 1, as lists (H + 1, S)."""
    S, A = len(P), len(P[0])
    values = [[Fraction(0)] * S]
    for _ in range(horizon):
        after = values[0]
        values.insert(
            0, [max(_q(P, R, after, s, a) for a in range(A)) for s in range(S)]
        )
    return values


def policy_values(P: Kernel, R: Rewards, policy: Policy) -> list[list[Fraction]]:
    """Return V^pi_h(s) of a Markov policy for h = 1 .. H + 1, as lists (H + 1, S)."""
    S, A = len(P), len(P[0])
    values = [[Fraction(0)] * S]
    for chances in reversed(policy):
        after = values[0]
        values.insert(
            0,
            [
                sum(
                    (chances[s][a] * _q(P, R, after, s, a) for a in range(A)),
                    Fraction(0),
                )
                for s in range(S)
            ],
        )
    return values


def optimal_values_in_floats(P: FloatArray, R: FloatArray, horizon: int) -> FloatArray:
    """Return V*_h(s) for h = 1 .. H + 1 by backward induction in numpy."""
    values: FloatArray = np.zeros((horizon + 1, P.shape[0]))
    for h in range(horizon - 1, -1, -1):
        values[h] = (R + P @ values[h + 1]).max(axis=1)
    return values


def deterministic(actions: Sequence[Sequence[int]], n_actions: int) -> Policy:
    """Return a policy (H, S) of action indices as chances (H, S, A)."""
    return [[_always(a, n_actions) for a in step] for step in actions]


def _q(P: Kernel, R: Rewards, after: Row, s: int, a: int) -> Fraction:
    future = (p * v for p, v in zip(P[s][a], after, strict=True) if p)
    return R[s][a] + sum(future, Fraction(0))


def _always(action: int, n_actions: int) -> list[Fraction]:
    return [Fraction(int(a == action)) for a in range(n_actions)]
