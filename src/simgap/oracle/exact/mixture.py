"""The least worst gap over all optimal policies and their mixtures (theory 5.5).

Optimal are the policies of least average gap: one that gives up some of the average may
lose less in the worst model (`baselines.minimax`).

A mixture of optimal policies is a flow through the tree: x(n, a) is how likely the
average agent is at node n and plays the optimal action a. In model m that has the
probability x(n, a) b_m(n) / nu_m, so every gap is linear in x, and the least worst of
them is a linear program. Exchangeable models can be mixed to have the same gap, their
mean, which is what the tree knows about them after their beliefs have been sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from simgap.arrays import FloatArray
from simgap.oracle.exact.tree import BeliefTree, TreeValues

MOST_CHOICES = 5_000  # pairs of a node and an optimal action
MOST_NODES = 200_000  # of the tree; finding the choices visits them one by one


def least_worst_gap(
    tree: BeliefTree, values: TreeValues, gap: float, intervals: FloatArray
) -> float | None:
    """Return the least worst gap in models of positive prior; None if too large.

    `gap` is the average, which is the answer if all models are exchangeable, and
    `intervals` (M, 2) are the gaps of all optimal policies: where they are single
    numbers there is nothing to mix.
    """
    if not tree.supports.symmetry.orbit.any():
        return gap
    inside = tree.supports.members.member_of >= 0
    low, high = intervals[inside].T
    worst_low, worst_high = float(low.max()), float(high.max())
    if worst_high - worst_low <= 1e-12 * (1.0 + worst_high):
        return worst_high
    choices = _choices(tree, values)
    return None if choices is None else _solve(tree, choices)


def _choices(tree: BeliefTree, values: TreeValues) -> dict[int, list[int]] | None:
    """Return the optimal actions of the nodes that optimal policies reach."""
    if tree.size > MOST_NODES:
        return None
    pattern = tree.form.pattern
    found: dict[int, list[int]] = {}
    todo = [int(root) for root in tree.roots if root >= 0]
    total, last = 0, tree.layers[-2]
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found[node] = [int(a) for a in np.flatnonzero(values.tied[node])]
        total += len(found[node])
        if total > MOST_CHOICES:
            return None
        if node < last:
            row = int(tree.state[node]) * pattern.n_actions
            base = pattern.indptr[row]
            for a in found[node]:
                begin, end = pattern.indptr[row + a] - base, pattern.indptr[row + a + 1]
                at = tree.first_link[node]
                children = tree.links[at + begin : at + end - base]
                todo += [int(child) for child in children if child >= 0]
    return found


def _solve(tree: BeliefTree, choices: dict[int, list[int]]) -> float | None:
    pattern, members = tree.form.pattern, tree.supports.members
    nodes = sorted(choices)
    place = {node: i for i, node in enumerate(nodes)}
    step = np.searchsorted(tree.layers, nodes, side="right") - 1
    last = tree.layers[-2]
    orbit = tree.supports.symmetry.orbit
    prior = np.bincount(orbit, members.roots.sum(axis=0))  # of each orbit
    supply = np.zeros(len(nodes))
    for i, root in enumerate(tree.roots):
        if root >= 0:
            supply[place[int(root)]] = members.roots[i].sum()
    flow: list[tuple[int, int, float]] = []
    gaps: list[FloatArray] = []
    for node, h in zip(nodes, step, strict=True):
        s, belief = int(tree.state[node]), tree.belief[node]
        base = pattern.indptr[s * pattern.n_actions]
        for a in choices[node]:
            column = len(gaps)
            lost = belief * members.losses[h, s, a]
            gaps.append(np.bincount(orbit, lost) / prior)
            flow.append((place[node], column, 1.0))
            row = s * pattern.n_actions + a
            if node >= last:
                continue
            for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                child = int(tree.links[tree.first_link[node] + k - base])
                if child >= 0:
                    chance = float(belief @ members.likelihood[k])
                    flow.append((place[child], column, -chance))
    rows, columns, entries = zip(*flow, strict=True)
    shape = (len(nodes), len(gaps) + 1)
    conserve: Any = coo_array((entries, (rows, columns)), shape=shape).tocsr()
    worst = np.column_stack([np.array(gaps).T, -np.ones(prior.size)])
    cost = np.zeros(len(gaps) + 1)
    cost[-1] = 1.0
    answer = linprog(
        cost, A_ub=worst, b_ub=np.zeros(prior.size), A_eq=conserve, b_eq=supply
    )
    return None if answer.fun is None else float(answer.fun)
