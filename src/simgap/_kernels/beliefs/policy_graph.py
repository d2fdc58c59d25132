"""Gaps of a policy graph in every model, backwards over the rules that hold.

A gap that is not a number means that the model can come where the graph has no rule.
It spreads only along steps that the model can take: a likelihood of zero hides it.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_table
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray


@kernel(allocates=True)
def most_rules_at_once(since: IndexArray, until: IndexArray, horizon: int) -> int:
    """Return how many rules hold at the step at which most do."""
    change = np.zeros(horizon + 1, np.int64)
    for rule in range(since.size):
        change[since[rule]] += 1
        change[until[rule] + 1] -= 1
    most = 0
    now = 0
    for h in range(horizon):
        now += change[h]
        most = max(most, now)
    return most


@kernel(allocates=True)
def graph_backward(
    indptr: OffsetArray,
    likelihood: FloatArray,
    losses: FloatArray,
    node_state: IndexArray,
    rule_node: IndexArray,
    since: IndexArray,
    until: IndexArray,
    actions: IndexArray,
    next_offsets: OffsetArray,
    next_node: IndexArray,
    by_until: OffsetArray,
    most: int,
) -> tuple[IndexArray, FloatArray]:
    """Return the nodes with a rule at the first step, and their gaps in every model.

    `by_until` lists the rules by falling `until`; `most` is the number of rules that
    hold at once. Only values of rules that hold are kept, so that the memory needed is
    that of two steps. `slot` says where the value of a node is; it is right exactly if
    the node stands at that place, so that nothing has to be cleared between steps.
    """
    horizon, _, n_actions, members = losses.shape
    nodes = node_state.size
    active = np.empty(most, np.int64)
    held = 0
    upcoming = 0
    slot = np.zeros(nodes, np.int32)
    slot_after = np.zeros(nodes, np.int32)
    placed = np.empty(most, np.int32)
    placed_after = np.empty(most, np.int32)
    count_after = 0
    values = np.empty((most, members))
    values_after = np.empty((most, members))
    for h in range(horizon - 1, -1, -1):
        while upcoming < by_until.size and until[by_until[upcoming]] == h:
            active[held] = by_until[upcoming]
            held += 1
            upcoming += 1
        for i in range(held):
            rule = active[i]
            node = rule_node[rule]
            state = node_state[node]
            action = actions[rule]
            slot[node] = i
            placed[i] = node
            into = values[i]
            for m in range(members):
                into[m] = losses[h, state, action, m]
            if h == horizon - 1:
                continue
            begin = indptr[state * n_actions + action]
            first = next_offsets[rule]
            for k in range(next_offsets[rule + 1] - first):
                after = next_node[first + k]
                row = likelihood[begin + k]
                found = False
                if after >= 0:
                    at = slot_after[after]
                    found = at < count_after and placed_after[at] == after
                if found:
                    source = values_after[at]
                    for m in range(members):
                        term = row[m] * source[m]
                        into[m] += term if row[m] > 0.0 else 0.0
                else:
                    for m in range(members):
                        if row[m] > 0.0:
                            into[m] = np.nan
        count_after = held
        slot, slot_after = slot_after, slot
        placed, placed_after = placed_after, placed
        values, values_after = values_after, values
        kept = 0
        for i in range(held):  # rules that begin at h do not hold at h - 1
            if since[active[i]] < h:
                active[kept] = active[i]
                kept += 1
        held = kept
    return placed_after[:count_after], values_after[:count_after]


@kernel
def mark_unknown(
    indptr: OffsetArray,
    likelihood: FloatArray,
    n_actions: int,
    node_state: IndexArray,
    rule_of_node: OffsetArray,
    actions: IndexArray,
    next_offsets: OffsetArray,
    next_node: IndexArray,
    unknown: BoolArray,
) -> None:
    """Write which (node, model) can come where the graph has no rule, (N, M)."""
    nodes, members = unknown.shape
    changed = True
    for node in range(nodes):
        for m in range(members):
            unknown[node, m] = rule_of_node[node] < 0
    while changed:
        changed = False
        for node in range(nodes - 1, -1, -1):
            rule = rule_of_node[node]
            if rule < 0:
                continue
            begin = indptr[node_state[node] * n_actions + actions[rule]]
            first = next_offsets[rule]
            for k in range(next_offsets[rule + 1] - first):
                after = next_node[first + k]
                for m in range(members):
                    if (
                        not unknown[node, m]
                        and likelihood[begin + k, m] > 0.0
                        and (after < 0 or unknown[after, m])
                    ):
                        unknown[node, m] = True
                        changed = True


@kernel(allocates=True)
def graph_sweeps(
    indptr: OffsetArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    node_state: IndexArray,
    rule_of_node: OffsetArray,
    actions: IndexArray,
    next_offsets: OffsetArray,
    next_node: IndexArray,
    unknown: BoolArray,
    sweeps: int,
    backwards: bool,
    gaps: FloatArray,
    change: FloatArray,
) -> None:
    """Replace gaps by their own backup, in place, and write the largest change (M,).

    Without sweeps nothing is replaced and `change` is what one backup would change.
    """
    n_actions, members = losses.shape[1:]
    nodes = node_state.size
    total = np.empty(members)
    for _ in range(max(sweeps, 1)):
        change[:] = 0.0
        for i in range(nodes):
            node = nodes - 1 - i if backwards else i
            rule = rule_of_node[node]
            if rule < 0:
                continue
            state = node_state[node]
            action = actions[rule]
            begin = indptr[state * n_actions + action]
            first = next_offsets[rule]
            total[:] = 0.0
            for k in range(next_offsets[rule + 1] - first):
                after = next_node[first + k]
                if after < 0:
                    continue
                for m in range(members):
                    total[m] += likelihood[begin + k, m] * gaps[after, m]
            for m in range(members):
                if unknown[node, m]:
                    continue
                found = losses[state, action, m] + discount * total[m]
                change[m] = max(change[m], abs(found - gaps[node, m]))
                if sweeps > 0:
                    gaps[node, m] = found


@kernel(allocates=True)
def solve_chain(
    indptr: IndexArray,
    indices: IndexArray,
    chances: FloatArray,
    discount: float,
    target: FloatArray,
    rounds: int,
    tolerance: float,
    out: FloatArray,
) -> None:
    """Write x with x - discount P x = target, about, by BiCGSTAB (van der Vorst 1992).

    Written out because libraries of linear algebra start threads for vectors this
    short. Stops when the residual is `tolerance` of the target, or nothing moves.
    """
    size = target.size
    residual, shadow = target.copy(), target.copy()
    direction, moved = np.zeros(size), np.zeros(size)
    trial, turned = np.empty(size), np.empty(size)
    out[:] = 0.0
    whole = 0.0
    for i in range(size):
        whole += target[i] * target[i]
    rho = alpha = omega = 1.0
    for _ in range(rounds):
        before = rho
        rho = 0.0
        for i in range(size):
            rho += shadow[i] * residual[i]
        if rho == 0.0 or omega == 0.0:
            return
        beta = rho / before * (alpha / omega)
        for i in range(size):
            direction[i] = residual[i] + beta * (direction[i] - omega * moved[i])
        along = 0.0
        for i in range(size):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                total += chances[k] * direction[indices[k]]
            moved[i] = direction[i] - discount * total
            along += shadow[i] * moved[i]
        if along == 0.0:
            return
        alpha = rho / along
        for i in range(size):
            trial[i] = residual[i] - alpha * moved[i]
        top = 0.0
        bottom = 0.0
        for i in range(size):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                total += chances[k] * trial[indices[k]]
            turned[i] = trial[i] - discount * total
            top += turned[i] * trial[i]
            bottom += turned[i] * turned[i]
        omega = top / bottom if bottom > 0.0 else 0.0
        rest = 0.0
        for i in range(size):
            out[i] += alpha * direction[i] + omega * trial[i]
            residual[i] = trial[i] - omega * turned[i]
            rest += residual[i] * residual[i]
        if rest <= tolerance * tolerance * whole:
            return


@kernel(allocates=True)
def graph_first_steps(
    indptr: OffsetArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    steps: int,
    node_state: IndexArray,
    rule_offsets: OffsetArray,
    since: IndexArray,
    until: IndexArray,
    actions: IndexArray,
    next_offsets: OffsetArray,
    next_node: IndexArray,
    gaps: FloatArray,
) -> None:
    """Replace the gaps of rules that hold for ever by those at the first step.

    The last rule of a node holds from its `since` on (always, if it is the only one).
    """
    n_actions, members = losses.shape[1:]
    nodes = node_state.size
    rule_of = rule_offsets[1:] - 1
    after = gaps.copy()
    for h in range(steps - 1, -1, -1):
        for node in range(nodes):
            begin = rule_offsets[node]
            rule = rule_of[node]
            while rule > begin and until[rule - 1] >= h:
                rule -= 1
            rule_of[node] = rule
            alone = rule_offsets[node + 1] - begin == 1
            if rule < begin or (since[rule] > h and not alone):
                for m in range(members):
                    gaps[node, m] = np.nan
                continue
            row = node_state[node] * n_actions + actions[rule]
            for m in range(members):
                gaps[node, m] = losses[node_state[node], actions[rule], m]
            first = next_offsets[rule]
            for k in range(next_offsets[rule + 1] - first):
                target = next_node[first + k]
                for m in range(members):
                    chance = likelihood[indptr[row] + k, m]
                    if chance > 0.0:
                        if target < 0:
                            gaps[node, m] = np.nan
                        else:
                            gaps[node, m] += discount * chance * after[target, m]
        copy_table(gaps, after)
