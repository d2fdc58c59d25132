"""The lower side of the gap: backups on nodes whose successors are mixtures."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel
def link_pair_faces(
    state: int,
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    discount: float,
    pair_first: IndexArray,
    pair_second: IndexArray,
    grid: FloatArray,
    state_offsets: OffsetArray,
    term_node: IndexArray,
    term_weight: FloatArray,
) -> None:
    """Write the two terms of each successor of the pair nodes of one state.

    Node (s, p, k) has belief 1 - grid[k] in the first model of pair p and grid[k] in
    the second, 1 <= k < cells; rows hold two terms per successor. A belief between two
    grid points is a mixture of both: concavity makes that a lower bound. A successor
    that is impossible, or a corner, keeps the terms that were there: of weight zero.
    """
    cells = grid.size - 1
    at = 0
    for p in range(pair_first.size):
        i = pair_first[p]
        j = pair_second[p]
        for k in range(1, cells):
            for row in range(state * n_actions, (state + 1) * n_actions):
                for e in range(indptr[row], indptr[row + 1]):
                    one = (1.0 - grid[k]) * likelihood[e, i]
                    two = grid[k] * likelihood[e, j]
                    total = one + two
                    base = state_offsets[indices[e]] + p * (cells - 1) - 1
                    if one > 0.0 and two > 0.0:
                        if likelihood[e, i] == likelihood[e, j]:
                            term_node[at] = base + k
                            term_weight[at] = discount * total
                        else:
                            place = two / total
                            low = 0
                            high = cells
                            while high - low > 1:
                                middle = (low + high) // 2
                                if grid[middle] <= place:
                                    low = middle
                                else:
                                    high = middle
                            part = (place - grid[low]) / (grid[high] - grid[low])
                            if low > 0:
                                term_node[at] = base + low
                                term_weight[at] = discount * total * (1.0 - part)
                            if high < cells:
                                term_node[at + 1] = base + high
                                term_weight[at + 1] = discount * total * part
                    at += 2


@kernel(fastmath=frozenset({"contract", "reassoc", "nsz"}))
def lower_step(
    n_actions: int,
    indptr: OffsetArray,
    losses: FloatArray,
    node_state: IndexArray,
    node_offsets: OffsetArray,
    node_model: IndexArray,
    node_weight: FloatArray,
    row_offsets: OffsetArray,
    terms_each: IndexArray,
    term_node: IndexArray,
    term_weight: FloatArray,
    favourite: IndexArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    """Write min_a { b . loss + sum of terms } for every node; losses are (S, A, M)."""
    for node in range(node_state.size):
        state = node_state[node]
        first = favourite[node]
        best = np.inf
        chosen = first
        each = terms_each[node]
        begin = row_offsets[node]
        origin = indptr[state * n_actions]
        for turn in range(n_actions):
            action = first
            if turn > 0:
                action = turn - 1 if turn <= first else turn
            cost = 0.0
            for x in range(node_offsets[node], node_offsets[node + 1]):
                cost += node_weight[x] * losses[state, action, node_model[x]]
            if cost >= best:
                continue
            row = state * n_actions + action
            low = begin + (indptr[row] - origin) * each
            high = begin + (indptr[row + 1] - origin) * each
            for t in range(low, high):
                cost += term_weight[t] * after[term_node[t]]
            if cost < best:
                best = cost
                chosen = action
        now[node] = best
        favourite[node] = chosen
