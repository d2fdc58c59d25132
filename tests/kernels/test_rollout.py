"""Streams and simulated episodes: random enough, and exactly what the policy plays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_episodes import simulate_belief_policy
from simgap._kernels.walking.streams import mixed, uniform
from simgap.arrays import AnyArray, BoolArray, FloatArray
from simgap.errors import OutsideClass
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.policies import BeliefPolicy, Step
from tests.policies.cases import (
    greedy_policy,
    random_latent,
    start_laws,
    vector_policy,
)


def key_of(seed: int, episode: int) -> np.uint64:
    """The key of an episode, as simulations make it."""
    return np.uint64(mixed(np.uint64(mixed(np.uint64(seed), 0)), episode))


def test_the_mixer_is_splitmix64() -> None:
    """The first outputs of the published generator for seed 1234567."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(mixed(np.uint64(1234567), i)) for i in range(3)] == published


def test_streams_fill_the_unit_interval_evenly() -> None:
    """Chi-square over 64 cells, per episode key and across keys (5 sd of its law)."""
    one = key_of(7, 3)
    within = np.array([uniform(one, i) for i in range(32_000)])
    across = np.array([uniform(key_of(7, i), 3) for i in range(32_000)])
    for sample in (within, across):
        counts = np.bincount((sample * 64).astype(int), minlength=64)
        assert counts.size == 64
        chi = float(((counts - 500.0) ** 2 / 500.0).sum())
        assert abs(chi - 63.0) < 5.0 * np.sqrt(126.0)
    assert abs(np.corrcoef(within, across)[0, 1]) < 5.0 / np.sqrt(32_000)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("infinite", [False, True])
def test_an_episode_plays_what_the_policy_plays_step_by_step(
    seed: int, infinite: bool
) -> None:
    """Same numbers of the stream, same path, same losses, to the last bit."""
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, without_prior=seed % 2)
    form = loss_form(latent, discount=0.9) if infinite else loss_form(latent, horizon=9)
    policy = _policy(rng, form, seed)
    models = rng.integers(0, form.n_models, 40).astype(np.int32)
    mean, own, outside = _simulated(form, policy, models, seed=seed, prune=True)
    for episode, model in enumerate(models):
        wanted = _played(form, policy, int(model), seed, episode)
        assert (mean[episode], own[episode], outside[episode]) == wanted


@pytest.mark.parametrize(("members", "most"), [(3, 4), (1, 60), (2, 60), (7, 60)])
def test_pruning_changes_nothing(members: int, most: int) -> None:
    """Few vectors are all looked at; many are sifted by the two likeliest models."""
    rng = np.random.default_rng(2)
    latent = random_latent(rng, states=4, actions=3, members=members, zeros=0.1)
    form = loss_form(latent, horizon=12)
    policy = vector_policy(rng, form, most=most)
    models = rng.integers(0, form.n_models, 200).astype(np.int32)
    pruned = _simulated(form, policy, models, seed=4, prune=True)
    full = _simulated(form, policy, models, seed=4, prune=False)
    for one, other in zip(pruned, full, strict=True):
        assert (one == other).all()


def test_of_equally_good_actions_the_lowest_is_played_whatever_is_cheap_now() -> None:
    """Half at once and nothing later equals a quarter now and a quarter later."""
    P = np.zeros((1, 2, 2, 2))
    P[0, :, 0, 0] = P[0, :, 1, 1] = 1.0
    simulators = class_from_arrays(P, np.zeros((2, 2)), order=IndexOrder.STATE_ACTION)
    form = loss_form(LatentMDP.uniform(simulators), horizon=2)
    losses = np.zeros((2, 2, 2, 1))
    losses[0, 0, :, 0] = 0.5, 0.25
    policy = replace(
        greedy_policy(form),
        losses=losses,
        vector_offsets=np.array([0, 1, 2]),
        vectors=np.array([[0.0], [0.25]]),
    )
    assert policy.act((1.0,), 0, 0).tolist() == [1.0, 0.0]
    for prune in (True, False):
        models = np.zeros(1, np.int32)
        mean, _, _ = _simulated(form, policy, models, seed=0, prune=prune)
        assert mean.tolist() == [0.5]


