"""The upper side of the gap: policy graphs, with gaps of nodes in every model."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray


@kernel(allocates=True, fastmath=frozenset({"contract", "reassoc", "nsz"}))
def upper_step(
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    losses: FloatArray,
    discount: float,
    node_state: IndexArray,
    weights: FloatArray,
    link_offsets: OffsetArray,
    links: IndexArray,
    after: FloatArray,
    now: FloatArray,
    value: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
    changed: IndexArray,
    spare: FloatArray,
    h: int,
    rule_until: IndexArray,
    rule_action: IndexArray,
    rule_next: IndexArray,
    rule_of: OffsetArray,
    rule_limit: OffsetArray,
) -> int:
    """One backward step: the best action and successors at the weights of each node.

    Writes the gap vector of what was chosen to `now`, w . g to `value`, the choice to
    `action_of` and `next_of` (N, longest row). Returns how many choices changed; their
    nodes are listed in `changed`. A choice changes only if that gains more than
    `spare` (N,), so that rules do not flicker.
    """
    members = likelihood.shape[1]
    longest = next_of.shape[1]
    weight = np.empty(members)
    pick = np.empty(longest, np.int32)
    keep = np.empty(longest, np.int32)
    changes = 0
    for node in range(node_state.size):
        state = node_state[node]
        before = action_of[node]
        origin = indptr[state * n_actions]
        best = np.inf
        chosen = -1
        differs = False
        first = max(before, 0)
        for turn in range(n_actions):
            action = first
            if turn > 0:
                action = turn - 1 if turn <= first else turn
            cost = 0.0
            for m in range(members):
                cost += weights[node, m] * losses[state, action, m]
            # a change must pay for itself, or rounding makes rules flicker
            limit = best if chosen < 0 else best * (1.0 - 1e-10) - spare[node]
            if cost >= limit:
                continue
            row = state * n_actions + action
            other = action != before
            for e in range(indptr[row], indptr[row + 1]):
                for m in range(members):
                    weight[m] = discount * weights[node, m] * likelihood[e, m]
                at = link_offsets[node] + e - origin
                least = np.inf
                found = links[at, 0]
                local = e - indptr[row]
                if action == before:  # what was chosen before keeps its place on ties
                    found = next_of[node, local]
                    least = 0.0
                    for m in range(members):
                        least += weight[m] * after[found, m]
                for q in range(links.shape[1]):
                    candidate = links[at, q]
                    if candidate < 0:
                        break
                    dot = 0.0
                    for m in range(members):
                        dot += weight[m] * after[candidate, m]
                    if dot < least * (1.0 - 1e-10) - spare[node] or least == np.inf:
                        least = dot
                        if found != candidate:
                            found = candidate
                            other = True
                cost += least
                pick[local] = found
                if cost >= limit:
                    break
            if cost < limit:
                best = cost
                chosen = action
                differs = other
                for local in range(indptr[row + 1] - indptr[row]):
                    keep[local] = pick[local]
        if rule_of.size > 0:  # what an earlier pass chose at this step
            rule = rule_of[node]
            while rule > rule_limit[node] and rule_until[rule - 1] >= h:
                rule -= 1
            rule_of[node] = rule
            action = rule_action[rule] if rule >= rule_limit[node] else chosen
            limit = (
                best * (1.0 - 1e-10) - spare[node] if rule >= rule_limit[node] else -1.0
            )
            cost = 0.0
            for m in range(members):
                cost += weights[node, m] * losses[state, action, m]
            row = state * n_actions + action
            for local in range(indptr[row + 1] - indptr[row]):
                if cost >= limit:
                    break
                e = indptr[row] + local
                tail = rule_next[rule, local]
                for m in range(members):
                    cost += (
                        discount * weights[node, m] * likelihood[e, m] * after[tail, m]
                    )
            if cost < limit:
                best = cost
                chosen = action
                differs = True
                for local in range(indptr[row + 1] - indptr[row]):
                    keep[local] = rule_next[rule, local]
        value[node] = best
        row = state * n_actions + chosen
        for m in range(members):
            now[node, m] = losses[state, chosen, m]
        for local in range(indptr[row + 1] - indptr[row]):
            e = indptr[row] + local
            tail = keep[local]
            for m in range(members):
                now[node, m] += discount * likelihood[e, m] * after[tail, m]
        if differs or before < 0:
            action_of[node] = chosen
            for local in range(indptr[row + 1] - indptr[row]):
                next_of[node, local] = keep[local]
            changed[changes] = node
            changes += 1
    return changes


@kernel(allocates=True)
def upper_steps(
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    losses: FloatArray,
    node_state: IndexArray,
    weights: FloatArray,
    link_offsets: OffsetArray,
    links: IndexArray,
    after: FloatArray,
    now: FloatArray,
    value: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
    changed: IndexArray,
    part: float,
    h: int,
    most: int,
    rule_until: IndexArray,
    rule_action: IndexArray,
    rule_next: IndexArray,
    rule_of: OffsetArray,
    rule_limit: OffsetArray,
) -> tuple[int, int]:
    """Backward steps from step `h` on, up to one that changes a choice or `most`.

    `losses` are those of all steps (T, S, A, M); to change, a choice has to gain more
    than a `part` of the value. Returns how many steps were made, and how many choices
    changed at the last. The vectors are then in `now` after an odd number of steps, in
    `after` otherwise.
    """
    spare = np.empty(value.size)
    for done in range(most):
        for node in range(value.size):
            spare[node] = part * value[node]
        count = upper_step(
            indptr, likelihood, n_actions, losses[h - done], 1.0, node_state, weights,
            link_offsets, links, after, now, value, action_of, next_of, changed, spare,
            h - done, rule_until, rule_action, rule_next, rule_of, rule_limit,
        )  # fmt: skip
        if count > 0:
            return done + 1, count
        after, now = now, after
    return most, 0


@kernel
def occupancy_step(
    h: int,
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    node_state: IndexArray,
    rule_until: IndexArray,
    rule_action: IndexArray,
    rule_next: IndexArray,
    rule_of: OffsetArray,
    rule_limit: OffsetArray,
    here: FloatArray,
    nodes: IndexArray,
    count: int,
    there: FloatArray,
    reached: IndexArray,
    mark: IndexArray,
) -> int:
    """Move the weights of all models one step along the graph; return nodes reached.

    `here` (N, M) holds the weights of the first `count` of `nodes`; they are set to
    zero again. `rule_of` points at the current rule of each node and moves on.
    """
    members = likelihood.shape[1]
    found = 0
    for q in range(count):
        node = nodes[q]
        rule = rule_of[node]
        while rule + 1 < rule_limit[node] and rule_until[rule] < h:
            rule += 1
        rule_of[node] = rule
        row = node_state[node] * n_actions + rule_action[rule]
        for local in range(indptr[row + 1] - indptr[row]):
            e = indptr[row] + local
            target = rule_next[rule, local]
            if mark[target] != h + 1:
                mark[target] = h + 1
                reached[found] = target
                found += 1
            for m in range(members):
                there[target, m] += here[node, m] * likelihood[e, m]
        for m in range(members):
            here[node, m] = 0.0
    return found


@kernel(allocates=True)
def follow_choices(
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    losses: FloatArray,
    discount: float,
    node_state: IndexArray,
    action_of: IndexArray,
    next_of: IndexArray,
    sweeps: int,
    vectors: FloatArray,
) -> float:
    """Replace vectors by their backups under fixed choices; return the last change."""
    members = likelihood.shape[1]
    total = np.empty(members)
    change = 0.0
    for _ in range(sweeps):
        change = 0.0
        for node in range(node_state.size):
            row = node_state[node] * n_actions + action_of[node]
            for m in range(members):
                total[m] = losses[node_state[node], action_of[node], m]
            for local in range(indptr[row + 1] - indptr[row]):
                e = indptr[row] + local
                tail = next_of[node, local]
                for m in range(members):
                    total[m] += discount * likelihood[e, m] * vectors[tail, m]
            for m in range(members):
                change = max(change, abs(total[m] - vectors[node, m]))
                vectors[node, m] = total[m]
    return change


@kernel(allocates=True)
def reach_nodes(
    indptr: OffsetArray,
    n_actions: int,
    node_state: IndexArray,
    rule_offsets: OffsetArray,
    rule_action: IndexArray,
    rule_next: IndexArray,
    starts: IndexArray,
    used: BoolArray,
) -> None:
    """Mark the nodes that some sequence of rules leads to from the starts."""
    stack = np.empty(node_state.size, np.int32)
    held = 0
    for q in range(starts.size):
        if not used[starts[q]]:
            used[starts[q]] = True
            stack[held] = starts[q]
            held += 1
    while held > 0:
        held -= 1
        node = stack[held]
        for rule in range(rule_offsets[node], rule_offsets[node + 1]):
            row = node_state[node] * n_actions + rule_action[rule]
            for local in range(indptr[row + 1] - indptr[row]):
                target = rule_next[rule, local]
                if not used[target]:
                    used[target] = True
                    stack[held] = target
                    held += 1


@kernel(fastmath=frozenset({"contract", "reassoc", "nsz"}))
def best_vectors(beliefs: FloatArray, vectors: FloatArray, best: OffsetArray) -> None:
    """Write which vector is least at each belief."""
    for q in range(beliefs.shape[0]):
        least = np.inf
        for v in range(vectors.shape[0]):
            dot = 0.0
            for m in range(vectors.shape[1]):
                dot += beliefs[q, m] * vectors[v, m]
            if dot < least:
                least = dot
                best[q] = v
