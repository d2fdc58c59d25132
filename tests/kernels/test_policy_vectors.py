"""Vectors of the upper side: those of the stored rules, and of real episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap._kernels.beliefs.oracle_upper_side import (
    best_vectors,
    follow_choices,
    reach_nodes,
)
from simgap.instances import garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle.bounded.graph_assembly import policy_graph
from simgap.oracle.bounded.points import BeliefPoints, PointSource, no_vectors
from simgap.oracle.bounded.upper_graph import UpperPass
from simgap.oracle.bounded.upper_nodes import UpperNodes, upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.bounded.visits import visits_of
from simgap.oracle.graph_values import graph_gaps, node_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.policies import GraphPolicy
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import occupancy


def case(seed: int, *, discount: float | None = None) -> tuple[LossForm, UpperNodes]:
    rng = np.random.default_rng(seed)
    latent = random_latent(
        rng, states=int(rng.integers(1, 5)), actions=int(rng.integers(1, 4)),
        members=int(rng.integers(2, 5)), without_prior=seed % 2,
    )  # fmt: skip
    horizon = int(rng.integers(1, 8)) if discount is None else None
    form = loss_form(latent, horizon=horizon, discount=discount)
    count = int(rng.integers(0, 20))
    beliefs = rng.dirichlet(np.ones(form.n_models), count) * (latent.prior > 0.0)
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    states = rng.integers(0, form.pattern.n_states, count).astype(np.int32)
    nodes = upper_nodes(form, BeliefPoints(states, beliefs), levels=seed % 4)
    return form, nodes


def passes(form: LossForm, nodes: UpperNodes, count: int) -> list[UpperPass]:
    """Return passes, each by the visits of the one before."""
    made = [upper_pass(form, nodes, _go_on)]
    while len(made) < count:
        visits = visits_of(form, made[-1], 1e9, _go_on)
        again = upper_pass(
            form, nodes, _go_on, earlier=made[-1].rules, visits=visits
        )  # fmt: skip
        made.append(again)
    return made


def everywhere(form: LossForm, made: UpperPass) -> GraphPolicy:
    """Return the graph of a pass with all its nodes: none is dropped."""
    graph = policy_graph(form, made)
    assert graph.n_nodes <= made.nodes.size
    rules, nodes, pattern = made.rules, made.nodes, form.pattern
    counts = np.diff(rules.offsets)
    states = np.repeat(nodes.node_state, counts).astype(np.int64)
    widths = np.diff(pattern.indptr)[states * pattern.n_actions + rules.actions]
    since = np.zeros(rules.until.size, np.int32)
    since[1:] = rules.until[:-1] + 1
    since[rules.offsets[:-1]] = 0
    start = np.full(pattern.n_states, -1)
    start[form.root_states] = made.roots
    return replace(
        graph, node_state=nodes.node_state, start_node=start,
        rule_offsets=rules.offsets, rule_since=since, rule_until=rules.until,
        rule_action=rules.actions, next_offsets=np.concatenate([[0], widths.cumsum()]),
        next_node=np.concatenate(
            [row[:width] for row, width in zip(rules.successors, widths, strict=True)]
        ),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_vectors_are_the_gaps_of_the_stored_rules(seed: int) -> None:
    """In every node and every model, first pass and later ones."""
    form, nodes = case(seed)
    for made in passes(form, nodes, 3):
        gaps = node_gaps(form, everywhere(form, made))
        assert made.vectors == pytest.approx(gaps, rel=1e-12, abs=1e-13)
        found = graph_gaps(form, policy_graph(form, made))
        known = form.latent.prior > 0.0
        assert not np.isnan(found).any()
        average = form.latent.prior[known] @ found[known]
        assert average == pytest.approx(made.upper, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_discounted_vectors_are_those_of_rules_that_end_in_a_stationary_graph(
    seed: int,
) -> None:
    form, nodes = case(seed, discount=(0.3, 0.8, 0.95)[seed % 3])
    for made in passes(form, nodes, 2):
        gaps = node_gaps(form, everywhere(form, made))
        scale = max(float(gaps.max()), 1e-12)
        assert made.vectors == pytest.approx(gaps, abs=2e-5 * scale)
        assert (gaps <= made.vectors + made.loose + 1e-12 * scale).all()
        found = graph_gaps(form, policy_graph(form, made))
        average = float(form.latent.prior @ found)
        assert made.upper - 4e-5 * scale <= average <= made.upper + 1e-12 * scale


@pytest.mark.parametrize("seed", range(16))
def test_visits_are_the_weights_that_a_forward_run_has(seed: int) -> None:
    """The twin goes through act and observe's tables; all weights sum to 1."""
    discount = 0.8 if seed % 4 == 3 else None
    form, nodes = case(seed, discount=discount)
    made = passes(form, nodes, 2)[-1]
    visits = visits_of(form, made, 1e9, _go_on)
    assert visits is not None
    twin = occupancy(form, everywhere(form, made), len(visits))
    for (which, beliefs, *_), weights in zip(visits, twin, strict=True):
        total = sum(float(w.sum()) for w in weights.values())
        assert total == pytest.approx(1.0, abs=1e-9)
        likely = {node: w for node, w in weights.items() if w.sum() > 1.1e-8}
        assert set(likely) <= set(which.tolist())
        assert len(set(which.tolist())) == which.size
        for node, belief in zip(which.tolist(), beliefs, strict=True):
            wanted = weights[node] / weights[node].sum()
            assert belief == pytest.approx(wanted, abs=1e-6)


def test_visits_that_do_not_fit_are_not_counted() -> None:
    form, nodes = case(2)
    assert visits_of(form, upper_pass(form, nodes, _go_on), 10.0, _go_on) is None


