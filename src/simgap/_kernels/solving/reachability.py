"""Who can reach whom: breadth-first searches over the edges some action gives."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel(allocates=True)
def predecessors(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_states: int,
    n_actions: int,
) -> tuple[OffsetArray, IndexArray]:
    """Return for each state the states that some action can bring to it, as CSR."""
    last = np.empty(n_states, np.int64)
    last[:] = -1
    begins = np.zeros(n_states + 1, np.int64)
    for state in range(n_states):
        for k in range(indptr[state * n_actions], indptr[(state + 1) * n_actions]):
            after = indices[k]
            if values[k] > 0.0 and last[after] != state:
                last[after] = state
                begins[after + 1] += 1
    for state in range(n_states):
        begins[state + 1] += begins[state]
    at = begins[:-1].copy()
    sources = np.empty(begins[n_states], np.int32)
    last[:] = -1
    for state in range(n_states):
        for k in range(indptr[state * n_actions], indptr[(state + 1) * n_actions]):
            after = indices[k]
            if values[k] > 0.0 and last[after] != state:
                last[after] = state
                sources[at[after]] = state
                at[after] += 1
    return begins, sources


@kernel(allocates=True)
def backward_order(
    begins: OffsetArray, sources: IndexArray, targets: OffsetArray
) -> OffsetArray:
    """Return the states from which a target can be reached, nearest first."""
    n_states = begins.size - 1
    seen = np.zeros(n_states, np.bool_)
    queue = np.empty(n_states, np.int64)
    head, tail = 0, 0
    for target in targets:
        if not seen[target]:
            seen[target] = True
            queue[tail] = target
            tail += 1
    while head < tail:
        state = queue[head]
        head += 1
        for k in range(begins[state], begins[state + 1]):
            before = sources[k]
            if not seen[before]:
                seen[before] = True
                queue[tail] = before
                tail += 1
    return queue[:tail]


@kernel(allocates=True)
def compact_blocks(
    begins: OffsetArray, sources: IndexArray, targets: OffsetArray, size: int
) -> OffsetArray:
    """Return the targets reordered so that each run of `size` lies close together.

    A run is the first target left and those left that are nearest to it, by a
    backward search that gives up after looking at 64 states per place.
    """
    n_states = begins.size - 1
    left = np.zeros(n_states, np.bool_)
    for target in targets:
        left[target] = True
    seen = np.empty(n_states, np.int64)
    seen[:] = -1
    queue = np.empty(n_states, np.int64)
    out = np.empty(targets.size, np.int64)
    count = 0
    for target in targets:
        if not left[target]:
            continue
        queue[0] = target
        seen[target] = target
        head, tail = 0, 1
        placed = 0
        while head < tail and placed < size and head < 64 * size:
            state = queue[head]
            head += 1
            if left[state]:
                left[state] = False
                out[count] = state
                count += 1
                placed += 1
            for k in range(begins[state], begins[state + 1]):
                before = sources[k]
                if seen[before] != target:
                    seen[before] = target
                    queue[tail] = before
                    tail += 1
    return out


@kernel(allocates=True)
def without_self_loops(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int
) -> tuple[OffsetArray, IndexArray, FloatArray, FloatArray]:
    """Return the kernel without its diagonal and zeros, and the sum of each row left.

    1 - p(s, s) is formed as the sum of the other entries, never by subtraction.
    """
    n_rows = indptr.size - 1
    begins = np.zeros(n_rows + 1, np.int64)
    others = np.empty(indices.size, np.int32)
    kept = np.empty(indices.size)
    leave = np.zeros(n_rows)
    count = 0
    for row in range(n_rows):
        state = row // n_actions
        for k in range(indptr[row], indptr[row + 1]):
            if indices[k] != state and values[k] > 0.0:
                others[count] = indices[k]
                kept[count] = values[k]
                leave[row] += values[k]
                count += 1
        begins[row + 1] = count
    return begins, others[:count].copy(), kept[:count].copy(), leave


@kernel(allocates=True)
def strong_components(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    component: OffsetArray,
) -> int:
    """Write the strongly connected component of each state, return how many there are.

    Tarjan's algorithm without recursion; components are numbered so that edges lead
    to equal or smaller numbers.
    """
    n_states = component.size
    order = np.zeros(n_states, np.int64)  # 0 is unseen
    lowest = np.zeros(n_states, np.int64)
    edge = np.empty(n_states, np.int64)
    path = np.empty(n_states, np.int64)
    stack = np.empty(n_states, np.int64)
    depth = held = count = found = 0
    component[:] = -1
    for root in range(n_states):
        if order[root] != 0:
            continue
        path[0] = root
        depth = 1
        count += 1
        order[root] = lowest[root] = count
        edge[root] = indptr[root * n_actions]
        stack[held] = root
        held += 1
        while depth > 0:
            state = path[depth - 1]
            k = edge[state]
            end = indptr[(state + 1) * n_actions]
            descend = False
            low = lowest[state]
            while k < end:
                after = indices[k]
                if values[k] > 0.0:
                    if order[after] == 0:
                        descend = True
                        break
                    if component[after] < 0 and order[after] < low:
                        low = order[after]
                k += 1
            lowest[state] = low
            edge[state] = k
            if descend:
                count += 1
                order[after] = lowest[after] = count
                edge[after] = indptr[after * n_actions]
                stack[held] = after
                held += 1
                path[depth] = after
                depth += 1
                continue
            if low == order[state]:
                while True:
                    held -= 1
                    member = stack[held]
                    component[member] = found
                    if member == state:
                        break
                found += 1
            depth -= 1
            if depth > 0 and low < lowest[path[depth - 1]]:
                lowest[path[depth - 1]] = low
    return found
