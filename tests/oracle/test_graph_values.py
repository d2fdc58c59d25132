"""Gaps of policy graphs: against rewards played out, linear algebra and simulation."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle.graph_values import graph_gaps, graph_values
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.planning import policy_values
from simgap.policies import NOWHERE, GraphPolicy, Step
from tests.policies.cases import random_graph, random_latent
from tests.reference.policy_graph import values_by_playing


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_playing_the_graph(seed: int) -> None:
    """Rewards in Fractions, through start, act and observe only."""
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, without_prior=seed % 3 % 2)
    form = loss_form(latent, horizon=int(rng.integers(0, 7)))
    policy = random_graph(rng, form, copies=int(rng.integers(1, 4)))
    assert form.horizon is not None
    wanted = values_by_playing(latent, policy, form.horizon)
    found = graph_values(form, policy)
    for value, exact in zip(found, wanted, strict=True):
        if exact is None:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(float(exact), abs=1e-12)


def test_some_models_without_prior_are_unknown_and_others_are_not() -> None:
    """The comparison above would be empty if no graph ever ended NOWHERE."""
    unknown = known = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        latent = random_latent(rng, without_prior=1, zeros=0.2)
        form = loss_form(latent, horizon=2)
        gaps = graph_gaps(form, random_graph(rng, form))
        assert not np.isnan(gaps[:-1]).any()
        unknown += int(np.isnan(gaps[-1]))
        known += int(not np.isnan(gaps[-1]))
    assert unknown >= 5
    assert known >= 5


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("discount", [0.3, 0.9, 0.999])
def test_a_discounted_graph_solves_its_linear_equations(
    seed: int, discount: float
) -> None:
    rng = np.random.default_rng(seed)
    form = loss_form(random_latent(rng, without_prior=seed % 2), discount=discount)
    policy = random_graph(rng, form)
    gaps = graph_gaps(form, policy)
    for member in np.flatnonzero(form.latent.prior):
        exact = _by_linear_algebra(form, policy, int(member))
        scale = max(exact, 1e-3)
        assert gaps[member] == pytest.approx(exact, abs=1e-9 * scale)
        assert gaps[member] >= exact - 1e-12 * scale / (1.0 - discount)


def test_a_stationary_table_has_the_values_of_planning() -> None:
    rng = np.random.default_rng(3)
    latent = random_latent(rng, states=4, zeros=0.0)
    form = loss_form(latent, horizon=30)
    policy = random_graph(rng, form, copies=1)
    if policy.n_rules != 4:
        policy = _one_rule_each(policy)
    table = policy.rule_action
    wanted = policy_values(latent.simulators, table, 30).start
    assert graph_values(form, policy) == pytest.approx(wanted, abs=1e-11)


def test_simulated_rewards_agree_with_exact_values() -> None:
    """Hoeffding at 1e-6 for each model; twice the value would be noticed."""
    rng = np.random.default_rng(8)
    latent = random_latent(rng)
    horizon, episodes = 5, 1_000
    form = loss_form(latent, horizon=horizon)
    policy = random_graph(rng, form)
    values = graph_values(form, policy)
    margin = horizon * sqrt(np.log(2e6) / (2.0 * episodes))
    for member in range(form.n_models):
        mean = np.mean([_return(rng, latent, policy, member) for _ in range(episodes)])
        assert abs(mean - values[member]) <= margin
        assert abs(2.0 * mean - values[member]) > margin


def test_a_graph_that_forgets_a_possible_step_is_refused() -> None:
    rng = np.random.default_rng(0)
    form = loss_form(random_latent(rng, zeros=0.0), horizon=4)
    policy = random_graph(rng, form)
    broken = _replaced(policy, next_node=np.full(policy.next_node.size, NOWHERE))
    with pytest.raises(InvalidArgument, match="no rule for something"):
        graph_gaps(form, broken)


def test_a_graph_of_another_class_or_horizon_is_refused() -> None:
    rng = np.random.default_rng(1)
    form = loss_form(random_latent(rng), horizon=4)
    policy = random_graph(rng, form)
    with pytest.raises(InvalidArgument, match="horizon 4"):
        graph_gaps(loss_form(form.latent, horizon=5), policy)
    other = loss_form(random_latent(rng, states=4), horizon=4)
    with pytest.raises(InvalidArgument, match="other states"):
        graph_gaps(other, policy)


def _by_linear_algebra(form: LossForm, policy: GraphPolicy, member: int) -> float:
    """Return the gap of one model; nodes that it cannot reach may lead nowhere."""
    count = policy.n_nodes
    chain, losses = np.zeros((count, count)), np.zeros(count)
    for node, state in enumerate(policy.node_state):
        rule = policy.rule_offsets[node]
        action = policy.rule_action[rule]
        begin = form.pattern.indptr[state * form.pattern.n_actions + action]
        losses[node] = form.losses[0, state, action, member]
        for k in range(_width(policy, rule)):
            to = policy.next_node[policy.next_offsets[rule] + k]
            if to != NOWHERE:
                chain[node, to] += form.likelihood[begin + k, member]
    gaps = np.linalg.solve(np.eye(count) - form.discount * chain, losses)
    law = form.latent.simulators.start_law(member)
    return float(sum(p * gaps[policy.start_node[s]] for s, p in enumerate(law) if p))


def _width(policy: GraphPolicy, rule: int) -> int:
    return int(policy.next_offsets[rule + 1] - policy.next_offsets[rule])


def _return(
    rng: np.random.Generator, latent: LatentMDP, policy: GraphPolicy, member: int
) -> float:
    model = latent.simulators[member]
    law = latent.simulators.start_law(member)
    state, total = int(rng.choice(law.size, p=law)), 0.0
    memory = policy.start(state)
    assert policy.horizon is not None
    for h in range(policy.horizon):
        action = int(np.argmax(policy.act(memory, h, state)))
        total += float(model.rewards[state, action])
        successors, chances = model.transitions.row(0, state, action)
        after = int(rng.choice(successors, p=chances))
        memory = policy.observe(memory, Step(h, state, action, after))
        state = after
    return total


def _one_rule_each(policy: GraphPolicy) -> GraphPolicy:
    """Keep the first rule of every node, for all steps."""
    first = policy.rule_offsets[:-1]
    lengths = np.diff(policy.next_offsets)[first]
    kept = [
        policy.next_node[policy.next_offsets[r] : policy.next_offsets[r + 1]]
        for r in first
    ]
    assert policy.horizon is not None
    return _replaced(
        policy,
        rule_offsets=np.arange(first.size + 1),
        rule_since=np.zeros(first.size),
        rule_until=np.full(first.size, policy.horizon - 1),
        rule_action=policy.rule_action[first],
        next_offsets=np.cumsum([0, *lengths]),
        next_node=np.concatenate(kept),
    )


def _replaced(policy: GraphPolicy, **changes: object) -> GraphPolicy:
    from dataclasses import replace

    return replace(policy, **changes)  # type: ignore[arg-type]
