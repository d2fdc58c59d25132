"""Beliefs met in simulation: posteriors that can occur, apart from one another."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.oracle.bounded.lower_nodes import LowerValues, lower_structure
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.bounded.points import PointSource, no_points, no_vectors
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import VectorSets
from tests.policies.cases import random_latent

Guide = VectorSets | LowerValues


def form_of(seed: int, horizon: int | None = 4) -> LossForm:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=3, members=3, without_prior=seed % 2)
    discount = 0.9 if horizon is None else None
    return loss_form(latent, horizon=horizon, discount=discount)


def guides(form: LossForm) -> list[Guide]:
    nobody = no_points(form)
    faces = lower_structure(form, nobody.states, nobody.beliefs, cells=6)
    return [no_vectors(form), lower_pass(form, faces, lambda: None)[1]]


def reachable(form: LossForm) -> list[tuple[int, FloatArray]]:
    """Return every (state, posterior) that some sequence of actions can lead to."""
    now = [
        (int(s), w / w.sum())
        for s, w in zip(form.root_states, form.root_weights, strict=True)
    ]
    every = list(now)
    assert form.horizon is not None
    for _ in range(form.horizon - 1):
        after = []
        for s, b in now:
            for a in range(form.pattern.n_actions):
                row = s * form.pattern.n_actions + a
                for k in range(form.pattern.indptr[row], form.pattern.indptr[row + 1]):
                    w = b * form.likelihood[k]
                    if w.sum() > 0.0:
                        after.append((int(form.pattern.indices[k]), w / w.sum()))
        now = after
        every += now
    return every


@pytest.mark.parametrize("seed", range(6))
def test_points_are_posteriors_that_can_occur(seed: int) -> None:
    form = form_of(seed, 3)
    every = reachable(form)
    for guide in guides(form):
        points = PointSource.at_root(form, seed).grow(60, guide)
        assert points.size > len(form.root_states)
        for state, belief in zip(points.states, points.beliefs, strict=True):
            assert belief.sum() == pytest.approx(1.0, abs=1e-12)
            near = [np.abs(b - belief).max() for s, b in every if s == state]
            assert min(near) < 1e-9
