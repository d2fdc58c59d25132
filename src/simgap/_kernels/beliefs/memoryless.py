"""Policies with little memory: weights forwards, gaps backwards, the best actions.

A memory is a graph of nodes. Node n is used in state `node_state[n]`; when the next
state is column k of the pattern (a column of the row of its state and action), the
agent moves to node `next_node[shift[n] + k]`. Nodes that are the states themselves
make memoryless policies: `next_node` is then `indices`, and `shift` is 0.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel
def reach_weights(
    indptr: OffsetArray,
    node_state: IndexArray,
    shift: OffsetArray,
    next_node: IndexArray,
    likelihood: FloatArray,
    n_actions: int,
    policy: IndexArray,
    explore: float,
    weights: FloatArray,
) -> None:
    """Write w_m(h, n), the prior times the chance to be in n at step h, (H, N, M).

    `weights[0]` is given. The policy is mixed with uniform actions at rate `explore`.
    """
    steps, nodes, members = weights.shape
    for h in range(steps - 1):
        for n in range(nodes):
            for m in range(members):
                weights[h + 1, n, m] = 0.0
        for n in range(nodes):
            present = 0.0
            for m in range(members):
                present += weights[h, n, m]
            if present == 0.0:
                continue
            for action in range(n_actions):
                part = explore / n_actions
                if action == policy[h, n]:
                    part += 1.0 - explore
                if part == 0.0:
                    continue
                row = node_state[n] * n_actions + action
                for k in range(indptr[row], indptr[row + 1]):
                    t = next_node[shift[n] + k]
                    for m in range(members):
                        weights[h + 1, t, m] += (
                            part * weights[h, n, m] * likelihood[k, m]
                        )


@kernel(allocates=True)
def improve_backward(
    indptr: OffsetArray,
    node_state: IndexArray,
    shift: OffsetArray,
    next_node: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    weights: FloatArray,
    fallback: FloatArray,
    revise: bool,
    guide: FloatArray,
    slack: float,
    policy: IndexArray,
    gaps: FloatArray,
) -> int:
    """Improve every step from the last to the first; return how many actions changed.

    The action of (h, n) becomes one that minimises sum_m w_m (loss + P gaps); it stays
    if that gains nothing beyond rounding. Nodes that are never reached do not count as
    changed; with `revise` they use `fallback` (N, M) for w, else they stay. With a
    `guide` (H, S, A) only actions within `slack` of its least entry in a state are
    allowed; one of shape (0, 0, 0) allows all. `gaps` (N, M) is left with the gaps of
    the new policy from the first step.
    """
    steps, nodes = policy.shape
    n_actions, members = losses.shape[2], losses.shape[3]
    after = np.zeros((nodes, members))
    total = np.empty((n_actions, members))
    score = np.empty(n_actions)
    changed = 0
    for back in range(steps):
        h = steps - 1 - back
        for n in range(nodes):
            s = node_state[n]
            present = 0.0
            for m in range(members):
                present += weights[h, n, m]
            least = np.inf
            if guide.shape[0] > 0:
                for action in range(n_actions):
                    least = min(least, guide[h, s, action])
            old = policy[h, n]
            best = -1
            for action in range(n_actions):
                score[action] = np.inf
                if present == 0.0 and not revise and action != old:
                    continue
                if guide.shape[0] > 0 and guide[h, s, action] > least + slack:
                    continue
                for m in range(members):
                    total[action, m] = losses[h, s, action, m]
                row = s * n_actions + action
                for k in range(indptr[row], indptr[row + 1]):
                    t = next_node[shift[n] + k]
                    for m in range(members):
                        total[action, m] += likelihood[k, m] * after[t, m]
                score[action] = 0.0
                for m in range(members):
                    w = weights[h, n, m] if present > 0.0 else fallback[n, m]
                    score[action] += w * total[action, m]
                if best < 0 or score[action] < score[best]:
                    best = action
            if score[old] <= score[best] * (1.0 + 1e-13):
                best = old
            elif present > 0.0:
                changed += 1
            policy[h, n] = best
            for m in range(members):
                gaps[n, m] = total[best, m]
        for n in range(nodes):
            for m in range(members):
                after[n, m] = gaps[n, m]
    return changed


@kernel(allocates=True)
def follow_gaps(
    indptr: OffsetArray,
    node_state: IndexArray,
    shift: OffsetArray,
    next_node: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    policy: IndexArray,
    gaps: FloatArray,
) -> None:
    """Write the gaps (N, M) of a policy (H, N) from its first step."""
    steps, nodes = policy.shape
    n_actions, members = losses.shape[2], losses.shape[3]
    after = np.zeros((nodes, members))
    for n in range(nodes):
        for m in range(members):
            gaps[n, m] = 0.0
    for back in range(steps):
        h = steps - 1 - back
        for n in range(nodes):
            action = policy[h, n]
            row = node_state[n] * n_actions + action
            for m in range(members):
                gaps[n, m] = losses[h, node_state[n], action, m]
            for k in range(indptr[row], indptr[row + 1]):
                t = next_node[shift[n] + k]
                for m in range(members):
                    gaps[n, m] += likelihood[k, m] * after[t, m]
        for n in range(nodes):
            for m in range(members):
                after[n, m] = gaps[n, m]


@kernel(allocates=True)
def stationary_sweep(
    indptr: OffsetArray,
    node_state: IndexArray,
    shift: OffsetArray,
    next_node: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    discount: float,
    guide: FloatArray,
    slack: float,
    policy: IndexArray,
    inverse: FloatArray,
    gaps: FloatArray,
    visits: FloatArray,
) -> int:
    """Give each node its best action, all else equal; return how many changed.

    `inverse` (N, N, M) is (I - discount P)^-1 of the policy (N,), `gaps` (N, M) its
    gaps and `visits` (N, M) its discounted weights. One row of P changes at a time, so
    the average gap changes by visits (loss + discount P gaps) / (1 - discount P X)
    summed over models, with the differences between two actions in place of loss and
    P, and all three arrays follow by a rank-one update. Exact, not a first order.
    """
    nodes, members = gaps.shape
    n_actions = losses.shape[2]
    ahead = np.empty((n_actions, members))
    back = np.empty((n_actions, members))
    turn = np.empty((nodes, members))
    factor = np.empty(members)
    changed = 0
    for n in range(nodes):
        s = node_state[n]
        average = 0.0
        for m in range(members):
            average += visits[n, m] * gaps[n, m]
        least = np.inf
        if guide.shape[0] > 0:
            for action in range(n_actions):
                least = min(least, guide[0, s, action])
        for action in range(n_actions):
            row = s * n_actions + action
            for m in range(members):
                ahead[action, m] = 0.0
                back[action, m] = 0.0
            for k in range(indptr[row], indptr[row + 1]):
                t = next_node[shift[n] + k]
                for m in range(members):
                    ahead[action, m] += likelihood[k, m] * gaps[t, m]
                    back[action, m] += likelihood[k, m] * inverse[t, n, m]
        old = policy[n]
        best, gain = old, -1e-13 * average
        for action in range(n_actions):
            if action == old:
                continue
            if guide.shape[0] > 0 and guide[0, s, action] > least + slack:
                continue
            change = 0.0
            for m in range(members):
                step = losses[0, s, action, m] - losses[0, s, old, m]
                step += discount * (ahead[action, m] - ahead[old, m])
                change += (
                    visits[n, m]
                    * step
                    / (1.0 - discount * (back[action, m] - back[old, m]))
                )
            if change < gain:
                best, gain = action, change
        if best == old:
            continue
        changed += 1
        policy[n] = best
        for m in range(members):
            step = losses[0, s, best, m] - losses[0, s, old, m]
            step += discount * (ahead[best, m] - ahead[old, m])
            factor[m] = 1.0 / (1.0 - discount * (back[best, m] - back[old, m]))
            for i in range(nodes):
                gaps[i, m] += inverse[i, n, m] * step * factor[m]
        turn[:] = 0.0
        for sign in range(2):
            row = s * n_actions + (old if sign else best)
            for k in range(indptr[row], indptr[row + 1]):
                t = next_node[shift[n] + k]
                for j in range(nodes):
                    for m in range(members):
                        part = likelihood[k, m] * inverse[t, j, m]
                        turn[j, m] += -part if sign else part
        for j in range(nodes):
            for m in range(members):
                turn[j, m] *= discount * factor[m]
        for j in range(nodes):
            for m in range(members):
                if j != n:
                    visits[j, m] += visits[n, m] * turn[j, m]
        for m in range(members):
            visits[n, m] *= 1.0 + turn[n, m]
        for i in range(nodes):
            for m in range(members):
                factor[m] = inverse[i, n, m]
            for j in range(nodes):
                for m in range(members):
                    inverse[i, j, m] += factor[m] * turn[j, m]
    return changed
