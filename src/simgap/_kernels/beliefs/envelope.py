"""The least concave function above known points, at many beliefs: a simplex per belief.

G is concave and zero at the corners, so for weights w = sum_k x_k b_k, x >= 0,
G(w) >= sum_k x_k G(b_k). The best such combination is a linear program with one row
per model and one column per node of the state; the simplex method starts from the
corners (x = w, worth nothing) and every basis it visits is already a valid bound. A
node stays in the basis from one call to the next, so that later calls need few pivots.

Columns: node k of a state has the sparse belief `node_model`, `node_weight` in
[node_offsets[k], node_offsets[k + 1]). The first pairs * (cells - 1) nodes of a state
are the pair faces: along one face the values are concave, so that the best node is
found by bisection.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray

NOTHING = 1e-300  # a weight that counts as zero
ENOUGH = 1e-7  # a column that gains less, as a part of what is there, is not entered


@kernel(fastmath=frozenset({"contract", "reassoc", "nsz"}))
def best_mixture(
    weight: FloatArray,
    first: int,
    last: int,
    pair_first: IndexArray,
    pair_second: IndexArray,
    grid: int,
    node_offsets: OffsetArray,
    node_model: IndexArray,
    node_weight: FloatArray,
    values: FloatArray,
    max_pivots: int,
    known: IndexArray,
    inverse: FloatArray,
    rows: FloatArray,
    basis: OffsetArray,
) -> float:
    """Return the value of the best mixture of nodes first..last at `weight` (sum 1).

    `known` holds nodes to enter first (-1: none). On return `basis` (M,) has the nodes
    used (-1: a corner) and `rows[0]` their amounts, which never exceed what is there.
    `rows` (5, M) and `inverse` (M, M) are scratch.
    """
    members = weight.size
    amount = rows[0]
    price = rows[1]
    worth = rows[2]
    column = rows[3]
    used = rows[4]
    pairs = pair_first.size
    for i in range(members):
        for m in range(members):
            inverse[i, m] = 0.0
        inverse[i, i] = 1.0
        amount[i] = weight[i]
        basis[i] = -1
        worth[i] = 0.0
    turn = 0
    while turn < members + max_pivots:
        entering = -1
        if turn < members:
            entering = known[turn]
            turn += 1
            if entering < 0:
                continue
        else:
            turn += 1
            reached = 0.0
            for m in range(members):
                total = 0.0
                for i in range(members):
                    total += worth[i] * inverse[i, m]
                price[m] = total
                reached += worth[m] * amount[m]
            best = ENOUGH * reached + 1e-290
            for p in range(pairs):
                i = pair_first[p]
                j = pair_second[p]
                if weight[i] <= NOTHING or weight[j] <= NOTHING:
                    continue
                base = first + p * grid
                low = 0
                high = grid - 1
                while low < high:
                    middle = (low + high) // 2
                    x = node_offsets[base + middle]
                    y = node_offsets[base + middle + 1]
                    rise = values[base + middle + 1] - values[base + middle]
                    rise -= price[i] * (node_weight[y] - node_weight[x])
                    rise -= price[j] * (node_weight[y + 1] - node_weight[x + 1])
                    if rise > 0.0:
                        low = middle + 1
                    else:
                        high = middle
                x = node_offsets[base + low]
                gain = values[base + low]
                gain -= price[i] * node_weight[x]
                gain -= price[j] * node_weight[x + 1]
                if gain > best:
                    best = gain
                    entering = base + low
            for q in range(first + pairs * grid, last):
                gain = values[q]
                for x in range(node_offsets[q], node_offsets[q + 1]):
                    gain -= price[node_model[x]] * node_weight[x]
                if gain > best:
                    inside = True
                    for x in range(node_offsets[q], node_offsets[q + 1]):
                        if weight[node_model[x]] <= NOTHING and node_weight[x] > 0.0:
                            inside = False
                    if inside:
                        best = gain
                        entering = q
            if entering < 0:
                break
        # the column in terms of the basis, and the row that leaves
        for i in range(members):
            column[i] = 0.0
        for x in range(node_offsets[entering], node_offsets[entering + 1]):
            m = node_model[x]
            for i in range(members):
                column[i] += inverse[i, m] * node_weight[x]
        leaving = -1
        ratio = 1e300
        for i in range(members):
            if column[i] > 1e-10 and amount[i] < ratio * column[i]:
                ratio = amount[i] / column[i]
                leaving = i
        if leaving < 0:
            break
        scale = 1.0 / column[leaving]
        for m in range(members):
            inverse[leaving, m] *= scale
        amount[leaving] = ratio
        for i in range(members):
            if i != leaving and column[i] != 0.0:
                for m in range(members):
                    inverse[i, m] -= column[i] * inverse[leaving, m]
                amount[i] = max(0.0, amount[i] - column[i] * ratio)
        basis[leaving] = entering
        worth[leaving] = values[entering]
    # what is used must not exceed what is there, rounding included
    for m in range(members):
        used[m] = 0.0
    for i in range(members):
        if basis[i] >= 0:
            q = basis[i]
            for x in range(node_offsets[q], node_offsets[q + 1]):
                used[node_model[x]] += amount[i] * node_weight[x]
    fit = 1.0
    for m in range(members):
        if used[m] > weight[m]:
            fit = min(fit, weight[m] / used[m])
    value = 0.0
    for i in range(members):
        amount[i] *= fit
        if basis[i] >= 0:
            value += amount[i] * values[basis[i]]
    return value


@kernel(allocates=True)
def link_rows(
    first_node: int,
    last_node: int,
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    losses: FloatArray,
    prune: float,
    state_offsets: OffsetArray,
    pair_first: IndexArray,
    pair_second: IndexArray,
    grid: int,
    node_state: IndexArray,
    node_offsets: OffsetArray,
    node_model: IndexArray,
    node_weight: FloatArray,
    row_offsets: OffsetArray,
    term_node: IndexArray,
    term_weight: FloatArray,
    values: FloatArray,
    discount: float,
    max_pivots: int,
) -> None:
    """Choose the mixture at every successor of the nodes from first to last.

    Row (n, a) has room for `members` terms per successor; unused terms have weight 0
    and node n itself. Cheap actions come first; one whose own cost is more than `prune`
    times the least sum found so far is not linked: its terms get weight 0, which is
    valid too.
    """
    members = likelihood.shape[1]
    weight = np.empty(members)
    rows = np.empty((5, members))
    inverse = np.empty((members, members))
    basis = np.empty(members, np.int64)
    known = np.empty(members, np.int32)
    costs = np.empty(n_actions)
    for node in range(first_node, last_node):
        state = node_state[node]
        for action in range(n_actions):
            costs[action] = 0.0
            for x in range(node_offsets[node], node_offsets[node + 1]):
                costs[action] += node_weight[x] * losses[state, action, node_model[x]]
        least = np.inf
        for _ in range(n_actions):
            action = int(np.argmin(costs))
            cost = costs[action]
            costs[action] = np.inf
            row = state * n_actions + action
            at = row_offsets[node]
            at += (indptr[row] - indptr[state * n_actions]) * members
            skip = cost > prune * least and least > 0.0
            for k in range(indptr[row], indptr[row + 1]):
                begin = at
                at += members
                total = 0.0
                weight[:] = 0.0
                for x in range(node_offsets[node], node_offsets[node + 1]):
                    m = node_model[x]
                    weight[m] = node_weight[x] * likelihood[k, m]
                    total += weight[m]
                alive = 0
                for m in range(members):
                    if weight[m] > NOTHING:
                        alive += 1
                if skip or alive < 2 or total <= NOTHING:
                    for i in range(members):
                        term_node[begin + i] = node
                        term_weight[begin + i] = 0.0
                    continue
                for m in range(members):
                    weight[m] /= total
                    used = term_weight[begin + m] > 0.0
                    known[m] = term_node[begin + m] if used else -1
                target = indices[k]
                cost += discount * total * best_mixture(
                    weight, state_offsets[target], state_offsets[target + 1],
                    pair_first, pair_second, grid, node_offsets, node_model,
                    node_weight, values, max_pivots, known, inverse, rows, basis,
                )  # fmt: skip
                for i in range(members):
                    if basis[i] >= 0 and rows[0, i] > 0.0:
                        term_node[begin + i] = basis[i]
                        term_weight[begin + i] = discount * total * rows[0, i]
                    else:
                        term_node[begin + i] = node
                        term_weight[begin + i] = 0.0
            least = min(least, cost)
