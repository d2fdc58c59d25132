"""Gaps of the oracle in every model: of its policy, and of all optimal policies.

One more pass backwards over the solved tree. The vectors kept for a belief-tracking
policy are those of the likeliest nodes of every step and state, and of the plans that
beliefs settle on there.

The least worst gap over all optimal policies and their mixtures (theory 5.5).

Optimal are the policies of least average gap: one that gives up some of the average may
lose less in the worst model (`baselines.minimax`).

A mixture of optimal policies is a flow through the tree: x(n, a) is how likely the
average agent is at node n and plays the optimal action a. In model m that has the
probability x(n, a) b_m(n) / nu_m, so every gap is linear in x, and the least worst of
them is a linear program. Exchangeable models can be mixed to have the same gap, their
mean, which is what the tree knows about them after their beliefs have been sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from simgap._kernels.beliefs.belief_tree_gaps import (
    largest_losses,
    plan_vectors,
    tree_ends,
    tree_vectors,
)
from simgap._kernels.beliefs.belief_tree_graph import linked_plans
from simgap._kernels.time_limit import check_time
from simgap.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
    owned,
)
from simgap.oracle.exact.evidence import Supports
from simgap.oracle.exact.follow import Followed, Skeleton
from simgap.oracle.exact.tree import BeliefTree, TreeValues
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets

MOST_VECTORS = 64  # per step and state
MOST_PLANS = 32  # of them
MOST_CHOICES = 5_000  # pairs of a node and an optimal action
MOST_NODES = 200_000  # of the tree; finding the choices visits them one by one


@final
@dataclass(frozen=True, slots=True, eq=False)
class TreeGaps:
    """What the second pass finds."""

    gaps: FloatArray  # (M,)
    intervals: FloatArray  # (M, 2)
    vectors: VectorSets


def bytes_of_gaps(tree: BeliefTree) -> int:
    """Return about how much memory `solve_tree` and `tree_gaps` take."""
    form = tree.form
    per_node = 21 + form.pattern.n_actions  # value, action, chance, flags
    widest = max((b - a for a, b in pairwise(tree.layers)), default=0)
    plans = tree.supports.count * form.pattern.n_states
    return per_node * tree.size + form.n_models * (48 * widest + 16 * plans)


def tree_gaps(tree: BeliefTree, values: TreeValues, followed: Followed) -> TreeGaps:
    """Return the gaps of the policy, their intervals, and vectors for beliefs."""
    form, supports, pattern = tree.form, tree.supports, tree.form.pattern
    kept = _Kept(form.steps, pattern.n_states, form.n_models)
    zero_prior = np.flatnonzero(form.latent.prior <= 0.0).astype(np.int32)
    shape = (supports.count, pattern.n_states, form.n_models)
    plans, spare = np.zeros(shape), np.zeros(shape)
    most, spare_most = np.zeros(shape[1:]), np.zeros(shape[1:])
    vectors: FloatArray = np.zeros((0, form.n_models))
    ends: FloatArray = np.zeros((0, form.n_models, 2))
    for h in range(form.steps - 1, -1, -1):
        begin, end = tree.layers[h], tree.layers[h + 1]
        last = h + 1 == form.steps
        now = np.empty((end - begin, form.n_models))
        tree_vectors(
            pattern.indptr, pattern.indices, form.likelihood, form.losses[h], last,
            supports.corner, begin, end, end, tree.state, values.action,
            tree.first_link, tree.links, tree.place, plans, vectors, now,
        )  # fmt: skip
        ends_now = np.empty((end - begin, form.n_models, 2))
        tree_ends(
            pattern.indptr, pattern.indices, form.likelihood, form.losses[h], last,
            begin, end, end, tree.state, values.tied, tree.first_link, tree.links,
            tree.place, most, ends, ends_now,
        )  # fmt: skip
        vectors, ends = now, ends_now
        step_back(form, supports, h, plans, spare)
        plans, spare = spare, plans
        if zero_prior.size:
            largest_losses(
                pattern.indptr, pattern.indices, form.likelihood, form.losses[h],
                zero_prior, most, spare_most,
            )  # fmt: skip
            most, spare_most = spare_most, most
        _keep(kept, tree, h, followed, vectors, plans)
    starts = followed.skeleton.starts
    gaps = at_start(form, starts, vectors, plans)
    low = at_start(form, starts, ends[..., 0], np.zeros_like(plans))
    high = at_start(form, starts, ends[..., 1], np.broadcast_to(most, plans.shape))
    return TreeGaps(owned(gaps), owned(np.column_stack([low, high])), kept.sets())


def step_back(
    form: LossForm, supports: Supports, h: int, after: FloatArray, now: FloatArray
) -> None:
    """Write the gaps of the first plans from step h on, as many as `now` has."""
    check_time()
    plan_vectors(
        form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses[h],
        supports.settled[: len(now), h], supports.plan_next, after, now,
    )  # fmt: skip


def at_start(
    form: LossForm, starts: IndexArray, nodes: FloatArray, plans: AnyArray
) -> FloatArray:
    """Return the mean over the first state of gaps at nodes (N, M) and plans."""
    simulators = form.latent.simulators
    total: FloatArray = np.zeros(form.n_models)
    for m in range(form.n_models):
        law = simulators.start_law(m)
        for s in np.flatnonzero(law):
            link = starts[s]
            found = nodes[link, m] if link >= 0 else plans[-2 - link, s, m]
            total[m] += law[s] * found
    return total


def single_plan_gaps(form: LossForm, supports: Supports) -> FloatArray:
    """Return the gap of each model's own plan in every model, (M, M)."""
    shape = (form.n_models, form.pattern.n_states, form.n_models)
    plans, spare = np.zeros(shape), np.zeros(shape)
    for h in range(form.steps - 1, -1, -1):
        step_back(form, supports, h, plans, spare)
        plans, spare = spare, plans
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    likeliest = laws.argmax(axis=0)
    gaps = np.zeros((form.n_models, form.n_models))
    for plan in range(form.n_models):
        entry = likeliest.copy()  # first states that no prior model has
        entry[form.root_states] = plan
        first = plans[entry, np.arange(shape[1])]  # (S, M)
        gaps[plan] = np.einsum("ms,sm->m", laws, first)
    return gaps


