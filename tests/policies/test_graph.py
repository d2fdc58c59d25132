"""Policy graphs: what they play, where they end, and what they refuse to be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument, OutsideClass
from simgap.policies import NOWHERE, GraphPolicy, Pattern, Step

# Two states, two actions: action 0 stays, action 1 leads to either state.
PATTERN = Pattern(2, 2, np.array([0, 1, 3, 4, 6]), np.array([0, 0, 1, 1, 0, 1]))


def two_rules() -> GraphPolicy:
    """Node 0 (state 0) stays, then moves from step 2 on; node 1 (state 1) stays."""
    return GraphPolicy(
        "two rules", PATTERN, 4,
        node_state=np.array([0, 1], np.int32),
        start_node=np.array([0, NOWHERE], np.int32),
        rule_offsets=np.array([0, 2, 3]),
        rule_since=np.array([0, 2, 1], np.int32),
        rule_until=np.array([1, 3, 3], np.int32),
        rule_action=np.array([0, 1, 0], np.int32),
        next_offsets=np.array([0, 1, 3, 4]),
        next_node=np.array([0, NOWHERE, 1, 1], np.int32),
    )  # fmt: skip


def test_a_node_follows_the_rule_of_the_step() -> None:
    graph = two_rules()
    assert [int(graph.act(0, h, 0).argmax()) for h in range(4)] == [0, 0, 1, 1]
    assert graph.observe(0, Step(0, 0, 0, 0)) == 0
    assert graph.observe(0, Step(2, 0, 1, 1)) == 1


def test_nowhere_is_outside_the_class_except_after_the_last_step() -> None:
    graph = two_rules()
    with pytest.raises(
        OutsideClass, match="at step 2 action 1 in state 0 led to state 0"
    ):
        graph.observe(0, Step(2, 0, 1, 0))
    assert graph.observe(0, Step(3, 0, 1, 0)) == NOWHERE
    with pytest.raises(OutsideClass, match="began in state 1"):
        graph.start(1)
    with pytest.raises(OutsideClass):  # staying leads nowhere else, at any step
        graph.observe(1, Step(3, 1, 0, 0))


def test_the_error_carries_the_step() -> None:
    step = Step(2, 0, 1, 0)
    with pytest.raises(OutsideClass) as caught:
        two_rules().observe(0, step)
    assert caught.value.step == step


def test_a_step_without_a_rule_or_with_another_action_is_refused() -> None:
    graph = two_rules()
    with pytest.raises(InvalidArgument, match="no rule for step 0"):
        graph.act(1, 0, 1)
    with pytest.raises(InvalidArgument, match="plays action 0"):
        graph.observe(0, Step(0, 0, 1, 0))
    with pytest.raises(InvalidArgument, match="not one of state"):
        graph.act(0, 0, 1)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "named"),
        ("horizon", -1, "horizon"),
        ("horizon", 3, "do not exist"),
        ("node_state", [0, 2], "node_state"),
        ("node_state", [1, 0], "another state"),
        ("start_node", [0], "start_node"),
        ("start_node", [1, NOWHERE], "another state"),
        ("start_node", [0, 2], "start_node"),
        ("rule_offsets", [0, 2, 2], "rule_offsets"),
        ("rule_offsets", [0, 4, 3], "rule_offsets"),
        ("rule_since", [0, 1, 1], "same step"),
        ("rule_since", [0, 2], "rule_since"),
        ("rule_since", [-1, 2, 1], "do not exist"),
        ("rule_until", [3, 1, 3], "do not exist"),
        ("rule_action", [0, 2, 0], "rule_action"),
        ("rule_action", [1, 1, 0], "one successor per column"),
        ("next_offsets", [0, 2, 3, 4], "one successor per column"),
        ("next_offsets", [0, 1, 3, 5], "next_offsets"),
        ("next_node", [0, NOWHERE, 1, 2], "next_node"),
        ("next_node", [1, NOWHERE, 1, 1], "another state"),
    ],
)
def test_a_graph_that_does_not_fit_together_is_refused(
    field: str, value: Any, words: str
) -> None:
    changes: dict[str, Any] = {field: value}
    if isinstance(value, list):
        changes[field] = np.array(value)
    with pytest.raises(InvalidArgument, match=words):
        replace(two_rules(), **changes)


def test_with_a_discount_a_node_has_one_rule() -> None:
    with pytest.raises(InvalidArgument, match="more than one rule"):
        replace(two_rules(), horizon=None)


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 1, 3, 4, 7], [0, 0, 1, 1, 0, 1]),
        ([0, 1, 3, 4], [0, 0, 1, 1]),
        ([0, 3, 1, 4, 6], [0, 0, 1, 1, 0, 1]),
        ([0, 1, 3, 4, 6], [0, 1, 0, 1, 0, 1]),
        ([0, 1, 3, 4, 6], [0, 0, 2, 1, 0, 1]),
        ([0, 1, 3, 4, 6], [0, 0, 0, 1, 0, 1]),
    ],
)
def test_a_pattern_that_is_none_is_refused(
    indptr: list[int], indices: list[int]
) -> None:
    with pytest.raises(InvalidArgument):
        Pattern(2, 2, np.array(indptr), np.array(indices, np.int32))


def test_arrays_of_a_policy_cannot_be_changed() -> None:
    given = np.array([0, 2, 1], np.int32)
    graph = replace(two_rules(), rule_since=given)
    with pytest.raises(ValueError, match="read-only"):
        graph.rule_since[0] = 1
    given[0] = 1  # the caller's array is still the caller's
    assert graph.rule_since[0] == 0
