"""Both sides of the bounded oracle at beliefs of all kinds, not only at the start."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.beliefs.envelope import best_mixture
from simgap.arrays import FloatArray
from simgap.oracle.bounded.lower_nodes import LowerStructure, lower_structure
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.bounded.upper_graph import UpperPass, upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.loss_form import LossForm, loss_form
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


def _go_on() -> None:
    """Never stop."""