def no_vectors(form: LossForm) -> VectorSets:
    """Return the vectors of a belief policy that has none: it is greedy."""
    return _Kept(form.steps, form.pattern.n_states, form.n_models).sets()


@final
@dataclass(slots=True, eq=False)
class _Kept:
    """Vectors by step, last step first."""

    steps: int
    n_states: int
    n_models: int
    lengths: list[AnyArray] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)

    def sets(self) -> VectorSets:
        sizes = np.zeros((self.steps + 1, self.n_states), np.int64)
        for back, lengths in enumerate(self.lengths, start=1):
            sizes[self.steps - back] = lengths
        rows = self.rows[::-1] or [np.empty((0, self.n_models))]
        offsets = np.zeros(sizes.size + 1, np.int64)
        offsets[1:] = np.cumsum(sizes)
        return VectorSets(
            vector_set=owned(np.arange(self.steps + 1, dtype=np.int32)),
            vector_offsets=owned(offsets),
            vectors=owned(np.concatenate(rows)),
        )


def _keep(
    kept: _Kept,
    tree: BeliefTree,
    h: int,
    followed: Followed,
    vectors: FloatArray,
    plans: FloatArray,
) -> None:
    """Keep the vectors of one step, by state: plans, then nodes, likeliest first.

    Nodes of the tree follow those of the unfolded policy, if it was unfolded.
    """
    lengths = np.zeros(kept.n_states, np.int64)
    rows = [np.empty((0, kept.n_models))]
    linked = np.zeros(plans.shape[:2], np.bool_)
    begin, end = tree.layers[h], tree.layers[h + 1]
    state, first = tree.state[begin:end], followed.chance[begin:end]
    _mark_plans(tree, tree.layers, h, tree, linked)
    if followed.copies is not None:
        skeleton, copies = followed.skeleton, followed.copies
        _mark_plans(tree, skeleton.layers, h, skeleton, linked)
        own = slice(skeleton.layers[h], skeleton.layers[h + 1])
        state = np.concatenate([skeleton.state[own], state])
        first = np.concatenate([1.0 + copies.chance[own], first])
        vectors = np.concatenate([copies.moved(own, vectors, begin), vectors])
    order = np.lexsort((-first, state))
    present, begins = np.unique(state[order], return_index=True)
    groups = np.split(order, begins[1:]) if present.size else []
    for s, nodes in zip(present, groups, strict=True):
        entries = np.flatnonzero(linked[:, s])[:MOST_PLANS]
        chosen = nodes[: MOST_VECTORS - entries.size]
        both = np.concatenate([plans[entries, s], vectors[chosen]])
        rows.append(both)
        lengths[s] = len(both)
    kept.lengths.append(lengths)
    kept.rows.append(np.concatenate(rows))


def _mark_plans(
    tree: BeliefTree,
    layers: Sequence[int] | OffsetArray,
    h: int,
    nodes: BeliefTree | Skeleton,
    linked: BoolArray,
) -> None:
    """Mark the plans that nodes of the step before lead to."""
    if h:
        pattern = tree.form.pattern
        linked_plans(
            pattern.indptr, pattern.indices, pattern.n_actions, layers[h - 1],
            layers[h], nodes.state, nodes.first_link, nodes.links, linked,
        )  # fmt: skip


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
