"""Backward induction over a finite horizon, for plans or for 16 models at a time."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_table, copy_vector
from simgap._kernels.solving.lanes import value_step
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel
def wide_backward_steps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """Apply V <- max_a R + P V `steps` times to `now`, in place, for 16 models.

    Values are (nnz, 16), rewards (S A, 16), now (S, 16).
    """
    source = now
    goal = spare
    for _ in range(steps):
        for state in range(now.shape[0]):
            value_step(
                indptr, indices, values, state * n_actions, n_actions, source, state,
                rewards, goal,
            )  # fmt: skip
        source, goal = goal, source
    if steps % 2 == 1:
        copy_table(spare, now)


@kernel
def action_values(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    after: FloatArray,
    out: FloatArray,
) -> None:
    """Write Q = R + P after for every row."""
    for row in range(indptr.size - 1):
        total = rewards[row]
        for k in range(indptr[row], indptr[row + 1]):
            total += values[k] * after[indices[k]]
        out[row] = total


@kernel(allocates=True)
def greedy_backward_step(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    slack: float,
    after: FloatArray,
    now: FloatArray,
    policy: IndexArray,
) -> None:
    """One step with its policy: the first action within `slack` of the best."""
    totals = np.empty(n_actions)
    for state in range(now.size):
        top = -np.inf
        for action in range(n_actions):
            row = state * n_actions + action
            total = rewards[row]
            for k in range(indptr[row], indptr[row + 1]):
                total += values[k] * after[indices[k]]
            totals[action] = total
            top = max(top, total)
        now[state] = top
        for action in range(n_actions):
            if totals[action] >= top - slack:
                policy[state] = action
                break


@kernel
def greedy_backward_steps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    slack: float,
    first: int,
    last: int,
    table: FloatArray,
    policy: IndexArray,
) -> None:
    """Fill in V (H + 1, S) and a policy (H, S) from step `last` - 1 back to `first`.

    Ties are within `slack` for each step that is left.
    """
    horizon = policy.shape[0]
    for step in range(last - 1, first - 1, -1):
        greedy_backward_step(
            indptr, indices, values, rewards, n_actions, slack * (horizon - step),
            table[step + 1], table[step], policy[step],
        )  # fmt: skip


@kernel
def follow_actions(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    policy: IndexArray,
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """Apply V <- R_pi + P_pi V `steps` times for deterministic actions (S,)."""
    source = now
    goal = spare
    for _ in range(steps):
        for state in range(now.size):
            row = state * n_actions + policy[state]
            total = rewards[row]
            for k in range(indptr[row], indptr[row + 1]):
                total += values[k] * source[indices[k]]
            goal[state] = total
        source, goal = goal, source
    if steps % 2 == 1:
        copy_vector(spare, now)


@kernel
def follow_mixture(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    policy: FloatArray,
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """The same for action probabilities (S, A)."""
    source = now
    goal = spare
    for _ in range(steps):
        for state in range(now.size):
            mean = 0.0
            for action in range(n_actions):
                weight = policy[state, action]
                if weight > 0.0:
                    row = state * n_actions + action
                    total = rewards[row]
                    for k in range(indptr[row], indptr[row + 1]):
                        total += values[k] * source[indices[k]]
                    mean += weight * total
            goal[state] = mean
        source, goal = goal, source
    if steps % 2 == 1:
        copy_vector(spare, now)
