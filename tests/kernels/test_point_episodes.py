"""Episodes that look for beliefs, step by step against plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_points import (
    DECIDED,
    FLOOR,
    NEAR_CORNERS,
    OVER,
    act_on_mixtures,
    act_on_vectors,
    begin_episodes,
    keep_new,
    live_one_step,
)
from simgap._kernels.walking.streams import episode_keys, uniform
from simgap.arrays import AnyArray, FloatArray, read_only
from simgap.oracle.bounded.lower_nodes import lower_structure
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import best_mixture_by_program, dense_beliefs

Lived = tuple[AnyArray, AnyArray, FloatArray]
Worth = Callable[[int, FloatArray], float]


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


def costs_of(
    form: LossForm, h: int, s: int, belief: FloatArray, worth: Worth
) -> FloatArray:
    """Return the cost of every action if a successor is worth worth(state, weights)."""
    costs: FloatArray = form.losses[h, s] @ belief
    for a in range(form.pattern.n_actions):
        for k in columns(form, s, a):
            costs[a] += worth(int(form.pattern.indices[k]), belief * form.likelihood[k])
    return costs


def some_beliefs(form: LossForm, rng: np.random.Generator) -> Lived:
    beliefs = rng.dirichlet(np.ones(form.n_models), 30)
    beliefs[rng.random(beliefs.shape) < 0.2] = 0.0
    beliefs[:, 0] += 1e-3
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    states = rng.integers(0, form.pattern.n_states, 30).astype(np.int32)
    hidden = np.where(rng.random(30) < 0.2, OVER, 1).astype(np.int32)
    return states, hidden, beliefs


@pytest.mark.parametrize("seed", range(3))
def test_episodes_play_the_action_that_is_best_with_the_vectors(seed: int) -> None:
    """A successor without vectors is worth nothing; who is over plays nothing."""
    form, rng = form_of(seed), np.random.default_rng(seed)
    sizes = rng.integers(0, 5, form.pattern.n_states)
    offsets = np.concatenate([[0], sizes.cumsum()]).astype(np.int64)
    vectors = rng.random((int(offsets[-1]), form.n_models))

    def worth(state: int, weights: FloatArray) -> float:
        own = vectors[offsets[state] : offsets[state + 1]] @ weights
        return 0.9 * float(own.min()) if own.size else 0.0

    states, hidden, beliefs = some_beliefs(form, rng)
    actions = np.full(states.size, 9, np.int32)
    act_on_vectors(
        form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses[1], 0.9,
        offsets, vectors, states, hidden, beliefs, actions,
    )  # fmt: skip
    for i, action in enumerate(actions):
        costs = costs_of(form, 1, int(states[i]), beliefs[i], worth)
        assert action == (9 if hidden[i] == OVER else costs.argmin())


@pytest.mark.parametrize("seed", range(2))
def test_episodes_play_the_action_that_is_best_with_the_lower_bound(seed: int) -> None:
    form, rng = form_of(seed), np.random.default_rng(seed)
    points = rng.dirichlet(np.ones(form.n_models), 4)
    where = rng.integers(0, form.pattern.n_states, 4).astype(np.int32)
    nodes = lower_structure(form, where, points, cells=4)
    values = lower_pass(form, nodes, lambda: None)[1].values[0]
    dense = dense_beliefs(
        nodes.node_offsets, nodes.node_model, nodes.node_weight, form.n_models
    )

    def worth(state: int, weights: FloatArray) -> float:
        own = slice(nodes.state_offsets[state], nodes.state_offsets[state + 1])
        if not weights.any():
            return 0.0
        return 0.9 * best_mixture_by_program(weights, dense[own], values[own])

    states, hidden, beliefs = some_beliefs(form, rng)
    states, hidden, beliefs = states[:12], hidden[:12], beliefs[:12]
    actions = np.full(states.size, 9, np.int32)
    act_on_mixtures(
        form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses[1], 0.9,
        values, nodes.state_offsets, nodes.pair_first, nodes.pair_second,
        nodes.grid.size - 2, nodes.node_offsets, nodes.node_model, nodes.node_weight,
        states, hidden, beliefs, actions,
    )  # fmt: skip
    chosen = set()
    for i, action in enumerate(actions):
        if hidden[i] == OVER:
            assert action == 9
            continue
        costs = costs_of(form, 1, int(states[i]), beliefs[i], worth)
        assert costs[action] == pytest.approx(costs.min(), rel=1e-6)
        chosen.add(int(action))
    assert len(chosen) > 1


def test_beliefs_are_kept_in_turn_while_they_are_new_and_there_is_room() -> None:
    form, rng = form_of(0), np.random.default_rng(1)
    apart, room, most = 0.1, 20, 8
    for size in (6, 60):
        states = rng.integers(0, form.pattern.n_states, size).astype(np.int32)
        beliefs = rng.dirichlet(np.ones(form.n_models), size)
        hidden = np.where(rng.random(size) < 0.2, OVER, 0).astype(np.int32)
        by_state: dict[int, list[int]] = {s: [] for s in range(form.pattern.n_states)}
        wanted: list[int] = []
        shapes = NEAR_CORNERS * np.log(beliefs + FLOOR)
        for i, s in enumerate(states.tolist()):
            near = [np.abs(shapes[i] - shapes[j]).sum() for j in by_state[s]]
            free = len(by_state[s]) < most and len(wanted) < room
            if hidden[i] != OVER and free and min(near, default=np.inf) >= apart:
                by_state[s].append(i)
                wanted.append(i)
        state_count = np.zeros(form.pattern.n_states, np.int32)
        state_points = np.zeros((form.pattern.n_states, most), np.int32)
        kept_states, kept = np.zeros(room, np.int32), np.zeros((room, form.n_models))
        kept_shapes = np.zeros((room, form.n_models))
        count = keep_new(
            apart, states, hidden, beliefs, 0, state_count, state_points, kept_states,
            kept, kept_shapes,
        )  # fmt: skip
        assert count == len(wanted)
        assert (kept_states[:count] == states[wanted]).all()
        assert (kept[:count] == beliefs[wanted]).all()
        assert kept_shapes[:count] == pytest.approx(shapes[wanted], rel=1e-12)
        for s, own in by_state.items():
            assert state_points[s, : state_count[s]].tolist() == [
                wanted.index(i) for i in own
            ]
    assert len(wanted) == room