def test_an_episode_does_not_depend_on_those_beside_it() -> None:
    rng = np.random.default_rng(3)
    form = loss_form(random_latent(rng), horizon=12)
    policy = vector_policy(rng, form)
    models = rng.integers(0, form.n_models, 150).astype(np.int32)
    whole = _simulated(form, policy, models, seed=4, prune=True)
    part = _simulated(form, policy, models[:70], seed=4, prune=True)
    for one, other in zip(whole, part, strict=True):
        assert (one[:70] == other).all()


def test_a_long_episode_never_forgets_a_possible_model() -> None:
    """Evidence of a thousand steps underflows; the model comes back all the same."""
    P = np.zeros((2, 3, 1, 3))
    P[0, 0, 0], P[1, 0, 0] = [0.999, 0.001, 0.0], [0.1, 0.1, 0.8]
    P[:, 1, 0, 0] = P[:, 2, 0, 0] = 1.0
    simulators = class_from_arrays(P, np.zeros((3, 1)), order=IndexOrder.STATE_ACTION)
    policy = greedy_policy(loss_form(LatentMDP.uniform(simulators), horizon=4000))
    memory = policy.start(0)
    for h in range(2000):
        memory = policy.observe(memory, Step(h, 0, 0, 0))
    assert 0.0 < memory[1] < 1e-290
    assert policy.observe(memory, Step(2000, 0, 0, 2)) == (0.0, 1.0)


def _policy(rng: np.random.Generator, form: LossForm, seed: int) -> BeliefPolicy:
    if seed % 3 == 0:
        return greedy_policy(form)
    return vector_policy(rng, form, most=4 if seed % 3 == 1 else 40)


def _simulated(
    form: LossForm, policy: BeliefPolicy, models: AnyArray, *, seed: int, prune: bool
) -> tuple[FloatArray, FloatArray, BoolArray]:
    laws = start_laws(form)
    first = np.zeros(laws.T.shape)
    for state in np.flatnonzero((policy.prior @ laws) > 0.0):
        first[state] = policy.start(int(state))
    mean, own, dropped = np.empty((3, models.size))
    outside = np.empty(models.size, np.bool_)
    simulate_belief_policy(
        form.pattern.indptr, form.pattern.indices,
        form.latent.simulators.transitions.values, form.losses, laws,
        policy.likelihood, policy.losses, first, policy.vector_set,
        policy.vector_offsets, np.ascontiguousarray(policy.vectors.T), policy.prior,
        prune, True, form.discount, form.horizon or 15,
        np.full(form.n_models, np.inf), 1.0, 0.0, np.uint64(seed), 0, models,
        np.tile([0.0, 1.0], (models.size, 1)), mean, own, dropped, outside,
    )  # fmt: skip
    return mean, own, outside


def _played(
    form: LossForm, policy: BeliefPolicy, model: int, seed: int, episode: int
) -> tuple[float, float, bool]:
    key = key_of(seed, episode)
    kernel, law = form.latent.simulators.transitions, start_laws(form)[model]
    outside, mean, own, factor = False, 0.0, 0.0, 1.0
    state = _quantile(np.arange(law.size), law, uniform(key, 0))
    try:
        memory = policy.start(state)
    except OutsideClass:
        memory, outside = tuple(policy.prior.tolist()), True
    for h in range(form.horizon or 15):
        action = int(np.argmax(policy.act(memory, h, state)))
        losses = form.losses[0 if form.horizon is None else h, state, action]
        mean += factor * sum(b * x for b, x in zip(memory, losses, strict=True))
        own += factor * losses[model]
        factor *= form.discount
        after = _quantile(*kernel.row(model, state, action), uniform(key, h + 1))
        try:
            memory = policy.observe(memory, Step(h, state, action, after))
        except OutsideClass:
            outside = True
        state = after
    return float(mean), float(own), outside


def _quantile(states: AnyArray, chances: FloatArray, draw: float) -> int:
    total, last = 0.0, -1
    for state, chance in zip(states, chances, strict=True):
        if chance > 0.0:
            total, last = total + chance, int(state)
            if draw < total:
                break
    return last
