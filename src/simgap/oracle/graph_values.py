"""Exact gaps of a policy graph in every model (theory 5.4, in loss form).

    g_m(n, h) = loss_m(h, s, a) + discount sum_k P_m(s_k | s, a) g_m(next_k, h + 1)

for the rule of node n at step h. One backward pass over the rules that hold gives all
models at once. A model with prior zero may lead to a place where the graph has no rule,
because it was not planned for: its gap is then not a number. For a model with a
positive prior that is a defect of the graph, and refused.

With a discount the rules that hold for ever come first: their fixed point is approached
until a backup changes nothing beyond rounding, starting from the solution of a sparse
linear system. What the last backup would still change, over 1 - discount, is added, so
that the returned gap is not below the true one except for the rounding of one backup.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np

from simgap._kernels.beliefs.policy_graph import (
    graph_backward,
    graph_first_steps,
    graph_sweeps,
    mark_unknown,
    most_rules_at_once,
    solve_chain,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument
from simgap.oracle.loss_form import LossForm
from simgap.policies import GraphPolicy

ENOUGH = 1e-15  # relative change of a backup that is rounding
NEAR = 1e-12  # the same when more sweeps no longer help
ROUNDS = 200  # of the solver of the linear system
REFINEMENTS = 4  # solutions of the linear system, each for the rest of the last
PATIENCE = 3  # looks without progress
CHUNK = 8  # sweeps between two looks at the change


def graph_gaps(form: LossForm, policy: GraphPolicy) -> FloatArray:
    """Return V*_m - V^pi_m at the start of every model, (M,), NaN where unknown."""
    _check_fit(form, policy)
    gaps: FloatArray = np.zeros(form.n_models)
    if form.horizon == 0:
        return np.asarray(owned(gaps))
    nodes, found = _first_step(form, policy)
    place = np.full(policy.n_nodes + 1, -1, np.int64)  # NOWHERE is the last
    place[nodes] = np.arange(nodes.size)
    simulators = form.latent.simulators
    for member in range(form.n_models):
        law = simulators.start_law(member)
        begins = np.flatnonzero(law)
        at = place[policy.start_node[begins]]
        first = np.full(begins.size, np.nan)
        first[at >= 0] = found[at[at >= 0], member]
        gaps[member] = law[begins] @ first
    lost = np.flatnonzero(np.isnan(gaps) & (form.latent.prior > 0.0))
    if lost.size:
        name = simulators.model_names[lost[0]]
        raise InvalidArgument(
            f"the policy graph {policy.name!r} has no rule for something that model "
            f"{name!r} can do",
            hint="it was planned for another prior or class, or it is incomplete",
        )
    return np.asarray(owned(gaps))


def graph_values(form: LossForm, policy: GraphPolicy) -> FloatArray:
    """Return V^pi_m at the start of every model, (M,), NaN where unknown."""
    return np.asarray(owned(form.optimal - graph_gaps(form, policy)))


def node_gaps(form: LossForm, policy: GraphPolicy) -> FloatArray:
    """Return the gaps from the first step on of every node, (N, M), NaN if unknown."""
    gaps = np.full((policy.n_nodes, form.n_models), np.nan)
    nodes, found = _first_step(form, policy)
    gaps[nodes] = found
    return gaps


def _first_step(form: LossForm, policy: GraphPolicy) -> tuple[IndexArray, FloatArray]:
    """Return the nodes that have a rule at the first step, and their gaps."""
    if form.horizon is None:
        return np.arange(policy.n_nodes, dtype=np.int32), _discounted(form, policy)
    since, until = policy.rule_since, policy.rule_until
    lengths = np.diff(policy.rule_offsets)
    nodes, gaps = graph_backward(
        form.pattern.indptr,
        form.likelihood,
        form.losses,
        policy.node_state,
        np.repeat(np.arange(policy.n_nodes, dtype=np.int32), lengths),
        since,
        until,
        policy.rule_action,
        policy.next_offsets,
        policy.next_node,
        np.argsort(-until.astype(np.int64), kind="stable"),
        most_rules_at_once(since, until, form.horizon),
    )
    return nodes, gaps


def _discounted(form: LossForm, policy: GraphPolicy) -> FloatArray:
    shape = (policy.n_nodes, form.n_models)
    has_rule = np.diff(policy.rule_offsets) > 0
    rule_of_node = np.where(has_rule, policy.rule_offsets[1:] - 1, -1)
    graph = (
        policy.node_state, rule_of_node, policy.rule_action, policy.next_offsets,
        policy.next_node,
    )  # fmt: skip
    likelihood, indptr = form.likelihood, form.pattern.indptr
    unknown = np.zeros(shape, np.bool_)
    mark_unknown(indptr, likelihood, form.pattern.n_actions, *graph, unknown)
    gaps = _approximate(form, policy, unknown)
    change, least, waited = np.empty(form.n_models), np.full(form.n_models, np.inf), 0
    # Each sweep shrinks errors by the discount at least, so this many are enough.
    for sweeps in range(0, ceil(log(ENOUGH) / log(form.discount)) + CHUNK, CHUNK):
        graph_sweeps(
            indptr, likelihood, form.losses[0], form.discount, *graph, unknown,
            CHUNK, sweeps % (2 * CHUNK) == 0, gaps, change,
        )  # fmt: skip
        scale = gaps.max(axis=0, initial=0.0)
        waited = 0 if (change < 0.9 * least).any() else waited + 1
        least = np.minimum(least, change)
        stalled = waited >= PATIENCE and (change <= NEAR * scale).all()
        if stalled or (change <= ENOUGH * scale).all():
            break
    graph_sweeps(
        indptr, likelihood, form.losses[0], form.discount, *graph, unknown,
        0, True, gaps, change,
    )  # fmt: skip
    gaps += change / (1.0 - form.discount)
    gaps[unknown] = np.nan
    return _first_steps(form, policy, gaps)


def _first_steps(form: LossForm, policy: GraphPolicy, gaps: FloatArray) -> FloatArray:
    """Return the gaps at the first step, given those after rules have settled."""
    # when the last of several rules has begun everywhere, rules have settled
    last = policy.rule_offsets[1:][np.diff(policy.rule_offsets) > 1] - 1
    steps = int(policy.rule_since[last].max(initial=0))
    graph_first_steps(
        form.pattern.indptr, form.likelihood, form.losses[0], form.discount, steps,
        policy.node_state, policy.rule_offsets, policy.rule_since, policy.rule_until,
        policy.rule_action, policy.next_offsets, policy.next_node, gaps,
    )  # fmt: skip
    return gaps


def _approximate(form: LossForm, policy: GraphPolicy, unknown: BoolArray) -> FloatArray:
    """Return a first guess of the gaps of nodes: one sparse linear system per model.

    Sweeps alone would need 1 / (1 - discount) times a few dozen rounds.
    """
    from scipy.sparse import csr_array

    gaps: FloatArray = np.zeros((policy.n_nodes, form.n_models))
    of_rule = np.flatnonzero(np.diff(policy.rule_offsets))  # nodes with a rule
    rules = policy.rule_offsets[1:][of_rule] - 1  # the last one, which holds for ever
    states, actions = policy.node_state[of_rule].astype(np.int64), policy.rule_action
    actions = actions[rules]
    rows = states * form.pattern.n_actions + actions
    lengths = np.diff(form.pattern.indptr)[rows]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entries = np.repeat(form.pattern.indptr[rows], lengths) + within  # of likelihood
    following = policy.next_node[
        np.repeat(policy.next_offsets[rules], lengths) + within
    ]
    sources = np.repeat(of_rule, lengths)
    for member in range(form.n_models):
        chances = form.likelihood[entries, member]
        used = (chances > 0.0) & ~unknown[sources, member]
        chain = csr_array(
            (chances[used], (sources[used], following[used])),
            shape=(policy.n_nodes, policy.n_nodes),
        )
        losses = np.zeros(policy.n_nodes)
        losses[of_rule] = form.losses[0, states, actions, member]
        losses[unknown[:, member]] = 0.0
        found, residual = np.zeros(policy.n_nodes), losses
        step = np.empty(policy.n_nodes)
        with np.errstate(over="ignore", invalid="ignore"):  # if it broke: see below
            for _ in range(REFINEMENTS):
                solve_chain(
                    chain.indptr, chain.indices, chain.data, form.discount, residual,
                    ROUNDS, 1e-6, step,
                )  # fmt: skip
                found = found + step
                residual = losses - (found - form.discount * (chain @ found))
                if np.abs(residual).max() <= ENOUGH * np.abs(found).max():
                    break
        if np.abs(residual).max(initial=0.0) < losses.max(initial=0.0):  # else it broke
            gaps[:, member] = np.maximum(found, 0.0)
    return gaps


def _check_fit(form: LossForm, policy: GraphPolicy) -> None:
    if policy.horizon != form.horizon:
        raise InvalidArgument(
            f"the policy graph has horizon {policy.horizon}, the losses {form.horizon}",
            hint="plan and evaluate with the same horizon or discount",
        )
    if not policy.pattern.same(form.pattern):
        raise InvalidArgument(
            "the policy graph was made for a class with other states or successors",
            hint="evaluate it on the class it was planned for",
        )
