"""The tree of beliefs an agent can have: forward by evidence, backward by losses.

A node is (step, state, support, counts): which models are still possible, and how often
each class of evidence was seen among them. Node i of step h has links, one per column
of the rows of its state:

    links[j] >= 0    the node of step h + 1
    links[j] == -1   no model allows it
    links[j] <= -2   settled: support -2 - links[j] has a plan that loses nothing
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray

FAINT = 1e-250  # a belief that a few more steps could make underflow
DONE, FULL, UNKNOWN_SUPPORT, UNKNOWN_SWAP = 0, 1, 2, 3


@kernel(allocates=True)
def expand(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    pattern_of: IndexArray,
    share: FloatArray,
    next_support: IndexArray,
    code: IndexArray,
    example: IndexArray,
    settled: AnyArray,
    orbit: IndexArray,
    pair: IndexArray,
    column_swap: IndexArray,
    swap_support: IndexArray,
    odd: AnyArray,
    h: int,
    node: int,
    stop: int,
    next_layer: int,
    support: IndexArray,
    state: IndexArray,
    counts: AnyArray,
    belief: FloatArray,
    first_link: OffsetArray,
    links: IndexArray,
    place: AnyArray,
    table: IndexArray,
    used: OffsetArray,
) -> tuple[int, int, int, int]:
    """Add the successors of nodes `node` to `stop`; `used` is (nodes, links).

    Returns (reason, next node to do, support, pattern or pair): it stops early if an
    array is full or if the support after a pattern of columns, or after a swap of two
    members, is not yet known. Called again it does the node again: what it has added
    for it is found by hashing.

    Beliefs are those of the first way in, times the likelihood; where they are close
    to underflow they are computed from the counts.

    With exchangeable members (`column_swap` has rows) the belief of a new node is
    sorted within orbits, and `place[link, m]` is where the member m has gone.
    """
    n_states = (indptr.size - 1) // n_actions
    members = likelihood.shape[1]
    classes = counts.shape[1]
    scratch = np.zeros(classes, np.int64)
    swapped = np.zeros(classes, np.int64)
    weight = np.empty(members)
    symmetric = column_swap.shape[0] > 0
    slots = np.uint64(table.size - 1)
    while node < stop:
        s = state[node]
        here = support[node]
        begin, end = indptr[s * n_actions], indptr[(s + 1) * n_actions]
        width = end - begin
        if (
            used[0] + width > state.size
            or used[1] + width > links.size
            or 2 * (used[0] + width - next_layer) > table.size
        ):
            return FULL, node, -1, -1
        for k in range(begin, end):
            if next_support[here, pattern_of[k]] == -2:
                return UNKNOWN_SUPPORT, node, here, pattern_of[k]
        first_link[node] = used[1]
        faint = False
        for m in range(members):
            if belief[node, m] < FAINT and share[here, m] > 0.0:
                faint = True
        for k in range(begin, end):
            at = used[1] + k - begin
            there = next_support[here, pattern_of[k]]
            if there < 0:
                links[at] = -1
                continue
            t = indices[k]
            if settled[there, h + 1, t] >= 0:
                links[at] = -2 - there
                continue
            mass = 0.0
            for m in range(members):
                weight[m] = belief[node, m] * likelihood[k, m]
                mass += weight[m]
            if mass <= 0.0:  # underflow: too unlikely to matter in any number
                links[at] = -1
                continue
            if there == here:
                for c in range(classes):
                    scratch[c] = counts[node, c]
            else:  # classes of the old support as classes of the new
                for c in range(classes):
                    scratch[c] = 0
                for c in range(classes):
                    if counts[node, c] != 0:
                        new = code[there, example[here, c]]
                        if new > 0:
                            scratch[new - 1] += counts[node, c]
                        elif new < 0:
                            scratch[-new - 1] -= counts[node, c]
            new = code[there, k]
            if new > 0:
                scratch[new - 1] += 1
            elif new < 0:
                scratch[-new - 1] -= 1
            if symmetric:
                for m in range(members):
                    place[at, m] = m
                for i in range(members):
                    best = i
                    for j in range(i + 1, members):
                        # a margin, so that rounding does not reorder equal weights
                        if (
                            orbit[j] == orbit[i]
                            and weight[j] > 1.000000001 * weight[best]
                        ):
                            best = j
                    if best == i:
                        continue
                    p = pair[i, best]
                    image = swap_support[there, p]
                    if image == -2:
                        return UNKNOWN_SWAP, node, there, p
                    for c in range(classes):
                        swapped[c] = 0
                    for c in range(classes):
                        if scratch[c] != 0:
                            new = code[image, column_swap[p, example[there, c]]]
                            if new > 0:
                                swapped[new - 1] += scratch[c]
                            elif new < 0:
                                swapped[-new - 1] -= scratch[c]
                    for c in range(classes):
                        scratch[c] = swapped[c]
                    there = image
                    weight[i], weight[best] = weight[best], weight[i]
                    for m in range(members):
                        if place[at, m] == i:
                            place[at, m] = best
                        elif place[at, m] == best:
                            place[at, m] = i
            key = np.uint64(there * n_states + t + 1) * np.uint64(0x9E3779B97F4A7C15)
            for c in range(classes):
                key += np.uint64(scratch[c]) * odd[c]
            key ^= key >> np.uint64(29)
            key *= np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(32)
            slot = key & slots
            found = -1
            while table[slot] >= 0:
                other = table[slot]
                same = state[other] == t and support[other] == there
                if same:
                    for c in range(classes):
                        if counts[other, c] != scratch[c]:
                            same = False
                            break
                if same:
                    found = other
                    break
                slot = (slot + np.uint64(1)) & slots
            if found < 0:
                found = used[0]
                used[0] += 1
                table[slot] = found
                state[found] = t
                support[found] = there
                for c in range(classes):
                    counts[found, c] = scratch[c]
                if faint:  # evidence may cancel: then what has underflowed returns
                    top = -np.inf
                    for m in range(members):
                        weight[m] = -np.inf
                        if share[there, m] > 0.0:
                            weight[m] = np.log(share[there, m])
                            for c in range(classes):
                                if scratch[c] != 0:
                                    chance = likelihood[example[there, c], m]
                                    weight[m] += scratch[c] * np.log(chance)
                        top = max(top, weight[m])
                    mass = 0.0
                    for m in range(members):
                        weight[m] = np.exp(weight[m] - top)
                        mass += weight[m]
                for m in range(members):
                    belief[found, m] = weight[m] / mass
            links[at] = found
        used[1] += width
        node += 1
    return DONE, node, -1, -1


@kernel
def rehash(
    odd: AnyArray,
    n_states: int,
    begin: int,
    end: int,
    support: IndexArray,
    state: IndexArray,
    counts: AnyArray,
    table: IndexArray,
) -> None:
    """Write the nodes `begin` to `end` into an empty hash table."""
    classes = counts.shape[1]
    slots = np.uint64(table.size - 1)
    for node in range(begin, end):
        place = support[node] * n_states + state[node] + 1
        key = np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
        for c in range(classes):
            key += np.uint64(np.int64(counts[node, c])) * odd[c]
        key ^= key >> np.uint64(29)
        key *= np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
        slot = key & slots
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & slots
        table[slot] = node


@kernel(allocates=True)
def backward(
    indptr: OffsetArray,
    likelihood: FloatArray,
    losses: FloatArray,
    last: bool,
    absolute: float,
    close: float,
    relative: float,
    begin: int,
    end: int,
    state: IndexArray,
    belief: FloatArray,
    first_link: OffsetArray,
    links: IndexArray,
    value: FloatArray,
    action: IndexArray,
    tied: AnyArray,
) -> int:
    """Write G, the lowest optimal action and all tied ones for nodes of one step.

    Tied are sums within `absolute` of the least; the action taken is within `close`.
    Returns how many actions are tied but not to the last bit.
    """
    n_actions, members = losses.shape[1], losses.shape[2]
    each = np.empty(n_actions)
    uncertain = 0
    for node in range(begin, end):
        s = state[node]
        base = indptr[s * n_actions]
        least = np.inf
        for a in range(n_actions):
            total = 0.0
            for m in range(members):
                total += belief[node, m] * losses[s, a, m]
            if not last:
                row = s * n_actions + a
                for k in range(indptr[row], indptr[row + 1]):
                    child = links[first_link[node] + k - base]
                    if child >= 0:
                        mass = 0.0
                        for m in range(members):
                            mass += belief[node, m] * likelihood[k, m]
                        total += mass * value[child]
            each[a] = total
            least = min(least, total)
        value[node] = least
        bar = least + relative * least
        chosen = -1
        for a in range(n_actions):
            tied[node, a] = each[a] <= bar + absolute
            if tied[node, a] and each[a] != least:
                uncertain += 1
            if chosen < 0 and each[a] <= bar + close:
                chosen = a
        action[node] = chosen
    return uncertain
