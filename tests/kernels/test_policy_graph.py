"""The backward pass over rules against a loop over nodes and steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from simgap._kernels.beliefs.policy_graph import (
    graph_sweeps,
    most_rules_at_once,
    solve_chain,
)
from simgap.oracle import graph_values
from simgap.oracle.graph_values import node_gaps
from simgap.oracle.loss_form import loss_form
from tests.policies.cases import random_graph, random_latent
from tests.reference.policy_graph import gaps_of_nodes


@pytest.mark.parametrize("seed", range(30))
def test_every_node_has_the_gap_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=int(rng.integers(1, 5)), without_prior=seed % 2)
    form = loss_form(latent, horizon=int(rng.integers(1, 9)))
    policy = random_graph(rng, form, copies=int(rng.integers(1, 4)))
    found, wanted = node_gaps(form, policy), gaps_of_nodes(form, policy)
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert found == pytest.approx(wanted, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("seed", range(30))
def test_rules_that_hold_at_some_steps_only_leave_the_others_unknown(seed: int) -> None:
    """A value that was right at another step is not taken for one of this step."""
    rng = np.random.default_rng(seed)
    form = loss_form(random_latent(rng, zeros=0.5), horizon=8)
    policy = random_graph(rng, form, copies=3)
    since = rng.integers(policy.rule_since, policy.rule_until + 1, dtype=np.int32)
    until = rng.integers(since, policy.rule_until + 1, dtype=np.int32)
    thin = replace(policy, rule_since=since, rule_until=until)
    found, wanted = node_gaps(form, thin), gaps_of_nodes(form, thin)
    assert np.isnan(wanted).any()
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert found == pytest.approx(wanted, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sweeps", [0, 1, 2])
def test_sweeps_replace_known_gaps_by_their_backup(
    sweeps: int, backwards: bool
) -> None:
    """In place, node by node; what is unknown or has no rule stays as it is."""
    rng = np.random.default_rng(4)
    form = loss_form(random_latent(rng, members=3), discount=0.75)
    policy, n_actions = random_graph(rng, form, copies=2), form.pattern.n_actions
    rules = policy.rule_offsets[1:].astype(np.int64) - 1
    rules[1] = -1
    unknown = rng.random((policy.n_nodes, 3)) < 0.3
    before = rng.random(unknown.shape)
    gaps, change = before.copy(), np.full(3, np.nan)
    graph_sweeps(
        form.pattern.indptr, form.likelihood, form.losses[0], 0.75, policy.node_state,
        rules, policy.rule_action, policy.next_offsets, policy.next_node, unknown,
        sweeps, backwards, gaps, change,
    )  # fmt: skip
    wanted, moved = before.copy(), np.zeros(3)
    nodes = range(policy.n_nodes)
    for _ in range(max(sweeps, 1)):
        moved[:] = 0.0
        for node in reversed(nodes) if backwards else nodes:
            rule = rules[node]
            if rule < 0:
                continue
            s, a = policy.node_state[node], policy.rule_action[rule]
            row = form.pattern.indptr[s * n_actions + a :][:2]
            after = policy.next_node[slice(*policy.next_offsets[rule : rule + 2])]
            there = np.where(after[:, None] >= 0, wanted[after], 0.0)
            total = (form.likelihood[slice(*row)] * there).sum(axis=0)
            found = form.losses[0, s, a] + 0.75 * total
            size = np.where(unknown[node], 0.0, np.abs(found - wanted[node]))
            moved = np.maximum(moved, size)
            if sweeps:
                wanted[node] = np.where(unknown[node], wanted[node], found)
    assert gaps == pytest.approx(wanted, rel=1e-14)
    assert change == pytest.approx(moved, rel=1e-13) and (change > 0.0).all()
    assert (gaps[unknown] == before[unknown]).all() and (gaps[1] == before[1]).all()
    assert (gaps != before).any() == (sweeps > 0)


@pytest.mark.parametrize("guess", [0.0, 3.0, 100.0])
def test_gaps_with_a_discount_hold_whatever_they_are_guessed(
    guess: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    form = loss_form(random_latent(rng, members=3), discount=0.9)
    policy = random_graph(rng, form, copies=2)
    wanted = node_gaps(form, policy)
    shape = wanted.shape
    monkeypatch.setattr(graph_values, "_approximate", lambda *_: np.full(shape, guess))
    assert node_gaps(form, policy) == pytest.approx(wanted, rel=1e-9, nan_ok=True)
    assert np.isfinite(wanted).any()


@pytest.mark.parametrize("discount", [0.5, 0.99, 0.9999])
def test_the_chain_is_solved_as_by_elimination(discount: float) -> None:
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.full(30, 0.1), 30)
    target = rng.random(30)
    chain, found = csr_array(P), np.empty(30)
    solve_chain(
        chain.indptr, chain.indices, chain.data, discount, target, 200, 1e-12, found
    )
    wanted = np.linalg.solve(np.eye(30) - discount * P, target)
    assert found == pytest.approx(wanted, rel=1e-7)
    solve_chain(
        chain.indptr, chain.indices, chain.data, discount, 0 * target, 200, 1e-12, found
    )
    assert (found == 0.0).all()


def test_the_most_rules_at_once_are_counted_at_their_busiest_step() -> None:
    since = np.array([0, 1, 2, 2, 4], np.int32)
    until = np.array([0, 3, 2, 4, 4], np.int32)
    assert most_rules_at_once(since, until, 5) == 3
    assert most_rules_at_once(since[:0], until[:0], 5) == 0


def test_nodes_without_a_rule_at_the_first_step_are_unknown() -> None:
    rng = np.random.default_rng(5)
    form = loss_form(random_latent(rng, zeros=0.0), horizon=3)
    policy = random_graph(rng, form, copies=1)
    later = np.maximum(policy.rule_since, 1)
    alone = (policy.rule_until > 0) & (policy.rule_since == 0)
    late = replace(policy, rule_since=np.where(alone, later, policy.rule_since))
    first = np.zeros(policy.n_nodes, bool)
    lengths = np.diff(policy.rule_offsets)
    first[np.repeat(np.arange(policy.n_nodes), lengths)[alone]] = True
    assert first.any()
    assert np.isnan(node_gaps(form, late))[first].all()
    assert not np.isnan(node_gaps(form, policy)).any()
