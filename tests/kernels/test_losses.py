"""Losses of actions in every model: exact on dyadic numbers, and by all policies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simgap._kernels.solving.losses import backward_losses, discounted_values
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from tests.kernels.inputs import Pattern, patterns, whole

MEMBERS = 3


def several(
    found: Pattern, rng: np.random.Generator
) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return one pattern with the chances of several models, (nnz, M)."""
    chances = rng.integers(0, 17, (found.values.size, MEMBERS)) / 16.0
    return found.indptr, found.indices, chances


def test_losses_are_what_an_action_falls_short_of_the_best() -> None:
    rng = np.random.default_rng(3)
    for found in patterns(3)[::3]:
        indptr, indices, chances = several(found, rng)
        S, A, steps = found.n_states, found.n_actions, 3
        rewards = np.array(whole(rng, S, A, MEMBERS))
        ahead = np.array(whole(rng, S, MEMBERS))
        losses = np.full((steps, S, A, MEMBERS), np.nan)
        model = indptr, indices, chances, rewards, 0.5
        values = ahead.copy()
        sizes = [backward_losses(*model, 1, 3, values, losses)]
        sizes += [backward_losses(*model, 0, 1, values, losses)]
        largest = 0.0
        for h in reversed(range(steps)):
            worth = np.empty((S, A, MEMBERS))
            for s, a, m in np.ndindex(worth.shape):
                row = slice(indptr[s * A + a], indptr[s * A + a + 1])
                after = chances[row, m] @ ahead[indices[row], m]
                worth[s, a, m] = rewards[s, a, m] + 0.5 * after
            ahead = worth.max(axis=1)
            largest = max(largest, float(np.abs(ahead).max()))
            assert (losses[h] == ahead[:, None] - worth).all()
        assert (values == ahead).all()
        assert max(sizes) == largest


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9])
def test_discounted_values_are_those_of_the_best_policy(discount: float) -> None:
    rng = np.random.default_rng(4)
    for found in patterns(4):
        S, A = found.n_states, found.n_actions
        if A**S > 30:
            continue
        indptr, indices, chances = several(found, rng)
        dense = np.zeros((MEMBERS, S, A, S))
        for s, a in np.ndindex(S, A):
            row = slice(indptr[s * A + a], indptr[s * A + a + 1])
            chances[row] += 0.01
            chances[row] /= chances[row].sum(axis=0)
            dense[:, s, a, indices[row]] = chances[row].T
        rewards = np.array(whole(rng, S, A, MEMBERS)) / 7.0
        values, residual = discounted_values(
            indptr, indices, chances, rewards, discount
        )
        for m in range(MEMBERS):
            best: FloatArray = np.full(S, -np.inf)
            for actions in product(range(A), repeat=S):
                chain = dense[m, np.arange(S), actions]
                paid = rewards[np.arange(S), actions, m]
                own = np.linalg.solve(np.eye(S) - discount * chain, paid)
                best = np.maximum(best, own)
            assert values[:, m] == pytest.approx(best, rel=1e-12, abs=1e-12)
            again = (rewards[..., m] + discount * dense[m] @ values[:, m]).max(axis=1)
            change = float(np.abs(again - values[:, m]).max())
            size = float(np.abs(rewards).max()) / (1.0 - discount)
            assert change <= residual + 1e-14 * size
            assert 0.0 <= residual <= 1e-15 * size
