"""Episodes that look for beliefs, step by step against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_points import (
    DECIDED,
    OVER,
    begin_episodes,
    live_one_step,
)
from simgap._kernels.walking.streams import episode_keys, uniform
from simgap.arrays import AnyArray, FloatArray, read_only
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import random_latent

Lived = tuple[AnyArray, AnyArray, FloatArray]


def form_of(seed: int) -> LossForm:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, actions=3, members=3, without_prior=seed % 2)
    return loss_form(latent, horizon=6)


def begun(form: LossForm, keys: AnyArray, part: float = 1.0) -> Lived:
    """Return the first step of episodes; only a `part` of the first law is there."""
    states, hidden = np.zeros(keys.size, np.int32), np.zeros(keys.size, np.int32)
    beliefs = np.zeros((keys.size, form.n_models))
    weights = read_only(part * form.root_weights)
    begin_episodes(form.root_states, weights, keys, states, hidden, beliefs)
    return states, hidden, beliefs


def columns(form: LossForm, state: int, action: int) -> range:
    row = int(state) * form.pattern.n_actions + action
    return range(form.pattern.indptr[row], form.pattern.indptr[row + 1])


def quantile(chances: FloatArray, draw: float) -> int:
    """Return the first entry of positive chance at which the sum exceeds a draw."""
    reached = np.flatnonzero((chances.cumsum() > draw) & (chances > 0.0))
    return int(reached[0]) if reached.size else int(np.flatnonzero(chances)[-1])


@pytest.mark.parametrize("seed", range(4))
def test_an_episode_begins_with_a_state_and_a_model_of_the_prior(seed: int) -> None:
    form, keys = form_of(seed), episode_keys(seed, 0, 40)
    part = 0.75 if seed == 3 else 1.0  # the last possible one gets what is left over
    states, hidden, beliefs = begun(form, keys, part)
    for i, key in enumerate(keys):
        place = quantile(part * form.root_weights.ravel(), uniform(key, 0))
        root, model = divmod(place, form.n_models)
        assert (states[i], hidden[i]) == (form.root_states[root], model)
        law = form.root_weights[root] / form.root_weights[root].sum()
        assert beliefs[i] == pytest.approx(law, rel=1e-12)


@pytest.mark.parametrize("wander", [0.0, 0.4])
def test_a_step_follows_the_hidden_model_and_its_evidence(wander: float) -> None:
    over = random = 0
    for seed in range(3):
        form, keys = form_of(seed), episode_keys(seed, 7, 40)
        rng = np.random.default_rng(seed)
        chances = read_only(form.likelihood * (0.75 if seed == 2 else 1.0))
        states, hidden, beliefs = lived = begun(form, keys)
        for h in range(6):
            actions = rng.integers(0, 3, keys.size).astype(np.int32)
            before = tuple(each.copy() for each in lived)
            live_one_step(
                h, form.pattern.indptr, form.pattern.indices, chances, 3, wander, keys,
                *lived, actions,
            )  # fmt: skip
            for i, key in enumerate(keys):
                s, model, belief = (each[i] for each in before)
                if model == OVER:
                    assert (states[i], hidden[i]) == (s, OVER)
                    assert (beliefs[i] == belief).all()
                    over += 1
                    continue
                chance, action = uniform(key, 2 * h + 1), int(actions[i])
                if chance < wander:
                    action = int(3 * chance / wander)
                    random += 1
                edges = columns(form, s, action)
                likely = chances[edges.start : edges.stop]
                taken = quantile(likely[:, model], uniform(key, 2 * h + 2))
                law = belief * likely[taken] / (belief @ likely[taken])
                assert states[i] == form.pattern.indices[edges.start + taken]
                assert beliefs[i] == pytest.approx(law, rel=1e-12)
                assert hidden[i] == (OVER if law.max() > 1.0 - DECIDED else model)
    assert over > 10
    assert (random > 10) == (wander > 0.0)
