"""Parts of the exact solver: trees, unfolded policies, plans and mixtures."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest

from simgap.instances import best_arm, needle
from simgap.mdp import LatentMDP, class_from_arrays
from simgap.oracle.exact import mixture, solve_exact
from simgap.oracle.exact.evidence import EMPTY, Supports
from simgap.oracle.exact.follow import follow, single_plan, starts_of
from simgap.oracle.exact.gaps import single_plan_gaps
from simgap.oracle.exact.members import members_of
from simgap.oracle.exact.outlook import _next_layer, looks_hopeless
from simgap.oracle.exact.symmetry import find_symmetry
from simgap.oracle.exact.tree import BeliefTree, DoesNotFit, Limits, solve_tree
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import ExactOracle
from tests.oracle.test_exact_policy import gaps_by_histories
from tests.policies.cases import random_latent


def supports_of(form: LossForm) -> Supports:
    members = members_of(form)
    return Supports(form, members, find_symmetry(form, members))


@pytest.mark.parametrize("simulators", [needle(4), best_arm(3, 0.2)])
def test_an_unfolded_policy_is_where_the_tree_says(simulators: Any) -> None:
    """Chances of the copies of a node add up to its own."""
    form = loss_form(LatentMDP.uniform(simulators), horizon=5)
    limits = Limits(10**6, 2**31, inf, inf, inf, lambda: 0.0, 0.0)
    tree = BeliefTree(form, supports_of(form), limits)
    tree.grow()
    found = follow(tree, solve_tree(tree))
    assert found.copies is not None
    chances = np.bincount(found.copies.node, found.copies.chance, tree.size)
    assert chances == pytest.approx(found.chance, abs=1e-14)
    assert found.chance[tree.roots[0]] == pytest.approx(1.0)
    layers = found.skeleton.layers
    totals = np.add.reduceat(found.copies.chance, layers[:-1][np.diff(layers) > 0])
    assert (totals <= 1.0 + 1e-12).all() and (np.diff(totals) <= 1e-12).all()
    held, most = tree.nbytes, tree.largest_bytes
    assert held <= most <= 4 * held
    tight = Limits(10**6, 2**31, inf, most - 1, inf, lambda: 0.0, 0.0)
    small = BeliefTree(form, supports_of(form), tight)
    with pytest.raises(DoesNotFit) as reason:
        small.grow()
    assert reason.value.outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize("seed", [0, 2])
def test_a_node_has_seen_no_more_steps_than_there_were(seed: int) -> None:
    """Also of kinds of evidence that were met later than the node."""
    latent = random_latent(np.random.default_rng(seed), members=4)
    form = loss_form(latent, horizon=5)
    limits = Limits(10**6, 2**31, inf, inf, inf, lambda: 0.0, 0.0)
    tree = BeliefTree(form, supports_of(form), limits)
    known = tree.supports.classes
    tree.grow()
    assert tree.supports.classes > known
    depth = np.repeat(np.arange(form.steps), np.diff(tree.layers))
    assert (tree.counts[: tree.size].sum(axis=1) <= depth).all()


def test_a_plan_that_sees_the_impossible_goes_on_as_the_likeliest_model() -> None:
    """Also if its prior is zero; a column that no model allows leads nowhere."""
    one = [[0.5, 0.5, 0.0], [0.75, 0.0, 0.25]]
    two = [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]
    simulators = class_from_arrays(np.array([[one] * 3, [two] * 3]), np.zeros((3, 2)))
    form = loss_form(LatentMDP(simulators, np.array([1.0, 0.0])), horizon=2)
    supports = supports_of(form)
    found, plans = supports.corner, supports.plan_next
    for column, chances in enumerate(form.likelihood.tolist()):
        likeliest = chances.index(max(chances)) if any(chances) else EMPTY
        assert found[column] == likeliest
        for model, chance in enumerate(chances):
            assert plans[model, column] == (model if chance > 0.0 else likeliest)
    assert set(found.tolist()) == {0, 1, EMPTY}


def test_plans_of_single_models_lose_what_their_tables_lose() -> None:
    """The plan of each model in every other, played out by histories."""
    form = loss_form(LatentMDP.uniform(best_arm(3, 0.2)), horizon=3)
    table = single_plan_gaps(form, supports_of(form))
    assert np.diag(table) == pytest.approx(np.zeros(3), abs=1e-14)
    assert table[0, 1] == pytest.approx(2 * 0.2)  # two pulls of a wrong arm
    cut = solve_exact(form, ExactOracle(max_nodes=1))
    assert cut.outcome is Outcome.OUT_OF_NODES
    assert cut.vectors.vector_set.size == 4  # of three steps, and the end
    assert cut.vectors.vector_offsets.tolist() == [0] * (4 * 2 + 1)
    assert cut.gaps == pytest.approx(gaps_by_histories(form, cut.policy), abs=1e-14)
    assert any(cut.gaps == pytest.approx(row) for row in table)


def test_beliefs_of_the_next_step_are_merged_and_settled_ones_left_out() -> None:
    """A needle is found or not: after one pull of four arms one belief each is left."""
    form = loss_form(LatentMDP.uniform(needle(4)), horizon=3)
    first = {(0, b""): form.latent.prior}
    after = _next_layer(form, first)
    assert len(after) == 4
    for (state, _), belief in after.items():
        assert state == 0 and sorted(belief) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])
    assert not looks_hopeless(form, 0)  # few, whatever the limit


def test_a_mixture_is_looked_for_up_to_a_number_of_nodes_and_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The choices are the tied actions of nodes that tied actions lead to."""
    latent = random_latent(np.random.default_rng(3), states=3, members=3)
    form = loss_form(latent, horizon=3)
    limits = Limits(10**6, 2**31, inf, inf, inf, lambda: 0.0, 0.0)
    tree = BeliefTree(form, supports_of(form), limits)
    tree.grow()
    values = solve_tree(tree)
    assert values.uncertain == 0 and not values.tied.all()  # ties are to the bit
    free = mixture._choices(tree, values)
    assert free is not None
    many = sum(map(len, free.values()))
    for node, actions in free.items():
        assert actions == np.flatnonzero(values.tied[node]).tolist()
    reached = {int(each) for each in tree.roots if each >= 0}
    pattern = form.pattern
    for node in range(tree.layers[-2]):  # a node comes before those it leads to
        if node not in reached:
            continue
        row = int(tree.state[node]) * pattern.n_actions
        for action in np.flatnonzero(values.tied[node]):
            columns = pattern.indptr[row + action : row + action + 2]
            first, last = columns - pattern.indptr[row] + tree.first_link[node]
            reached |= {int(each) for each in tree.links[first:last] if each >= 0}
    assert set(free) == reached
    monkeypatch.setattr(mixture, "MOST_NODES", tree.size)
    monkeypatch.setattr(mixture, "MOST_CHOICES", many)
    assert mixture._choices(tree, values) == free
    monkeypatch.setattr(mixture, "MOST_CHOICES", many - 1)
    assert mixture._choices(tree, values) is None
    monkeypatch.setattr(mixture, "MOST_CHOICES", many)
    monkeypatch.setattr(mixture, "MOST_NODES", tree.size - 1)
    assert mixture._choices(tree, values) is None


def test_first_states_of_unlikely_models_have_the_plan_of_the_likeliest() -> None:
    """Model 1 begins in states 1 and 2, model 2 in state 1: both have no prior."""
    start = np.array([[1, 0, 0, 0], [0, 0.4, 0.6, 0], [0, 1, 0, 0]])
    worlds = class_from_arrays(np.tile(np.eye(4), (3, 2, 1, 1)), np.zeros((4, 2)))
    latent = LatentMDP(replace(worlds, start=start), np.array([1.0, 0.0, 0.0]))
    form = loss_form(latent, horizon=2)
    assert form.root_states.tolist() == [0]
    assert starts_of(form, np.array([7], np.int32)).tolist() == [7, -4, -3, -1]
    assert single_plan(form, 0).starts.tolist() == [-2, -4, -3, -1]


def test_an_exact_run_that_stops_says_why() -> None:
    form = loss_form(LatentMDP.uniform(best_arm(3, 0.2)), horizon=6)
    told: list[str] = []
    solve_exact(form, ExactOracle(max_nodes=1), progress=told.append)
    assert len(told) == 1 and Outcome.OUT_OF_NODES.value in told[0]
