"""The oracle of a range of models, and what it does where nothing in its range leads.

The range is planned as a class of its own: nothing of the models outside enters, not
even their plans. (The oracle of the whole class with prior zero outside would go on,
after a step that is impossible in the range, with the plan of a model it never trained
on.) In reality more can happen than in the range. After a step, or in a first state,
that no model of the range allows, the policy goes on without memory: it plays what is
best on average over the range, sum_m nu_m loss_m(h, s, a) at its least (of actions that
are equal up to rounding the lowest). So its gap is defined and exact in every model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import AnyArray, BoolArray, OffsetArray
from simgap.mdp import LatentMDP, class_from_models
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import Solver
from simgap.policies.graph import NOWHERE, GraphPolicy, Pattern
from simgap.records import Certified


@final
@dataclass(frozen=True, slots=True, eq=False)
class RangePolicy:
    """What was planned for a range, as a policy for every model of the class."""

    policy: GraphPolicy  # over the successors of the whole class
    average_gap: Certified  # of the oracle in the range
    outcome: Outcome
    surprising: bool  # whether a model outside can do what no model inside can


def range_policy(
    latent: LatentMDP, kept: BoolArray, *, horizon: int, solver: Solver
) -> RangePolicy:
    """Return the oracle of the models `kept` (M,) as a policy for the whole class."""
    inner = _restricted(latent, kept)
    found = domain_randomization_oracle(inner, horizon=horizon, solver=solver)
    if found.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # a curve needs all its ranges
    foreseen, starts = _foreseen(latent, kept)
    return RangePolicy(
        policy=_everywhere(found.policy, latent, inner, foreseen, horizon),
        average_gap=found.average_gap,
        outcome=found.outcome,
        surprising=_surprising(latent, kept, foreseen, starts),
    )


def _restricted(latent: LatentMDP, kept: BoolArray) -> LatentMDP:
    """Return the class of the range with its part of the prior."""
    simulators, weight = latent.simulators, latent.prior[kept]
    if kept.all():
        return latent
    inside = [simulators[int(at)] for at in np.flatnonzero(kept)]
    return LatentMDP(class_from_models(inside), weight / weight.sum())


def _foreseen(latent: LatentMDP, kept: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which successors (nnz,) and first states (S,) the range allows."""
    simulators = latent.simulators
    steps = (simulators.transitions.values[kept] > 0.0).any(axis=0)
    laws = [simulators.start_law(int(at)) > 0.0 for at in np.flatnonzero(kept)]
    return np.asarray(steps), np.logical_or.reduce(laws)


def _surprising(
    latent: LatentMDP, kept: BoolArray, foreseen: BoolArray, starts: BoolArray
) -> bool:
    """Return whether a model that may be real allows more than the range does."""
    outside = np.flatnonzero((latent.prior > 0.0) & ~kept)
    simulators = latent.simulators
    return any(
        bool((simulators.transitions.values[at] > 0.0)[~foreseen].any())
        or bool((simulators.start_law(int(at)) > 0.0)[~starts].any())
        for at in outside
    )


def _everywhere(
    graph: GraphPolicy,
    latent: LatentMDP,
    inner: LatentMDP,
    foreseen: BoolArray,
    horizon: int,
) -> GraphPolicy:
    """Return a graph with successors of the whole class, its own nodes first.

    Behind them stands one node per state that goes on without memory.
    """
    kernel = latent.simulators.transitions
    pattern = Pattern(kernel.n_states, kernel.n_actions, kernel.indptr, kernel.indices)
    first_spare = graph.n_nodes
    since, until, action, counts = _average_plan(inner, horizon)
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


def _average_plan(
    inner: LatentMDP, horizon: int
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Return since, until and action of runs of the memoryless plan, (R,) each.

    Runs are by state; the last array says how many each state has, (S,).
    """
    form = loss_form(inner, horizon=horizon)
    costs = form.losses @ inner.prior  # (T, S, A)
    least = costs.min(axis=2, keepdims=True)
    plan = np.argmax(costs <= least + 2.0 * form.rounding, axis=2).T  # (S, T)
    first = np.ones(plan.shape, np.bool_)
    first[:, 1:] = plan[:, 1:] != plan[:, :-1]
    last = np.ones(plan.shape, np.bool_)
    last[:, :-1] = first[:, 1:]
    steps = np.broadcast_to(np.arange(horizon), plan.shape)
    return steps[first], steps[last], plan[first], first.sum(axis=1)


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
