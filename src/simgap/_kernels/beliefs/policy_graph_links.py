"""Where nodes of a policy graph may lead: candidates for every successor."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel
def link_corners_and_pairs(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    prior: FloatArray,
    pair_first: IndexArray,
    pair_second: IndexArray,
    levels: FloatArray,
    state_offsets: OffsetArray,
    link_offsets: OffsetArray,
    width: int,
    links: IndexArray,
) -> None:
    """Write the candidates of corner nodes (s, i) and of pair nodes (s, p, level).

    A corner stays a corner. A pair node goes to one of the two levels of log-odds
    around the posterior, or commits to one of the two models. Where both models give
    the successor no chance, the corner of the likeliest model takes over.
    """
    n_states = state_offsets.size - 1
    members = likelihood.shape[1]
    count = levels.size
    for state in range(n_states):
        for local in range(members + pair_first.size * count):
            node = state_offsets[state] + local
            at = link_offsets[node]
            for row in range(state * n_actions, (state + 1) * n_actions):
                for e in range(indptr[row], indptr[row + 1]):
                    target = state_offsets[indices[e]]
                    for q in range(width):
                        links[at, q] = -1
                    if local < members:
                        links[at, 0] = target + local
                    else:
                        p = (local - members) // count
                        level = (local - members) % count
                        i = pair_first[p]
                        j = pair_second[p]
                        one = likelihood[e, i]
                        two = likelihood[e, j]
                        if one > 0.0 and two > 0.0:
                            place = levels[level] + np.log(two / one)
                            high = 0
                            while high < count and levels[high] < place:
                                high += 1
                            base = target + members + p * count
                            if one == two:
                                high = level
                            links[at, 0] = base + max(min(high, count - 1), 0)
                            links[at, 1] = base + max(min(high - 1, count - 1), 0)
                            links[at, 2] = target + i
                            links[at, 3] = target + j
                            if links[at, 0] == links[at, 1] or one == two:
                                links[at, 1] = links[at, 3]
                                links[at, 3] = -1
                        elif one > 0.0:
                            links[at, 0] = target + i
                        elif two > 0.0:
                            links[at, 0] = target + j
                        else:
                            likely = 0
                            for m in range(1, members):
                                if likelihood[e, m] * (prior[m] + 1e-12) > likelihood[
                                    e, likely
                                ] * (prior[likely] + 1e-12):
                                    likely = m
                            links[at, 0] = target + likely
                    at += 1


@kernel(allocates=True, fastmath=frozenset({"contract", "reassoc", "nsz"}))
def link_points(
    first_node: int,
    last_node: int,
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    losses: FloatArray,
    prune: float,
    state_offsets: OffsetArray,
    node_state: IndexArray,
    beliefs: FloatArray,
    link_offsets: OffsetArray,
    links: IndexArray,
    transposed: FloatArray,
    value: FloatArray,
) -> None:
    """Put the best node of the successor in front of the candidates of each point.

    Every node of the successor state is tried: the least w . g. `transposed` holds
    the vectors model by model, (M, N). Candidates found before move back by one.
    """
    members = likelihood.shape[1]
    width = links.shape[1]
    weight = np.empty(members)
    longest = 0
    for state in range(state_offsets.size - 1):
        longest = max(longest, state_offsets[state + 1] - state_offsets[state])
    dots = np.empty(longest)
    for node in range(first_node, last_node):
        state = node_state[node]
        at = link_offsets[node]
        for action in range(n_actions):
            row = state * n_actions + action
            cost = 0.0
            for m in range(members):
                cost += beliefs[node, m] * losses[state, action, m]
            skip = cost > prune * value[node]
            for e in range(indptr[row], indptr[row + 1]):
                target = indices[e]
                first = state_offsets[target]
                many = state_offsets[target + 1] - first
                total = 0.0
                for m in range(members):
                    weight[m] = beliefs[node, m] * likelihood[e, m]
                    total += weight[m]
                if total <= 0.0 or skip:
                    if links[at, 0] < 0:
                        likely = 0
                        for m in range(1, members):
                            here = weight[m] + 1e-30 * likelihood[e, m]
                            if here > weight[likely] + 1e-30 * likelihood[e, likely]:
                                likely = m
                        links[at, 0] = first + likely
                    at += 1
                    continue
                for q in range(many):
                    dots[q] = 0.0
                for m in range(members):
                    w = weight[m]
                    if w > 0.0:
                        column = transposed[m, first : first + many]
                        for q in range(many):
                            dots[q] += w * column[q]
                least = np.inf
                best = 0
                for q in range(many):
                    if dots[q] < least:
                        least = dots[q]
                        best = q
                best += first
                if links[at, 0] != best:
                    # move the others back; if it was among them, close its place
                    place = width - 1
                    for q in range(width):
                        if links[at, q] == best:
                            place = q
                            break
                    for q in range(place, 0, -1):
                        links[at, q] = links[at, q - 1]
                    links[at, 0] = best
                at += 1
