"""Exact gaps of a policy graph in every model (spec 5.4, in loss form).

    g_m(n, h) = loss_m(h, s, a) + discount sum_k P_m(s_k | s, a) g_m(next_k, h + 1)

for the rule of node n at step h. One backward pass over the rules that hold gives all
models at once. A model with prior zero may come where the graph has no rule, because
nobody planned for it: its gap is then not a number. For a model with a positive prior
that is a defect of the graph, and refused.

With a discount the fixed point is approached until a backup changes nothing beyond
rounding; what the last backup would still change, over 1 - discount, is added, so that
the returned gap is not below the true one except for the rounding of one backup.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.policy_graph import (
    graph_backward,
    graph_sweeps,
    mark_unknown,
    most_rules_at_once,
)
from simgap.arrays import FloatArray, owned
from simgap.errors import InvalidArgument
from simgap.oracle.loss_form import LossForm
from simgap.policies.graph import NOWHERE, GraphPolicy

ENOUGH = 1e-14  # relative change of a backup that is rounding and no more
CHUNK = 8  # sweeps between two looks at the change


def graph_gaps(form: LossForm, policy: GraphPolicy) -> FloatArray:
    """Return V*_m - V^pi_m at the start of every model, (M,), NaN where unknown."""
    _check_fit(form, policy)
    at_nodes = node_gaps(form, policy)
    gaps: FloatArray = np.zeros(form.n_models)
    simulators = form.latent.simulators
    for member in range(form.n_models):
        law = simulators.start_law(member)
        begins = np.flatnonzero(law)
        nodes = policy.start_node[begins]
        if form.horizon == 0:
            continue
        first = np.where(nodes == NOWHERE, np.nan, at_nodes[nodes, member])
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
    if form.horizon is None:
        return _discounted(form, policy)
    gaps = np.full((policy.n_nodes, form.n_models), np.nan)
    since, until = policy.rule_since, policy.rule_until
    lengths = np.diff(policy.rule_offsets)
    graph_backward(
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
        gaps,
    )
    return gaps


def _discounted(form: LossForm, policy: GraphPolicy) -> FloatArray:
    shape = (policy.n_nodes, form.n_models)
    has_rule = np.diff(policy.rule_offsets) > 0
    rule_of_node = np.where(has_rule, policy.rule_offsets[:-1], -1)
    graph = (
        policy.node_state, rule_of_node, policy.rule_action, policy.next_offsets,
        policy.next_node,
    )  # fmt: skip
    unknown = np.zeros(shape, np.bool_)
    likelihood, indptr = form.likelihood, form.pattern.indptr
    mark_unknown(indptr, likelihood, form.pattern.n_actions, *graph, unknown)
    gaps: FloatArray = np.zeros(shape)
    change = np.empty(form.n_models)
    least, backwards = np.full(form.n_models, np.inf), True
    while True:
        graph_sweeps(
            indptr, likelihood, form.losses[0], form.discount, *graph, unknown,
            CHUNK, backwards, gaps, change,
        )  # fmt: skip
        backwards = not backwards
        small = change <= ENOUGH * gaps.max(axis=0, initial=0.0)
        if (small | (change >= least)).all():
            break
        least = np.minimum(least, change)
    graph_sweeps(
        indptr, likelihood, form.losses[0], form.discount, *graph, unknown,
        0, True, gaps, change,
    )  # fmt: skip
    gaps += change / (1.0 - form.discount)
    gaps[unknown] = np.nan
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
