"""Losses of actions: V* - Q* in every model at once, model index innermost."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel(allocates=True)
def backward_losses(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    rewards: FloatArray,
    discount: float,
    first: int,
    last: int,
    values: FloatArray,
    losses: FloatArray,
) -> float:
    """Write what actions fall short of the best, from step `last` - 1 to `first`.

    `values` (S, M) are V at step `last`, and V at step `first` afterwards; the largest
    of all that came between, in size, is returned.
    """
    _, n_states, n_actions, members = losses.shape
    after = np.empty((n_states, members))
    largest = 0.0
    for h in range(last - 1, first - 1, -1):
        for state in range(n_states):
            for m in range(members):
                after[state, m] = values[state, m]
                values[state, m] = -np.inf
        for state in range(n_states):
            best = values[state]
            for action in range(n_actions):
                row = state * n_actions + action
                into = losses[h, state, action]
                for m in range(members):
                    into[m] = 0.0
                for k in range(indptr[row], indptr[row + 1]):
                    t = indices[k]
                    for m in range(members):
                        into[m] += likelihood[k, m] * after[t, m]
                for m in range(members):
                    into[m] = rewards[state, action, m] + discount * into[m]
                    best[m] = max(best[m], into[m])
            for action in range(n_actions):
                into = losses[h, state, action]
                for m in range(members):
                    into[m] = best[m] - into[m]
            for m in range(members):
                largest = max(largest, abs(best[m]))
    return largest


@kernel(allocates=True)
def discounted_values(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    rewards: FloatArray,
    discount: float,
) -> tuple[FloatArray, float]:
    """Return V* (S, M) with a discount, and the largest change of its own backup.

    Sweeps in place until a sweep changes nothing beyond rounding, or no longer less.
    """
    n_states, _, members = rewards.shape
    now = np.zeros((n_states, members))
    total = np.empty(members)
    best = np.empty(members)
    least = np.inf
    stalled = 0
    largest = np.abs(rewards).max() / (1.0 - discount)
    while True:
        change = 0.0
        for state in range(n_states):
            _backup(
                indptr, indices, likelihood, rewards, discount, state, now, total, best
            )
            for m in range(members):
                change = max(change, abs(best[m] - now[state, m]))
                now[state, m] = best[m]
        stalled = stalled + 1 if change >= least else 0
        least = min(least, change)
        if change <= 2e-16 * largest or stalled > 50:
            break
    # the residual of a plain backup of the final values
    residual = 0.0
    for state in range(n_states):
        _backup(indptr, indices, likelihood, rewards, discount, state, now, total, best)
        for m in range(members):
            residual = max(residual, abs(best[m] - now[state, m]))
    return now, residual


@kernel
def _backup(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    rewards: FloatArray,
    discount: float,
    state: int,
    now: FloatArray,
    total: FloatArray,
    best: FloatArray,
) -> None:
    """Write max_a R + discount P V of one state in every model; `total` is scratch."""
    _, n_actions, members = rewards.shape
    best[:] = -np.inf
    for action in range(n_actions):
        row = state * n_actions + action
        total[:] = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            t = indices[k]
            for m in range(members):
                total[m] += likelihood[k, m] * now[t, m]
        for m in range(members):
            best[m] = max(best[m], rewards[state, action, m] + discount * total[m])
