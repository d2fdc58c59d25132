"""Streams and simulated episodes: random enough, and exactly what the policy plays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_episodes import PAUSE, simulate_belief_policy
from simgap._kernels.walking.streams import mixed, uniform
from simgap.arrays import AnyArray, BoolArray, FloatArray, read_only
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
    found = _simulated(form, policy, models, seed=seed, prune=True)
    for episode, model in enumerate(models):
        wanted = _played(form, policy, int(model), seed, episode)
        assert tuple(each[episode] for each in found) == wanted


@pytest.mark.parametrize("infinite", [False, True])
def test_an_episode_ends_when_little_is_left_and_says_how_much(infinite: bool) -> None:
    """Also in a world whose losses the policy does not know, from some quantiles.

    What chances that sum to less than one leave over is for the last possible step.
    """
    rng = np.random.default_rng(5)
    latent = random_latent(rng, members=4, zeros=0.1)
    form = (
        loss_form(latent, discount=0.8) if infinite else loss_form(latent, horizon=20)
    )
    policy = vector_policy(rng, form, most=4)
    models = rng.integers(0, form.n_models, 90).astype(np.int32)
    around = Around(
        chances=read_only(0.9 * latent.simulators.transitions.values),
        losses=read_only(rng.permuted(form.losses, axis=2)),
        strata=(0.25, 0.5),
        earlier=7,
        slopes=np.array([0.5, 1.0, 2.0, np.inf]),
        enough=0.1,
    )
    found = _simulated(form, policy, models, seed=3, prune=True, around=around)
    for episode, model in enumerate(models):
        wanted = _played(form, policy, int(model), 3, episode, around)
        assert tuple(each[episode] for each in found) == wanted
    early = (found[3] > 0.0) & (found[3] <= around.enough)
    assert 10 < early.sum() < 80
    assert (models[early] < 3).all()


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


@dataclass(frozen=True)
class Around:
    """What episodes happen in, and when they may end early; as a rule never."""

    chances: FloatArray | None = None  # (M, nnz) of the world, if not of the class
    losses: FloatArray | None = None  # (T, S, A, M) of the world, if not the policy's
    strata: tuple[float, float] = (0.0, 1.0)
    earlier: int = 0
    slopes: FloatArray | None = None  # (M,)
    enough: float = 0.0


def _simulated(
    form: LossForm,
    policy: BeliefPolicy,
    models: AnyArray,
    *,
    seed: int,
    prune: bool,
    around: Around | None = None,
) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
    around = around or Around()
    laws = start_laws(form)
    first = np.zeros(laws.T.shape)
    for state in np.flatnonzero((policy.prior @ laws) > 0.0):
        first[state] = policy.start(int(state))
    mean, own, dropped = np.empty((3, models.size))
    outside = np.empty(models.size, np.bool_)
    chances = form.latent.simulators.transitions.values
    slopes = np.full(form.n_models, np.inf)
    if around.slopes is not None:
        slopes[:] = around.slopes
    simulate_belief_policy(
        form.pattern.indptr, form.pattern.indices,
        chances if around.chances is None else around.chances,
        form.losses if around.losses is None else around.losses, laws,
        policy.likelihood, policy.losses, first, policy.vector_set,
        policy.vector_offsets, np.ascontiguousarray(policy.vectors.T), policy.prior,
        prune, around.losses is None, form.discount, form.horizon or 15,
        slopes, 1.0, around.enough, np.uint64(seed), around.earlier, models,
        np.tile(around.strata, (models.size, 1)), mean, own, dropped, outside,
    )  # fmt: skip
    return mean, own, outside, dropped


def _played(
    form: LossForm,
    policy: BeliefPolicy,
    model: int,
    seed: int,
    episode: int,
    around: Around | None = None,
) -> tuple[float, float, bool, float]:
    around = around or Around()
    key = key_of(seed, around.earlier + episode)
    law, pattern = start_laws(form)[model], form.pattern
    chances = form.latent.simulators.transitions.values[model]
    if around.chances is not None:
        chances = around.chances[model]
    real = form.losses if around.losses is None else around.losses
    outside, mean, own, factor = False, 0.0, 0.0, 1.0
    quantile = around.strata[0] + around.strata[1] * uniform(key, 0)
    state = _quantile(np.arange(law.size), law, quantile)
    try:
        memory = policy.start(state)
    except OutsideClass:
        memory, outside = tuple(policy.prior.tolist()), True
    length = form.horizon or 15
    for h in range(length):
        if h % PAUSE == 0 and around.slopes is not None:
            rest = factor / (1.0 - form.discount) if not form.horizon else length - h
            others = sum(b for m, b in enumerate(memory) if m != model)
            left = rest * around.slopes[model] * others
            if left <= around.enough * memory[model]:
                return mean, own, outside, left / memory[model]
        action = int(np.argmax(policy.act(memory, h, state)))
        losses = real[0 if form.horizon is None else h, state, action]
        mean += factor * sum(
            b * x for b, x in zip(memory, losses.tolist(), strict=True)
        )
        own += factor * float(losses[model])
        factor *= form.discount
        row = state * pattern.n_actions + action
        edges = slice(pattern.indptr[row], pattern.indptr[row + 1])
        draw = uniform(key, h + 1)
        after = _quantile(pattern.indices[edges], chances[edges], draw)
        try:
            memory = policy.observe(memory, Step(h, state, action, after))
        except OutsideClass:
            outside = True
        state = after
    beyond = 0.0 if form.horizon else factor / (1.0 - form.discount)
    return mean, own, outside, beyond


def _quantile(states: AnyArray, chances: FloatArray, draw: float) -> int:
    total, last = 0.0, -1
    for state, chance in zip(states, chances, strict=True):
        if chance > 0.0:
            total, last = total + chance, int(state)
            if draw < total:
                break
    return last
