"""The oracle as a policy graph: tree nodes first, then plans that lose nothing.

A node of the tree has one rule, for its own step. A plan (support, state) has one rule
for each run of steps with the same action. Where no model of positive prior can lead,
the graph goes on with the plan of the model that makes the step likeliest, so that its
gap is defined in every model of the class.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.beliefs import first_steps, tree_rules
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.oracle.exact.evidence import Supports
from simgap.oracle.exact.follow import Skeleton
from simgap.oracle.loss_form import LossForm
from simgap.policies import NOWHERE, GraphPolicy


def policy_graph(
    form: LossForm, supports: Supports, skeleton: Skeleton, name: str
) -> GraphPolicy:
    """Return the policy graph of a skeleton, without nodes that cannot be reached."""
    pattern, steps = form.pattern, form.steps
    first = np.full((supports.count, pattern.n_states), steps + 1, np.int32)
    for s, link in enumerate(skeleton.starts):
        if link <= -2:
            first[-2 - link, s] = 0
    settled, plan_next = supports.settled[: supports.count], supports.plan_next
    first_steps(
        pattern.indptr, pattern.indices, pattern.n_actions, settled, plan_next,
        supports.corner, skeleton.layers, skeleton.state, skeleton.action,
        skeleton.on_path, skeleton.first_link, skeleton.links, first,
    )  # fmt: skip
    in_tree = np.flatnonzero(skeleton.on_path)
    number = np.full(skeleton.on_path.size, NOWHERE, np.int32)
    number[in_tree] = np.arange(in_tree.size)
    plans = np.argwhere(first <= steps)  # (plans, 2): support and state
    plan_number = np.full(first.shape, NOWHERE, np.int32)
    plan_number[plans[:, 0], plans[:, 1]] = in_tree.size + np.arange(len(plans))

    step_of = np.repeat(np.arange(steps), np.diff(skeleton.layers))[in_tree]
    runs = [_runs(settled[i, :, s], int(first[i, s])) for i, s in plans]
    per_plan = [len(each) for each in runs]
    flat = np.array([run for each in runs for run in each], np.int64).reshape(-1, 3)
    since = np.concatenate([step_of, flat[:, 0]])
    until = np.concatenate([step_of, flat[:, 1]])
    action = np.concatenate([skeleton.action[in_tree], flat[:, 2]])
    of_plan = np.repeat(np.arange(len(plans)), per_plan)
    rule_state = np.concatenate([skeleton.state[in_tree], plans[of_plan, 1]])
    rows = rule_state.astype(np.int64) * pattern.n_actions + action
    lengths = np.diff(pattern.indptr)[rows]
    next_offsets = _offsets(lengths)
    next_node = np.full(int(next_offsets[-1]), NOWHERE, np.int32)
    tree_rules(
        pattern.indptr, pattern.indices, pattern.n_actions, supports.corner,
        skeleton.layers, skeleton.state, skeleton.action, skeleton.first_link,
        skeleton.links, number, plan_number, next_offsets, next_node,
    )  # fmt: skip
    for rule, plan in enumerate(of_plan, start=in_tree.size):
        columns = np.arange(pattern.indptr[rows[rule]], pattern.indptr[rows[rule] + 1])
        there = plan_next[plans[plan, 0], columns]
        known = there >= 0
        after = np.full(columns.size, NOWHERE, np.int32)
        after[known] = plan_number[there[known], pattern.indices[columns[known]]]
        next_node[next_offsets[rule] : next_offsets[rule + 1]] = after
    starts = skeleton.starts
    start_node = np.full(pattern.n_states, NOWHERE, np.int32)
    for s, link in enumerate(starts):
        if link >= 0:
            start_node[s] = number[link]
        elif link <= -2:
            start_node[s] = plan_number[-2 - link, s]
    return GraphPolicy(
        name=name,
        pattern=pattern,
        horizon=form.horizon,
        node_state=owned(
            np.concatenate([skeleton.state[in_tree], plans[:, 1]]).astype(np.int32)
        ),
        start_node=owned(start_node),
        rule_offsets=owned(_offsets(np.concatenate([np.ones(in_tree.size), per_plan]))),
        rule_since=owned(since.astype(np.int32)),
        rule_until=owned(until.astype(np.int32)),
        rule_action=owned(action.astype(np.int32)),
        next_offsets=owned(next_offsets),
        next_node=owned(next_node),
    )


def _runs(actions: IndexArray, first: int) -> list[tuple[int, int, int]]:
    """Return (since, until, action) of the runs of one action from a step on."""
    own = actions[first:]
    if not own.size:
        return []
    ends = np.append(np.flatnonzero(np.diff(own)), own.size - 1)
    begins = np.append(0, ends[:-1] + 1)
    runs = zip(begins + first, ends + first, own[begins], strict=True)
    return [(int(a), int(b), int(action)) for a, b, action in runs if action >= 0]


def _offsets(lengths: FloatArray | OffsetArray) -> OffsetArray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    offsets[1:] = np.cumsum(lengths)
    return offsets
