"""From the rules of a pass to a policy graph: only what an episode can come to."""

from __future__ import annotations

import numpy as np

from simgap._kernels.beliefs import reach_nodes
from simgap.arrays import IndexArray, OffsetArray
from simgap.oracle.bounded.upper_graph import UpperPass
from simgap.oracle.loss_form import LossForm
from simgap.policies import NOWHERE, GraphPolicy

NAME = "oracle"


def policy_graph(form: LossForm, made: UpperPass) -> GraphPolicy:
    """Return the graph of a pass, without nodes that no episode visits."""
    pattern, rules, nodes = form.pattern, made.rules, made.nodes
    start_node = np.full(pattern.n_states, NOWHERE, np.int32)
    start_node[form.root_states] = made.roots
    _start_everywhere(form, made, start_node)
    used = np.zeros(nodes.size, np.bool_)
    reach_nodes(
        pattern.indptr, pattern.n_actions, nodes.node_state, rules.offsets,
        rules.actions, rules.successors, start_node[start_node >= 0], used,
    )  # fmt: skip
    number = np.cumsum(used, dtype=np.int32) - 1
    kept = np.repeat(used, np.diff(rules.offsets))
    counts = np.diff(rules.offsets)[used]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    until, actions = rules.until[kept], rules.actions[kept]
    rows = np.repeat(nodes.node_state[used].astype(np.int64), counts)
    widths = np.diff(pattern.indptr)[rows * pattern.n_actions + actions]
    columns = np.arange(rules.successors.shape[1]) < widths[:, None]
    return GraphPolicy(
        name=NAME,
        pattern=pattern,
        horizon=form.horizon,
        node_state=nodes.node_state[used],
        start_node=np.where(start_node >= 0, number[start_node], NOWHERE),
        rule_offsets=offsets,
        rule_since=_since(offsets, until),
        rule_until=until,
        rule_action=actions,
        next_offsets=np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
        next_node=number[rules.successors[kept][columns]],
    )


def _since(offsets: OffsetArray, until: IndexArray) -> IndexArray:
    """Return the first step of each rule: one after the last of the rule before."""
    since = np.zeros(until.size, np.int32)
    since[1:] = until[:-1] + 1
    since[offsets[:-1][np.diff(offsets) > 0]] = 0
    return since


def _start_everywhere(form: LossForm, made: UpperPass, start_node: IndexArray) -> None:
    """Let models of prior zero begin where only they can, as their own corner."""
    simulators = form.latent.simulators
    for member in np.flatnonzero(form.latent.prior == 0.0):
        for state in np.flatnonzero(simulators.start_law(int(member))):
            if start_node[state] < 0:
                start_node[state] = made.nodes.state_offsets[state] + member
