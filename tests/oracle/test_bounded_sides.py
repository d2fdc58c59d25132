"""Both sides of the bounded oracle at beliefs of all kinds, not only at the start."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from simgap._kernels.beliefs.envelope import best_mixture
from simgap.arrays import FloatArray
from simgap.instances import garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle.bounded import solve_bounded
from simgap.oracle.bounded.lower_nodes import LowerStructure, lower_structure
from simgap.oracle.bounded.lower_side import lower_pass, root_lower
from simgap.oracle.bounded.points import BeliefPoints, no_points
from simgap.oracle.bounded.relinking import Relinking, remembered_steps
from simgap.oracle.bounded.upper_graph import UpperPass
from simgap.oracle.bounded.upper_nodes import upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.bounded.vector_sets import vector_sets
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import BoundedOracle
from simgap.oracle.to_run import policy_to_run
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import belief_gap


def form_of(seed: int, horizon: int = 4) -> LossForm:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=3, members=3, without_prior=seed % 2)
    return loss_form(latent, horizon=horizon)


def points_of(form: LossForm, seed: int, count: int) -> BeliefPoints:
    rng = np.random.default_rng([seed, 7])
    beliefs = rng.dirichlet(np.ones(form.n_models), count)
    beliefs *= form.latent.prior > 0.0
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    states = rng.integers(0, form.pattern.n_states, count).astype(np.int32)
    return BeliefPoints(states, beliefs)


def below(
    form: LossForm, made: LowerStructure, values: FloatArray, s: int, w: FloatArray
) -> float:
    """Return the lower bound at any belief: the best mixture of nodes."""
    members = form.n_models
    return float(
        best_mixture(
            w, made.state_offsets[s], made.state_offsets[s + 1], made.pair_first,
            made.pair_second, made.grid.size - 2, made.node_offsets, made.node_model,
            made.node_weight, values, 30 * members, np.full(members, -1, np.int32),
            np.empty((members, members)), np.empty((5, members)),
            np.empty(members, np.int64),
        )
    )  # fmt: skip


def above(made: UpperPass, s: int, w: FloatArray) -> float:
    """Return the upper bound at any belief: the best vector of the state."""
    block = slice(*made.nodes.state_offsets[s : s + 2])
    return float((made.vectors[block] @ w).min())


@pytest.mark.parametrize("seed", range(10))
def test_both_sides_hold_the_gap_at_random_beliefs(seed: int) -> None:
    """Nodes themselves, mixtures of them, and beliefs on faces."""
    form = form_of(seed)
    points = points_of(form, seed, 12)
    low = lower_structure(form, points.states, points.beliefs, cells=6)
    values, _ = lower_pass(form, low, _go_on)
    high = upper_pass(form, upper_nodes(form, points, levels=3), _go_on)
    rng = np.random.default_rng([seed, 8])
    for _ in range(12):
        s = int(rng.integers(form.pattern.n_states))
        w = rng.dirichlet(np.full(form.n_models, 0.6)) * (form.latent.prior > 0.0)
        if rng.random() < 0.3:
            w[int(rng.integers(form.n_models))] = 0.0
        w = w / max(w.sum(), 1e-300)
        if w.sum() == 0.0:
            continue
        gap = belief_gap(form, 0, s, w)
        assert below(form, low, values, s, w) <= gap + 1e-12
        assert above(high, s, w) >= gap - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_lower_side_is_concave_and_zero_at_corners(seed: int) -> None:
    form = form_of(seed)
    points = points_of(form, seed, 8)
    low = lower_structure(form, points.states, points.beliefs, cells=5)
    values, _ = lower_pass(form, low, _go_on)
    assert values.max() > 0.0
    rng = np.random.default_rng(seed)
    for s in range(form.pattern.n_states):
        for corner in np.eye(form.n_models):
            assert below(form, low, values, s, corner) == 0.0
        for _ in range(10):
            one, two = rng.dirichlet(np.ones(form.n_models), 2)
            ends = below(form, low, values, s, one), below(form, low, values, s, two)
            middle = below(form, low, values, s, 0.5 * (one + two))
            assert middle >= 0.5 * sum(ends) * (1.0 - 1e-5) - 1e-12


@pytest.mark.parametrize("discount", [None, 0.8])
def test_more_of_anything_raises_the_lower_side(discount: float | None) -> None:
    """A finer grid that keeps its points, and more points."""
    rng = np.random.default_rng(3)
    latent = random_latent(rng, states=3, members=4)
    horizon = None if discount else 6
    form = loss_form(latent, horizon=horizon, discount=discount)
    points = points_of(form, 1, 60)
    found = []
    for cells, count in ((4, 0), (8, 0), (16, 0), (16, 20), (16, 60)):
        some = points.first(count)
        made = lower_structure(form, some.states, some.beliefs, cells=cells)
        values, _ = lower_pass(form, made, _go_on)
        found.append(root_lower(form, made, values))
    assert (np.diff(found) >= -1e-4 * found[-1]).all()
    assert found[-1] > found[0] > 0.0


@pytest.mark.parametrize("discount", [None, 0.9])
def test_the_trace_closes_from_both_sides(discount: float | None) -> None:
    form = loss_form(
        LatentMDP.uniform(garnet_mixture(5, 2, 3, 4)),
        horizon=None if discount else 20,
        discount=discount,
    )
    found = solve_bounded(form, BoundedOracle(time_limit=4.0, gap_tolerance=1e-3))
    assert len(found.trace) > 3
    for before, after in pairwise(found.trace):
        assert before.lower <= after.lower <= after.upper <= before.upper
        assert before.seconds <= after.seconds
    last = found.trace[-1]
    assert found.lower == last.lower
    assert found.upper <= last.upper * (1.0 + 1e-12)
    assert found.trace[0].upper > last.upper
    assert last.lower > 0.0


@pytest.mark.parametrize("horizon", [0, 1, 2, 5, 30, None])
def test_vector_sets_suit_a_belief_policy(horizon: int | None) -> None:
    rng = np.random.default_rng(2)
    latent = random_latent(rng)
    discount = 0.9 if horizon is None else None
    form = loss_form(latent, horizon=horizon, discount=discount)
    made = upper_pass(form, upper_nodes(form, no_points(form), levels=2), _go_on)
    for most in (1, 8):
        sets = vector_sets(form, made, most)
        assert sets.vector_set.shape == (form.steps + 1,)
        sizes = np.diff(sets.vector_offsets)
        assert sizes.size % form.pattern.n_states == 0
        assert (sizes <= most + form.n_models).all()
        policy = policy_to_run(form, sets, settled=True, episodes=2, seed=0).policy
        assert policy.vectors.shape[0] == sizes.sum()
    if horizon == 30:  # fewer steps to go, earlier snapshots
        assert (np.diff(sets.vector_set) <= 0).all()
        assert sets.vector_set[0] > sets.vector_set[-1] == 0


def test_the_source_of_vectors_is_the_step_they_are_used_at() -> None:
    """The set of step h holds gaps of at most H - h steps, and of many of them."""
    form = form_of(4, 12)
    made = upper_pass(form, upper_nodes(form, no_points(form), levels=2), _go_on)
    sets = vector_sets(form, made, 50)
    kept = sorted(made.snapshots)
    for h in range(13):
        assert kept[sets.vector_set[h]] <= 12 - h
        assert kept[sets.vector_set[h]] >= (12 - h) / 1.5 - 1


def test_steps_that_are_remembered_are_dense_near_the_end() -> None:
    found = sorted(remembered_steps(1000))
    assert found[:3] == [1, 2, 3]
    assert all(after <= 1.4 * before + 1 for before, after in pairwise(found))
    assert len(found) < 30
    assert remembered_steps(0) == frozenset()


def test_a_look_that_gained_is_followed_by_another_soon() -> None:
    eager, idle = Relinking(0.1), Relinking(0.1)
    for to_go in range(1, 200):
        if to_go == eager.due:
            eager.learned(to_go, 0.5)
        if to_go == idle.due:
            idle.learned(to_go, 0.0)
        assert eager.due > to_go
        assert idle.due > to_go
    assert eager.due == 200
    assert idle.due > 210


def _go_on() -> None:
    """Never stop."""
