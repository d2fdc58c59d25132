"""Models in exact arithmetic: the common language of the slow twins and of Storm.

A kernel is P[s][a][t] and rewards are R[s][a], nested sequences of Fractions. Nothing
here is fast; everything here can be checked by reading it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.mdp import Details, IndexOrder, TabularMDP, mdp_from_arrays

Row = Sequence[Fraction]
Kernel = Sequence[Sequence[Row]]  # (S, A, S)
Rewards = Sequence[Row]  # (S, A)


@final
@dataclass(frozen=True, slots=True)
class RationalMDP:
    """One model whose numbers are Fractions."""

    transitions: tuple[tuple[tuple[Fraction, ...], ...], ...]  # (S, A, S)
    rewards: tuple[tuple[Fraction, ...], ...]  # (S, A)

    @property
    def n_states(self) -> int:
        return len(self.transitions)

    @property
    def n_actions(self) -> int:
        return len(self.transitions[0])

    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """Return P and R rounded to floats."""
        P = np.array(
            [[[float(p) for p in row] for row in pair] for pair in self.transitions]
        )
        R = np.array([[float(r) for r in row] for row in self.rewards])
        return P, R

    def simulator(self, start: int = 0) -> TabularMDP:
        """Return the model as simgap stores it."""
        P, R = self.arrays()
        order = IndexOrder.STATE_ACTION
        return mdp_from_arrays(P, R, order=order, details=Details(start=start))


def frozen(transitions: Kernel, rewards: Rewards) -> RationalMDP:
    """Return a RationalMDP from nested lists; rows must sum to exactly 1."""
    for s, pair in enumerate(transitions):
        for a, row in enumerate(pair):
            if sum(row) != 1 or min(row) < 0:
                raise ValueError(f"row (s={s}, a={a}) is not a distribution: {row}")
    return RationalMDP(
        tuple(tuple(tuple(row) for row in pair) for pair in transitions),
        tuple(tuple(row) for row in rewards),
    )


def stored(model: TabularMDP) -> RationalMDP:
    """Return a stored model in Fractions, each row divided by its exact sum."""
    P = model.transitions.array(0)
    S, A = model.n_states, model.n_actions
    kernel = []
    for s in range(S):
        rows = [[Fraction(float(p)) for p in P[s, a]] for a in range(A)]
        kernel.append([[p / sum(row) for p in row] for row in rows])
    rewards = [[Fraction(float(r)) for r in row] for row in model.rewards]
    return frozen(kernel, rewards)


def random_row(
    rng: np.random.Generator, support: Sequence[int], states: int, denominator: int
) -> list[Fraction]:
    """Return a law k / denominator that is positive exactly on `support`."""
    parts = [1] * len(support)
    for _ in range(denominator - len(support)):
        parts[int(rng.integers(len(support)))] += 1
    row = [Fraction(0)] * states
    for state, part in zip(support, parts, strict=True):
        row[state] = Fraction(part, denominator)
    return row


def dense_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """Every pair leads everywhere."""
    return _model(rng, S, A, n, lambda s, a: list(range(S)))


def sparse_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """A pair leads to one to three states; action 0 can always move on to s + 1."""

    def support(s: int, a: int) -> list[int]:
        size = min(S, int(rng.integers(1, 4)))
        chosen = {int(t) for t in rng.choice(S, size, replace=False)}
        return sorted(chosen | ({(s + 1) % S} if a == 0 else set()))

    return _model(rng, S, A, n, support)


def periodic_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """States come in p layers visited in turn, so that plain value iteration cycles."""
    period = next(p for p in range(min(2, S), S + 1) if S % p == 0)

    def support(s: int, a: int) -> list[int]:
        layer = [t for t in range(S) if (t - s - 1) % period == 0]
        size = min(len(layer), int(rng.integers(1, 4)))
        chosen = {int(t) for t in rng.choice(layer, size, replace=False)}
        return sorted(chosen | ({(s + 1) % S} if a == 0 else set()))

    return _model(rng, S, A, n, support)


def tied_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """Few distinct rewards and repeated actions: many optimal policies."""
    base = sparse_model(rng, S, A, n)
    coarse = [[Fraction(int(rng.integers(2))) for _ in range(A)] for _ in range(S)]
    kernel = [list(pair) for pair in base.transitions]
    for s in range(S):
        if A > 1 and rng.random() < 0.5:
            kernel[s][A - 1] = kernel[s][0]
            coarse[s][A - 1] = coarse[s][0]
    return frozen(kernel, coarse)


def slow_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """A river: up with probability 1/n only, down or stay otherwise."""
    step = Fraction(1, n)
    kernel = []
    for s in range(S):
        up, down = min(s + 1, S - 1), max(s - 1, 0)
        rows = []
        for a in range(A):
            row = [Fraction(0)] * S
            if a == 0:
                row[down] += 1
            else:
                row[up] += step * a
                row[s] += (1 - step * a) / 2
                row[down] += (1 - step * a) / 2
            rows.append(row)
        if A == 1:
            rows[0] = [Fraction(0)] * S
            rows[0][up] += step
            rows[0][down] += 1 - step
        kernel.append(rows)
    return frozen(kernel, _rewards(rng, S, A))


def scattered_model(rng: np.random.Generator, S: int, A: int, n: int) -> RationalMDP:
    """One or two successors at random: usually not communicating."""

    def support(s: int, a: int) -> list[int]:
        size = min(S, int(rng.integers(1, 3)))
        return sorted(int(t) for t in rng.choice(S, size, replace=False))

    return _model(rng, S, A, n, support)


Family = Callable[[np.random.Generator, int, int, int], RationalMDP]
COMMUNICATING: tuple[Family, ...] = (
    dense_model,
    sparse_model,
    periodic_model,
    tied_model,
    slow_model,
)


def _model(
    rng: np.random.Generator,
    S: int,
    A: int,
    n: int,
    support: Callable[[int, int], list[int]],
) -> RationalMDP:
    kernel = [
        [random_row(rng, support(s, a), S, n) for a in range(A)] for s in range(S)
    ]
    return frozen(kernel, _rewards(rng, S, A))


def _rewards(rng: np.random.Generator, S: int, A: int) -> list[list[Fraction]]:
    return [[Fraction(int(rng.integers(9)), 8) for _ in range(A)] for _ in range(S)]
