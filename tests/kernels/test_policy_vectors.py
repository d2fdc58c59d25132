"""Vectors of the upper side: those of the stored rules, and of real episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.bounded.upper_graph import (
    UpperNodes,
    UpperPass,
    policy_graph,
    upper_nodes,
    visits_of,
)
from simgap.oracle.bounded.upper_side import upper_pass
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


def _go_on() -> None:
    """Never stop."""
