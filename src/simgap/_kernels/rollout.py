"""Belief-tracking policies: what actions cost at a posterior."""

from __future__ import annotations

import numpy as np
from numba import njit

from simgap.arrays import FloatArray, IndexArray, OffsetArray


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def action_costs(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    vector_set: int,
    last: bool,
    vector_offsets: OffsetArray,
    vectors: FloatArray,
    weights: FloatArray,
    state: int,
    costs: FloatArray,
) -> None:
    """Write loss + discount * tail of every action; losses are those of the step.

    The tail of a successor is the least product of its joint weights with one of its
    vectors, and zero at the last step or if there are none.
    """
    n_states, n_actions, members = losses.shape
    joint = np.empty(members)
    for action in range(n_actions):
        cost = 0.0
        for m in range(members):
            cost += weights[m] * losses[state, action, m]
        costs[action] = cost
        if last or vectors.shape[0] == 0:
            continue
        row = state * n_actions + action
        tails = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            at = vector_set * n_states + indices[k]
            for m in range(members):
                joint[m] = weights[m] * likelihood[k, m]
            least = np.inf
            for v in range(vector_offsets[at], vector_offsets[at + 1]):
                product = 0.0
                for m in range(members):
                    product += joint[m] * vectors[v, m]
                least = min(least, product)
            if least < np.inf:
                tails += least
        costs[action] = cost + discount * tails
