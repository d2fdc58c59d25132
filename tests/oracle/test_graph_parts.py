"""Graphs as they are used, completed and cut: parts by hand or by what they keep."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.instances import best_arm
from simgap.mdp import LatentMDP
from simgap.oracle import large_class
from simgap.oracle.baselines import minimax
from simgap.oracle.baselines.minimax import solve_minimax
from simgap.oracle.baselines.stationary import reachable_nodes
from simgap.oracle.baselines.ties import _reached_ties
from simgap.oracle.baselines.windowed import past_weights, window_nodes
from simgap.oracle.bounded.graph_assembly import policy_graph
from simgap.oracle.bounded.points import BeliefPoints, no_points
from simgap.oracle.bounded.upper_graph import place
from simgap.oracle.bounded.upper_nodes import upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.bounded.visits import moved_visits, visits_of
from simgap.oracle.completed_graph import _columns, _places, _runs, average_plan
from simgap.oracle.entry import planned_in_part
from simgap.oracle.exact import solve_exact
from simgap.oracle.exact.policy import _runs as runs_of_plan
from simgap.oracle.graph_values import graph_gaps, node_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.part_of_class import neighbourhoods, part_of_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import AutoOracle, ExactOracle
from simgap.policies import NOWHERE, Pattern
from tests.oracle.test_large_class import coins
from tests.policies.cases import random_graph, random_latent


def go_on() -> None:
    """Never stop."""


def form_of(seed: int, horizon: int) -> LossForm:
    latent = random_latent(np.random.default_rng(seed), states=3, members=3)
    return loss_form(latent, horizon=horizon)


@pytest.mark.parametrize("seed", range(3))
def test_visits_share_out_the_prior_and_lose_what_the_graph_loses(seed: int) -> None:
    """Of every model all weight is somewhere at every step, and the losses add up."""
    form = form_of(seed, 5)
    made = upper_pass(form, upper_nodes(form, no_points(form), levels=3), go_on)
    found = visits_of(form, made, inf, go_on)
    assert found is not None and len(found) == 5
    lost = 0.0
    for h, (which, beliefs, chances) in enumerate(found):
        assert len(set(which.tolist())) == which.size
        assert beliefs.sum(axis=1) == pytest.approx(np.ones(which.size), rel=1e-6)
        assert chances @ beliefs == pytest.approx(form.latent.prior, rel=1e-5, abs=1e-6)
        for node, belief, chance in zip(which, beliefs, chances, strict=True):
            rules = slice(*made.rules.offsets[node : node + 2])
            rule = rules.start + int(np.searchsorted(made.rules.until[rules], h))
            losses = form.losses[h, made.nodes.node_state[node]]
            lost += float(chance * (belief @ losses[made.rules.actions[rule]]))
    assert lost == pytest.approx(made.upper, rel=1e-5)
    graph = policy_graph(form, made)
    ways = {*graph.next_node.tolist(), *graph.start_node.tolist()} - {NOWHERE}
    assert ways == {*range(graph.node_state.size)} and len(ways) < made.nodes.size
    gaps = graph_gaps(form, graph)
    assert form.latent.prior @ gaps == pytest.approx(made.upper, rel=1e-12)
    needed = sum(each.nbytes for step in found for each in step)
    assert visits_of(form, made, needed, go_on) is not None
    assert visits_of(form, made, needed - 1.0, go_on) is None


def test_nodes_keep_their_places_when_points_are_added() -> None:
    form = form_of(1, 4)
    old = upper_nodes(form, no_points(form), levels=2)
    beliefs = np.full((4, 3), 1.0 / 3.0)
    more = BeliefPoints(np.array([2, 0, 0, 1], np.int32), beliefs)
    new = upper_nodes(form, more, levels=2)
    assert new.beliefs.sum(axis=1) == pytest.approx(1.0)
    every = np.arange(old.size)
    there = place(every, old, new)
    assert new.beliefs[there] == pytest.approx(old.beliefs)
    assert (new.node_state[there] == old.node_state).all()
    assert (
        sorted({*range(new.size)} - {*there.tolist()}) == new.point_numbers().tolist()
    )
    assert np.bincount(new.node_state[new.point_numbers()]).tolist() == [2, 1, 1]
    made = upper_pass(form, old, go_on)
    moved = made.rules.moved(old, new)
    again = upper_pass(form, new, go_on, earlier=moved, bound=made.upper)
    assert again.upper <= made.upper * (1.0 + 2e-3)
    visits = visits_of(form, made, inf, go_on)
    assert visits is not None
    for (which, _, _), (to, _, _) in zip(
        visits, moved_visits(visits, old, new), strict=True
    ):
        assert (to == place(which, old, new)).all()


def test_runs_of_a_plan_are_by_state() -> None:
    plan = np.array([[0, 1], [0, 1], [2, 1], [0, 1]], np.int32)
    since, until, action, counts = _runs(plan)
    assert since.tolist() == [0, 2, 3, 0]
    assert until.tolist() == [1, 2, 3, 3]
    assert action.tolist() == [0, 2, 0, 1]
    assert counts.tolist() == [3, 1]
    assert runs_of_plan(np.array([-1, 4, 4, -1, 2]), 0) == [(1, 2, 4), (4, 4, 2)]
    assert runs_of_plan(np.array([4, 4, 4, 5]), 1) == [(1, 2, 4), (3, 3, 5)]
    assert runs_of_plan(np.array([4]), 1) == []


def test_successors_are_found_again_in_a_smaller_pattern() -> None:
    """Two states, one action: the smaller pattern lacks the first successor of 0."""
    indptr = np.array([0, 2, 4])
    whole = Pattern(2, 1, indptr, np.array([0, 1, 0, 1], np.int32))
    part = Pattern(2, 1, np.array([0, 1, 3]), np.array([1, 0, 1], np.int32))
    assert _places(whole, part).tolist() == [0, 0, 0, 1]
    offsets, rule, entry = _columns(indptr, np.array([1, 0, 1]))
    assert offsets.tolist() == [0, 2, 4, 6]
    assert rule.tolist() == [0, 0, 1, 1, 2, 2]
    assert entry.tolist() == [2, 3, 0, 1, 2, 3]


def test_the_plan_of_the_average_is_the_lowest_of_equal_actions() -> None:
    losses = np.zeros((1, 3, 3, 2))
    losses[0, 0, :, 0] = 3.0, 1.0, 0.0
    losses[0, 0, :, 1] = 0.0, 1.0, 4.0  # means 1.5, 1 and 2
    losses[0, 1, :, 0] = 1.0, 0.25, 0.0
    form: Any = SimpleNamespace(
        losses=losses,
        latent=SimpleNamespace(prior=np.array([0.5, 0.5])),
        rounding=0.03125,
    )
    assert average_plan(form).tolist() == [[1, 2, 0]]
    form.rounding = 0.0625  # two of it make a difference of an eighth no difference
    assert average_plan(form).tolist() == [[1, 1, 0]]


def test_ties_count_only_where_a_tied_action_leads() -> None:
    """From 0 to 1 for sure, from there to 0 or 2 by the action; 2 is reached late."""
    kernel = np.zeros((3, 2, 3))
    kernel[0, :, 1] = kernel[1, 0, 0] = kernel[1, 1, 2] = kernel[2, :, 2] = 1.0
    form: Any = SimpleNamespace(
        pattern=Pattern(
            3, 2, 3 * np.arange(7), np.tile(np.arange(3, dtype=np.int32), 6)
        ),
        likelihood=np.column_stack([kernel.ravel(), np.ones(18)]),
        latent=SimpleNamespace(prior=np.array([1.0, 0.0])),
        root_states=np.array([0]),
        horizon=4,
        steps=4,
    )
    near = np.ones((4, 3, 2), np.bool_)
    kept = _reached_ties(form, near).sum(axis=2)
    assert kept.tolist() == [[2, 1, 1], [1, 2, 1], [2, 1, 2], [1, 2, 2]]
    near[1, 1] = False, True  # only towards state 2
    kept = _reached_ties(form, near)
    assert kept.sum(axis=2).tolist() == [[2, 1, 1], [1, 1, 1], [1, 1, 2], [1, 1, 2]]
    assert kept[1, 1].tolist() == [False, True]
    form.horizon = None
    assert _reached_ties(form, near) is near


def test_nodes_are_reached_by_steps_that_some_model_takes() -> None:
    form = loss_form(coins(members=2), horizon=2)
    nodes = window_nodes(form.pattern, 1)
    reached = reachable_nodes(form, nodes)
    entries = nodes.column[nodes.column >= 0]
    wanted = (form.likelihood[entries] > 0.0).any(axis=1)
    assert reached[2:].tolist() == wanted.tolist() and 0 < wanted.sum() < wanted.size
    assert reached[:2].tolist() == [True, False]  # state 1 is nobody's first
    weights = past_weights(form, nodes)
    assert weights[2:] == pytest.approx(form.latent.prior * form.likelihood[entries])


def test_nodes_without_a_rule_at_the_first_step_have_no_gap() -> None:
    form = form_of(2, 4)
    policy = random_graph(np.random.default_rng(2), form, copies=2)
    gaps = node_gaps(form, policy)
    begins = policy.rule_since[policy.rule_offsets[:-1]] == 0
    for member in range(3):
        law = form.latent.simulators.start_law(member)
        at = np.flatnonzero(law)
        mean = law[at] @ gaps[policy.start_node[at], member]
        assert mean == pytest.approx(graph_gaps(form, policy)[member])
    assert np.isnan(gaps[~begins]).all()


def test_a_game_ends_when_an_oracle_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = loss_form(LatentMDP.uniform(best_arm(3, 0.2)), horizon=4)
    whole = solve_minimax(form)
    assert 1 < whole.rounds < 20  # a policy that repeats itself ends it
    left = [10**6, 1, 10**6, 10**6]

    def limited(asked: LossForm, _: object) -> Any:
        return solve_exact(asked, ExactOracle(max_nodes=left.pop(0)))

    monkeypatch.setattr(minimax, "solve_exact", limited)
    cut = solve_minimax(form)
    assert cut.rounds == 2 and len(cut.policies) == 1
    assert cut.weights.tolist() == [1.0]
    low, high = cut.worst_gap.ends
    assert low <= whole.worst_gap.ends[1] <= high + 1e-12


def test_a_part_of_a_class_bounds_it_by_the_least_share_of_its_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first coin has 0.01 of the weight and stands for 0.5 of it."""
    prior, chances = np.array([0.01, 0.49, 0.25, 0.25]), np.array([0.05, 0.9, 0.9, 0.9])
    form = loss_form(coins(prior, 4, chances), horizon=4)
    part = neighbourhoods(prior, 2)
    inner = solve_exact(part_of_form(form, part.chosen, part.weights), ExactOracle())
    monkeypatch.setattr(large_class, "_groups_below", lambda *_: (0.0, True))
    found = planned_in_part(form, AutoOracle(), 2)
    assert found.lower == pytest.approx(0.02 * inner.lower, rel=1e-9)
    assert found.outcome is Outcome.STALLED
    monkeypatch.setattr(large_class, "_groups_below", lambda *_: (found.upper, False))
    assert planned_in_part(form, AutoOracle(), 2).outcome is Outcome.SOLVED
    monkeypatch.setattr(large_class, "_groups_below", lambda *_: (0.0, False))
    assert planned_in_part(form, AutoOracle(), 2).outcome is Outcome.OUT_OF_TIME
