"""From the tree of beliefs to the nodes and rules of a policy graph."""

from __future__ import annotations

from simgap._kernels.compiled import kernel
from simgap.arrays import AnyArray, BoolArray, IndexArray, OffsetArray


@kernel
def linked_plans(
    indptr: OffsetArray,
    indices: IndexArray,
    n_actions: int,
    begin: int,
    end: int,
    state: IndexArray,
    first_link: OffsetArray,
    links: IndexArray,
    out: BoolArray,
) -> None:
    """Mark the plans (support, state) that nodes of one step lead to."""
    for node in range(begin, end):
        first = indptr[state[node] * n_actions]
        for k in range(first, indptr[(state[node] + 1) * n_actions]):
            child = links[first_link[node] + k - first]
            if child <= -2:
                out[-2 - child, indices[k]] = True


@kernel
def first_steps(
    indptr: OffsetArray,
    indices: IndexArray,
    n_actions: int,
    settled: AnyArray,
    plan_next: IndexArray,
    corner: IndexArray,
    layers: OffsetArray,
    state: IndexArray,
    action: IndexArray,
    on_path: BoolArray,
    first_link: OffsetArray,
    links: IndexArray,
    first: IndexArray,
) -> None:
    """Lower `first` (supports, S) to the first step at which a plan can be followed."""
    steps = settled.shape[1]
    for h in range(steps):
        if h + 1 < steps:
            for node in range(layers[h], layers[h + 1]):
                if on_path[node]:
                    s = state[node]
                    row, base = s * n_actions + action[node], indptr[s * n_actions]
                    for k in range(indptr[row], indptr[row + 1]):
                        child = links[first_link[node] + k - base]
                        there = corner[k] if child == -1 else -2 - child
                        if child < 0 and there >= 0:
                            t = indices[k]
                            first[there, t] = min(first[there, t], h + 1)
        for support in range(first.shape[0]):
            for s in range(first.shape[1]):
                if first[support, s] <= h and settled[support, h, s] >= 0:
                    row = s * n_actions + settled[support, h, s]
                    for k in range(indptr[row], indptr[row + 1]):
                        there = plan_next[support, k]
                        if there >= 0:
                            t = indices[k]
                            first[there, t] = min(first[there, t], h + 1)


@kernel
def tree_rules(
    indptr: OffsetArray,
    indices: IndexArray,
    n_actions: int,
    corner: IndexArray,
    layers: OffsetArray,
    state: IndexArray,
    action: IndexArray,
    first_link: OffsetArray,
    links: IndexArray,
    number: IndexArray,
    plan_number: IndexArray,
    next_offsets: OffsetArray,
    next_node: IndexArray,
) -> None:
    """Write the successors of the rules of nodes with `number` >= 0, -1 at the end."""
    steps = layers.size - 1
    for h in range(steps):
        for node in range(layers[h], layers[h + 1]):
            if number[node] < 0:
                continue
            s = state[node]
            row, base = s * n_actions + action[node], indptr[s * n_actions]
            at = next_offsets[number[node]]
            for k in range(indptr[row], indptr[row + 1]):
                if h + 1 < steps:
                    child = links[first_link[node] + k - base]
                    there = corner[k] if child == -1 else -2 - child
                    if child >= 0:
                        next_node[at] = number[child]
                    elif there >= 0:
                        next_node[at] = plan_number[there, indices[k]]
                    else:
                        next_node[at] = -1
                else:
                    next_node[at] = -1
                at += 1
