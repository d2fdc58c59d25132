"""A policy graph for models it was not planned for: what to do where no rule leads.

A model outside a part of a class may do what no model of the part can. After such a
step, or in such a first state, the policy goes on without memory, by a plan that looks
at the state and the step alone. So its gap is defined, and exact, in every model.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.loss_form import LossForm
from simgap.policies import NOWHERE, GraphPolicy, Pattern


def completed_graph(
    graph: GraphPolicy, pattern: Pattern, foreseen: BoolArray, plan: IndexArray
) -> GraphPolicy:
    """Return a graph with the successors of the whole class, its own nodes first.

    `foreseen` (nnz,) says which successors the graph was planned for; behind its nodes
    stands one per state that follows the `plan` (T, S).
    """
    first_spare = graph.n_nodes
    since, until, action, counts = _runs(plan)
    states = np.arange(pattern.n_states, dtype=np.int32)
    node_state = np.concatenate([graph.node_state, states])
    per_node = np.concatenate([np.diff(graph.rule_offsets), counts])
    actions = np.concatenate([graph.rule_action, action])
    rows = np.repeat(node_state, per_node).astype(np.int64) * pattern.n_actions
    rows += actions
    next_offsets, rule, entry = _columns(pattern.indptr, rows)
    next_node = first_spare + pattern.indices[entry]  # where nothing is known
    place = _places(pattern, graph.pattern)
    own = np.flatnonzero((rule < graph.n_rules) & foreseen[entry])
    there = graph.next_offsets[rule[own]] + place[entry[own]]
    planned = graph.next_node[there]
    known = planned != NOWHERE
    next_node[own[known]] = planned[known]
    start = graph.start_node
    return GraphPolicy(
        name=graph.name,
        pattern=pattern,
        horizon=graph.horizon,
        node_state=node_state,
        start_node=np.where(start == NOWHERE, first_spare + states, start),
        rule_offsets=_offsets(per_node),
        rule_since=np.concatenate([graph.rule_since, since]),
        rule_until=np.concatenate([graph.rule_until, until]),
        rule_action=actions,
        next_offsets=next_offsets,
        next_node=next_node,
    )


def average_plan(form: LossForm) -> IndexArray:
    """Return what loses least at each step on average over the prior, (T, S).

    Of actions that are equal up to rounding it is the lowest.
    """
    costs: FloatArray = form.losses @ form.latent.prior  # (T, S, A)
    least = costs.min(axis=2, keepdims=True)
    near = costs <= least + 2.0 * form.rounding
    plan: IndexArray = np.argmax(near, axis=2).astype(np.int32)
    return plan


def _runs(plan: IndexArray) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Return since, until and action of runs of a plan, (R,) each.

    Runs are by state; the last array says how many each state has, (S,).
    """
    by_state = plan.T
    first = np.ones(by_state.shape, np.bool_)
    first[:, 1:] = by_state[:, 1:] != by_state[:, :-1]
    last = np.ones(by_state.shape, np.bool_)
    last[:, :-1] = first[:, 1:]
    steps = np.broadcast_to(np.arange(by_state.shape[1]), by_state.shape)
    return steps[first], steps[last], by_state[first], first.sum(axis=1)


def _columns(
    indptr: OffsetArray, rows: AnyArray
) -> tuple[OffsetArray, AnyArray, AnyArray]:
    """Return offsets of the successors of rules, and rule and entry of each."""
    lengths = np.diff(indptr)[rows]
    offsets = _offsets(lengths)
    rule = np.repeat(np.arange(rows.size), lengths)
    entry = np.arange(int(offsets[-1])) - offsets[rule] + indptr[rows][rule]
    return offsets, rule, entry


def _places(pattern: Pattern, smaller: Pattern) -> AnyArray:
    """Return where each entry stands in its row of the smaller pattern, (nnz,).

    It is 0 for an entry that is not there; the caller does not ask for those.
    """
    rows = np.repeat(np.arange(pattern.indptr.size - 1), np.diff(pattern.indptr))
    keys = rows * pattern.n_states + pattern.indices
    rows = np.repeat(np.arange(smaller.indptr.size - 1), np.diff(smaller.indptr))
    known = rows * smaller.n_states + smaller.indices
    at = np.minimum(np.searchsorted(known, keys), known.size - 1)
    inside = np.arange(known.size) - smaller.indptr[rows]
    return np.where(known[at] == keys, inside[at], 0)


def _offsets(lengths: AnyArray) -> OffsetArray:
    offsets = np.zeros(lengths.size + 1, np.int64)
    offsets[1:] = np.cumsum(lengths)
    return offsets
