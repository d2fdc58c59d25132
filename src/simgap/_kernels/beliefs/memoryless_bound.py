"""Branch and bound over policies with little memory (nodes as in `memoryless`)."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel(allocates=True)
def least_gap(
    indptr: OffsetArray,
    node_state: IndexArray,
    shift: OffsetArray,
    next_node: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    first: FloatArray,
    depth: int,
    known: float,
    limit: int,
    policy: IndexArray,
) -> tuple[float, float, int]:
    """Return a lower bound of the least average gap, the best gap found, and the work.

    A search in depth over the actions of the nodes that carry weight, step by step
    from weights `first` (N, M). Ending at step `depth` < H, an agent who remembers
    everything from there on bounds the rest by two steps of lookahead. With `depth` = H
    the bound is the least gap itself, and its policy is in `policy` (H, N) if it is
    below `known`, the gap of a policy that exists. Work counts lookaheads; beyond
    `limit` the search gives up and the bound is -1.
    """
    steps, n_actions, members = losses.shape[0], losses.shape[2], losses.shape[3]
    nodes = node_state.size
    weights = np.zeros((depth + 1, nodes, members))
    ahead = np.empty((depth + 1, nodes, n_actions))  # loss and lookahead of an action
    paid = np.empty((depth + 1, nodes, n_actions))  # the loss alone
    order = np.zeros((depth + 1, nodes, n_actions), np.int64)
    active = np.zeros((depth + 1, nodes), np.int64)
    count = np.zeros(depth + 1, np.int64)
    rest = np.zeros((depth + 1, nodes + 1))  # least lookahead of active nodes i..
    rank = np.zeros((depth + 1, nodes), np.int64)
    spent = np.zeros((depth + 1, nodes + 1))  # loss paid before node i of step h
    hoped = np.zeros((depth + 1, nodes + 1))  # the same with lookahead within step h
    future = np.empty(members)
    lowest, work = known, 0
    for n in range(nodes):
        for m in range(members):
            weights[0, n, m] = first[n, m]
    h, i, arriving = 0, 0, True
    while True:
        if arriving:  # at step h with its weights: look ahead from every active node
            arriving = False
            count[h] = 0
            for n in range(nodes):
                present = 0.0
                for m in range(members):
                    present += weights[h, n, m]
                if present == 0.0:
                    continue
                active[h, count[h]] = n
                count[h] += 1
                if h >= steps:
                    continue
                work += 1
                s = node_state[n]
                for action in range(n_actions):
                    total = 0.0
                    for m in range(members):
                        total += weights[h, n, m] * losses[h, s, action, m]
                    paid[h, n, action] = total
                    if h + 1 < steps:
                        row = s * n_actions + action
                        for k in range(indptr[row], indptr[row + 1]):
                            t = node_state[next_node[shift[n] + k]]
                            for m in range(members):
                                future[m] = weights[h, n, m] * likelihood[k, m]
                            least = np.inf
                            for later in range(n_actions):
                                cost = 0.0
                                for m in range(members):
                                    cost += future[m] * losses[h + 1, t, later, m]
                                least = min(least, cost)
                            total += least
                    ahead[h, n, action] = total
                    place = action  # actions in order of what they promise
                    while place > 0 and ahead[h, n, order[h, n, place - 1]] > total:
                        order[h, n, place] = order[h, n, place - 1]
                        place -= 1
                    order[h, n, place] = action
            if work > limit:
                return -1.0, known, work
            size = count[h]
            rest[h, size] = 0.0
            for j in range(size):
                n = active[h, size - 1 - j]
                promise = ahead[h, n, order[h, n, 0]] if h < steps else 0.0
                rest[h, size - 1 - j] = rest[h, size - j] + promise
            if h == depth:  # a leaf
                bound = spent[h, 0] + rest[h, 0]
                if bound < lowest:
                    lowest = bound
                    if depth == steps:
                        known = bound
                        for g in range(steps):
                            for j in range(count[g]):
                                n = active[g, j]
                                policy[g, n] = order[g, n, rank[g, j]]
                h -= 1
                i = count[h] - 1
                if h < 0:
                    break
                rank[h, i] += 1
                continue
            i = 0
            rank[h, 0] = 0
            hoped[h, 0] = spent[h, 0]
        if rank[h, i] < n_actions:
            n = active[h, i]
            action = order[h, n, rank[h, i]]
            promise = hoped[h, i] + ahead[h, n, action]
            if promise + rest[h, i + 1] < lowest * (1.0 - 1e-12):
                hoped[h, i + 1] = promise
                spent[h, i + 1] = spent[h, i] + paid[h, n, action]
                if i + 1 < count[h]:
                    i += 1
                    rank[h, i] = 0
                    continue
                for t in range(nodes):
                    for m in range(members):
                        weights[h + 1, t, m] = 0.0
                for j in range(count[h]):
                    n = active[h, j]
                    row = node_state[n] * n_actions + order[h, n, rank[h, j]]
                    for k in range(indptr[row], indptr[row + 1]):
                        t = next_node[shift[n] + k]
                        for m in range(members):
                            weights[h + 1, t, m] += weights[h, n, m] * likelihood[k, m]
                spent[h + 1, 0] = spent[h, count[h]]
                h += 1
                arriving = True
                continue
        i -= 1  # every later action of this node promises more: go back
        if i < 0:
            h -= 1
            if h < 0:
                break
            i = count[h] - 1
        rank[h, i] += 1
    return lowest, known, work
