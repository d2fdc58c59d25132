"""Policy graphs: what they play, where they end, and what they refuse to be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument, OutsideClass
from simgap.oracle.graph_values import graph_gaps, node_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.policies import (
    NOWHERE,
    GraphPolicy,
    Pattern,
    Step,
    load_policy,
    save_policy,
)
from tests.policies import cases
from tests.policies.cases import random_graph
from tests.reference.belief_bounds import discounted_graph_gaps

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


def for_ever(*, since: list[int], until: list[int]) -> GraphPolicy:
    """The same nodes with a discount: node 0 changes its mind, node 1 never does."""
    return replace(
        two_rules(),
        horizon=None,
        rule_since=np.array(since),
        rule_until=np.array(until),
        next_node=np.array([0, 0, 1, 1]),
    )


def test_with_a_discount_the_last_rule_holds_for_ever() -> None:
    """Its `until` is not read, nor its `since` if it is the only one."""
    graph = for_ever(since=[0, 2, 7], until=[1, 3, 0])
    for h, action in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (10**6, 1)):
        assert int(graph.act(0, h, 0).argmax()) == action
        assert graph.rule(1, h, 1) == 2
    assert graph.observe(0, Step(10**6, 0, 1, 1)) == 1


def test_with_a_discount_earlier_rules_hold_when_they_say() -> None:
    graph = for_ever(since=[1, 5, 0], until=[2, 9, 0])
    assert [int(graph.act(0, h, 0).argmax()) for h in (1, 2, 5, 50)] == [0, 0, 1, 1]
    for h in (0, 3, 4):
        with pytest.raises(InvalidArgument, match=f"no rule for step {h}"):
            graph.act(0, h, 0)


def changing_graph(
    rng: np.random.Generator, form: LossForm, *, holes: bool
) -> GraphPolicy:
    """A discounted graph whose nodes follow up to three rules, one after another.

    With holes there are steps without a rule, and successors that are NOWHERE.
    """
    plain, copies = random_graph(rng, form, copies=2), 2
    pattern = form.pattern
    rules, since, until, actions, nexts, after = [0], [], [], [], [0], []
    for node, state in enumerate(plain.node_state):
        at = int(rng.integers(0, 3)) if holes else 0
        many = int(rng.integers(1, 4))
        for turn in range(many):
            last = turn == many - 1
            end = at + int(rng.integers(0, 4))
            since.append(at)
            until.append(int(rng.integers(0, 9)) if last else end)
            at = end + 1 + (int(rng.integers(0, 3)) if holes else 0)
            action = int(rng.integers(pattern.n_actions))
            actions.append(action)
            row = state * pattern.n_actions + action
            for to in pattern.indices[pattern.indptr[row] : pattern.indptr[row + 1]]:
                lost = holes and rng.random() < 0.1
                place = copies * int(to) + int(rng.integers(copies))
                after.append(NOWHERE if lost else place)
            nexts.append(len(after))
        rules.append(len(actions))
        assert node == len(rules) - 2
    return replace(
        plain,
        rule_offsets=np.array(rules),
        rule_since=np.array(since),
        rule_until=np.array(until),
        rule_action=np.array(actions),
        next_offsets=np.array(nexts),
        next_node=np.array(after),
    )


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("holes", [False, True])
def test_discounted_gaps_are_those_of_asking_for_the_rule_at_every_step(
    seed: int, holes: bool
) -> None:
    """Also where a node has no rule for a while: those who come then are unknown."""
    rng = np.random.default_rng(seed)
    form = loss_form(cases.random_latent(rng, without_prior=seed % 2), discount=0.6)
    policy = changing_graph(rng, form, holes=holes)
    wanted = discounted_graph_gaps(form, policy, steps=90)
    found = node_gaps(form, policy)
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    assert np.isnan(found).any() == holes or holes


def test_a_graph_that_changes_with_a_discount_travels(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    form = loss_form(cases.random_latent(rng), discount=0.7)
    policy = changing_graph(rng, form, holes=False)
    save_policy(policy, tmp_path / "graph.simgap")
    loaded = load_policy(tmp_path / "graph.simgap")
    assert isinstance(loaded, GraphPolicy)
    assert graph_gaps(form, loaded).tobytes() == graph_gaps(form, policy).tobytes()
    for h in (0, 3, 40):
        assert loaded.rule(0, h, 0) == policy.rule(0, h, 0)


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
