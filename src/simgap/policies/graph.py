"""A policy graph: nodes, and rules that say what a node does and where it goes next.

A node is one thing the agent can remember. At step h node n follows the one rule of n
with since <= h <= until: it plays the action of the rule and, when the next state is
the k-th successor in the row of (state, action), moves to the k-th node of the rule.
Nodes that do the same at many steps need one rule for all of them, so graphs of long
horizons stay small. Values of a graph in each model are computed exactly, backwards.

With a discount (`horizon` is None) the last rule of a node holds for ever; its `until`
is not read, nor its `since` if it is the only one. After the last step of an episode
nothing needs to be remembered, so NOWHERE is then a memory like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray, read_only
from simgap.errors import InvalidArgument
from simgap.policies.checks import (
    check_horizon,
    check_lived,
    check_name,
    check_state,
    check_step,
    outside,
    outside_at_start,
    surely,
)
from simgap.policies.interface import Policy, Step

NOWHERE = -1  # a successor that no model with a positive prior allows
FOREVER = 2**31 - 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Which successors rows have: `indptr` and `indices` of the class's transitions."""

    n_states: int
    n_actions: int
    indptr: OffsetArray  # (S * A + 1,)
    indices: IndexArray  # (nnz,), increasing within a row

    def __post_init__(self) -> None:
        object.__setattr__(self, "indptr", read_only(self.indptr, np.int64))
        object.__setattr__(self, "indices", read_only(self.indices, np.int32))
        if self.n_states < 1 or self.n_actions < 1:
            raise InvalidArgument(
                f"a pattern of {self.n_states} states and {self.n_actions} actions",
                hint="there is at least one of each",
            )
        rows = self.n_states * self.n_actions
        check_offsets(self.indptr, rows, self.indices.size, "indptr")
        check_range(self.indices, 0, self.n_states, "indices")
        rising = np.diff(self.indices) > 0
        inner = self.indptr[1:-1]
        rising[inner[(inner > 0) & (inner < self.indices.size)] - 1] = True
        if not rising.all():
            raise InvalidArgument(
                "the successors of a row are not in increasing order",
                hint="sort each row of the pattern",
            )

    def column(self, step: Step) -> int:
        """Return where the next state stands in its row, or -1 if it does not."""
        row = step.state * self.n_actions + step.action
        begin, end = self.indptr[row], self.indptr[row + 1]
        at = int(np.searchsorted(self.indices[begin:end], step.next_state))
        found = begin + at < end and self.indices[begin + at] == step.next_state
        return at if found else -1

    def same(self, other: Pattern) -> bool:
        """Return whether two patterns have the same states, actions and successors."""
        return self is other or (
            self.n_states == other.n_states
            and self.n_actions == other.n_actions
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class GraphPolicy:
    """A finite-memory policy with exact values; memory is the number of a node."""

    name: str
    pattern: Pattern
    horizon: int | None  # None: discounted, the last rule of a node holds for ever
    node_state: IndexArray  # (N,), the observed state in which the node is used
    start_node: IndexArray  # (S,), the first node, NOWHERE if episodes cannot start
    rule_offsets: OffsetArray  # (N + 1,), rules of a node by increasing `until`
    rule_since: IndexArray  # (R,), first step of the rule
    rule_until: IndexArray  # (R,), last step of the rule
    rule_action: IndexArray  # (R,)
    next_offsets: OffsetArray  # (R + 1,), rule r has one successor node per column
    next_node: IndexArray  # of the row of (node_state, rule_action), NOWHERE allowed
    fallback: Policy[Any] | None = None  # plays on where no rule leads (`Agent`)

    def __post_init__(self) -> None:
        for field in ("rule_offsets", "next_offsets"):
            object.__setattr__(self, field, read_only(getattr(self, field), np.int64))
        for field in ("node_state", "start_node", "rule_since", "rule_until"):
            object.__setattr__(self, field, read_only(getattr(self, field), np.int32))
        for field in ("rule_action", "next_node"):
            object.__setattr__(self, field, read_only(getattr(self, field), np.int32))
        check_name(self.name)
        check_horizon(self.horizon)
        _check_nodes(self)
        _check_rules(self)
        _check_successors(self)

    @property
    def n_nodes(self) -> int:
        return int(self.node_state.size)

    @property
    def n_rules(self) -> int:
        return int(self.rule_action.size)

    def start(self, state: int) -> int:
        """Return the first node of an episode that begins in `state`."""
        check_state(state, self.pattern.n_states)
        node = int(self.start_node[state])
        if node == NOWHERE:
            raise outside_at_start(state)
        return node

    def act(self, memory: int, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        rule = self.rule(memory, h, state)
        return surely(int(self.rule_action[rule]), self.pattern.n_actions)

    def observe(self, memory: int, step: Step) -> int:
        """Return the node after a step."""
        pattern = self.pattern
        check_lived(step, self.horizon, pattern.n_states, pattern.n_actions)
        rule = self.rule(memory, step.h, step.state)
        if step.action != self.rule_action[rule]:
            raise InvalidArgument(
                f"node {memory} plays action {self.rule_action[rule]} at step "
                f"{step.h}, the step has action {step.action}",
                hint="a policy graph remembers only what follows its own actions",
            )
        column = pattern.column(step)
        node = NOWHERE
        if column >= 0:
            node = int(self.next_node[self.next_offsets[rule] + column])
        over = self.horizon is not None and step.h == self.horizon - 1
        if column < 0 or (node == NOWHERE and not over):
            raise outside(step)
        return node

    def node_of(self, h: int, state: int) -> int | None:
        """Return a node of a state that has a rule for step h: the first one's first.

        For who has left the graph and has nothing better to go on with.
        """
        start = int(self.start_node[state])
        for node in (start, *np.flatnonzero(self.node_state == state).tolist()):
            try:
                self.rule(node, h, state)
            except InvalidArgument:
                continue
            return int(node)
        return None

    def rule(self, memory: int, h: int, state: int) -> int:
        """Return the rule that node `memory` follows at step h."""
        check_step(h, self.horizon)
        if not 0 <= memory < self.n_nodes or self.node_state[memory] != state:
            raise InvalidArgument(
                f"node {memory!r} is not one of state {state!r}",
                hint="memories come from start() and observe() of the same policy",
            )
        begin, end = self.rule_offsets[memory], self.rule_offsets[memory + 1]
        last = end if self.horizon is not None else max(begin, end - 1)
        at = begin + int(np.searchsorted(self.rule_until[begin:last], h))
        alone = self.horizon is None and end - begin == 1
        if at == end or (self.rule_since[at] > h and not alone):
            raise InvalidArgument(
                f"node {memory} has no rule for step {h}",
                hint="the memory belongs to another step, or the graph is incomplete",
            )
        return int(at)


def check_offsets(offsets: OffsetArray, rows: int, size: int, name: str) -> None:
    """Raise unless offsets are those of `rows` rows with `size` entries together."""
    if (
        offsets.shape != (rows + 1,)
        or offsets[0] != 0
        or offsets[-1] != size
        or (np.diff(offsets) < 0).any()
    ):
        raise InvalidArgument(
            f"{name} does not cut {size} entries into {rows} rows",
            hint=f"{name} has {rows + 1} numbers, rising from 0 to {size}",
        )


def check_range(numbers: AnyArray, low: int, high: int, name: str) -> None:
    """Raise unless all numbers of one axis are at least low and below high."""
    if numbers.ndim != 1:
        raise InvalidArgument(f"{name} has shape {numbers.shape}", hint="one axis")
    if numbers.size and (numbers.min() < low or numbers.max() >= high):
        wrong = numbers[(numbers < low) | (numbers >= high)][0]
        raise InvalidArgument(
            f"{name} holds {wrong}", hint=f"its numbers are {low} to {high - 1}"
        )


def _check_nodes(graph: GraphPolicy) -> None:
    n_states = graph.pattern.n_states
    check_range(graph.node_state, 0, n_states, "node_state")
    check_range(graph.start_node, NOWHERE, graph.n_nodes, "start_node")
    if graph.start_node.shape != (n_states,):
        raise InvalidArgument(
            f"start_node has shape {graph.start_node.shape}",
            hint=f"there are {n_states} states: one node each, or {NOWHERE}",
        )
    begins = np.flatnonzero(graph.start_node != NOWHERE)
    if (graph.node_state[graph.start_node[begins]] != begins).any():
        raise InvalidArgument(
            "start_node names a node of another state",
            hint="node_state[start_node[s]] is s",
        )


def _check_rules(graph: GraphPolicy) -> None:
    offsets, rules = graph.rule_offsets, graph.n_rules
    check_range(graph.rule_action, 0, graph.pattern.n_actions, "rule_action")
    check_offsets(offsets, graph.n_nodes, rules, "rule_offsets")
    since, until = graph.rule_since, graph.rule_until
    if since.shape != (rules,) or until.shape != (rules,):
        raise InvalidArgument(
            f"rule_since and rule_until have shapes {since.shape} and {until.shape}",
            hint=f"there are {rules} rules",
        )
    if graph.horizon is None:  # last rules hold for ever
        last = offsets[1:][np.diff(offsets) > 0] - 1
        alone = offsets[:-1][np.diff(offsets) == 1]
        since, until = since.copy(), until.copy()
        until[last], since[alone] = FOREVER, 0
    end = FOREVER if graph.horizon is None else graph.horizon - 1
    if rules and (since.min() < 0 or until.max() > end or (since > until).any()):
        raise InvalidArgument(
            "a rule holds at steps that do not exist",
            hint=f"0 <= since <= until <= {end}",
        )
    after = since[1:] > until[:-1]
    inner = offsets[1:-1]
    after[inner[(inner > 0) & (inner < rules)] - 1] = True
    if not after.all():
        raise InvalidArgument(
            "two rules of one node hold at the same step, or are not in order",
            hint="rules of a node are sorted by `until` and do not overlap",
        )


def _check_successors(graph: GraphPolicy) -> None:
    pattern = graph.pattern
    check_range(graph.next_node, NOWHERE, graph.n_nodes, "next_node")
    check_offsets(
        graph.next_offsets, graph.n_rules, graph.next_node.size, "next_offsets"
    )
    of_rule = np.repeat(graph.node_state, np.diff(graph.rule_offsets))
    rows = of_rule.astype(np.int64) * pattern.n_actions + graph.rule_action
    begins, lengths = pattern.indptr[rows], np.diff(pattern.indptr)[rows]
    if (np.diff(graph.next_offsets) != lengths).any():
        raise InvalidArgument(
            "a rule does not have one successor per column of its row",
            hint="next_node has an entry, maybe NOWHERE, for every column",
        )
    shift = np.repeat(begins - graph.next_offsets[:-1], lengths)
    states = pattern.indices[np.arange(graph.next_node.size) + shift]
    known = graph.next_node != NOWHERE
    if (graph.node_state[graph.next_node[known]] != states[known]).any():
        raise InvalidArgument(
            "next_node names a node of another state",
            hint="the k-th successor of a rule is a node of the k-th next state",
        )