@pytest.mark.parametrize("seed", range(24))
def test_another_pass_never_raises_the_bound(seed: int) -> None:
    """Visits are kept in single precision, and rare ones are not kept at all."""
    form, nodes = case(seed, discount=0.8 if seed % 4 == 3 else None)
    uppers = [made.upper for made in passes(form, nodes, 4)]
    assert (np.diff(uppers) <= 1e-6 * uppers[0] + 1e-15).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_pass_that_may_only_repeat_the_rules_repeats_the_bound(seed: int) -> None:
    """Links forgotten: what was chosen at each step is all there is to take over."""
    latent = LatentMDP.uniform(garnet_mixture(5, 2, 3, 4, seed=seed))
    form = loss_form(latent, horizon=25)
    points = PointSource.at_root(form, seed).grow(150, no_vectors(form))
    nodes = upper_nodes(form, points, levels=3)
    before = passes(form, nodes, 3)[-1]
    visits = visits_of(form, before, 1e9, _go_on)
    fresh = upper_nodes(form, points, levels=3)
    made = upper_pass(form, fresh, _go_on, earlier=before.rules, visits=visits)
    assert made.upper <= before.upper * (1.0 + 1e-6)


def test_another_pass_lowers_most_bounds_that_can_be_lowered() -> None:
    """The comparison above would be empty if later passes did nothing."""
    lowered = 0
    for seed in range(30):
        made = passes(*case(seed), 3)
        lowered += made[-1].upper < made[0].upper * (1.0 - 1e-6)
    assert lowered >= 3


@pytest.mark.parametrize("seed", range(12))
def test_a_larger_structure_never_raises_the_bound(seed: int) -> None:
    """Old nodes keep their rules and their visits; new ones are offered, not forced."""
    form, small = case(seed, discount=0.8 if seed % 4 == 3 else None)
    rng = np.random.default_rng([seed, 1])
    before = passes(form, small, 2)[-1]
    visits = visits_of(form, before, 1e9, _go_on)
    assert visits is not None
    old = small.points
    beliefs = rng.dirichlet(np.ones(form.n_models), 12) * (form.latent.prior > 0.0)
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    states = rng.integers(0, form.pattern.n_states, 12).astype(np.int32)
    grown = BeliefPoints(
        np.concatenate([old.states, states]), np.concatenate([old.beliefs, beliefs])
    )
    large = upper_nodes(form, grown, levels=seed % 4)
    from simgap.oracle.bounded.visits import moved_visits

    made = upper_pass(
        form, large, _go_on, earlier=before.rules.moved(small, large),
        visits=moved_visits(visits, small, large),
    )  # fmt: skip
    assert made.upper <= before.upper * (1.0 + 1e-6) + 1e-15
    for state in range(form.pattern.n_states):  # a node keeps its place in its state
        first, count = small.state_offsets[state], np.diff(small.state_offsets)[state]
        moved = large.beliefs[large.state_offsets[state] :][:count]
        assert (moved == small.beliefs[first : first + count]).all()


def test_following_choices_comes_to_their_fixed_point() -> None:
    form, nodes = case(5, discount=0.9)
    rng = np.random.default_rng(0)
    pattern, longest = form.pattern, int(np.diff(form.pattern.indptr).max())
    actions = rng.integers(0, pattern.n_actions, nodes.size).astype(np.int32)
    following = np.zeros((nodes.size, longest), np.int32)
    chain = np.zeros((form.n_models, nodes.size, nodes.size))
    for node, state in enumerate(nodes.node_state):
        row = state * pattern.n_actions + actions[node]
        for local, k in enumerate(range(pattern.indptr[row], pattern.indptr[row + 1])):
            to = int(nodes.state_offsets[pattern.indices[k]])
            to += int(rng.integers(np.diff(nodes.state_offsets)[pattern.indices[k]]))
            following[node, local] = to
            chain[:, node, to] += form.likelihood[k]
    vectors = np.zeros((nodes.size, form.n_models))
    change = follow_choices(
        pattern.indptr, form.likelihood, pattern.n_actions, form.losses[0], 0.9,
        nodes.node_state, actions, following, 400, vectors,
    )  # fmt: skip
    assert change < 1e-12
    for m in range(form.n_models):
        losses = form.losses[0, nodes.node_state, actions, m]
        wanted = np.linalg.solve(np.eye(nodes.size) - 0.9 * chain[m], losses)
        assert vectors[:, m] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_a_graph_keeps_the_nodes_that_rules_lead_to_and_no_others(seed: int) -> None:
    form, nodes = case(seed)
    made = passes(form, nodes, 2)[-1]
    whole = everywhere(form, made)
    starts = made.roots
    used = np.zeros(nodes.size, np.bool_)
    reach_nodes(
        form.pattern.indptr, form.pattern.n_actions, nodes.node_state,
        made.rules.offsets, made.rules.actions, made.rules.successors, starts, used,
    )  # fmt: skip
    wanted, waiting = set(starts.tolist()), starts.tolist()
    while waiting:
        node = waiting.pop()
        for rule in range(whole.rule_offsets[node], whole.rule_offsets[node + 1]):
            for to in whole.next_node[slice(*whole.next_offsets[rule : rule + 2])]:
                if int(to) not in wanted:
                    wanted.add(int(to))
                    waiting.append(int(to))
    assert set(np.flatnonzero(used).tolist()) == wanted


def test_the_best_vector_is_the_one_that_loses_least() -> None:
    rng = np.random.default_rng(4)
    beliefs, vectors = rng.dirichlet(np.ones(4), 50), rng.random((30, 4))
    best = np.empty(50, np.int64)
    best_vectors(beliefs, vectors, best)
    assert (best == (beliefs @ vectors.T).argmin(axis=1)).all()


def _go_on() -> None:
    """Never stop."""
