"""Baselines that track the posterior: by going through histories, or sampled."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any

import numpy as np

from simgap._kernels.beliefs.sampling_episodes import simulate_sampling
from simgap._kernels.time_limit import pieces
from simgap.arrays import FloatArray, owned
from simgap.intervals import Estimate
from simgap.oracle.baselines.baseline import Baseline
from simgap.oracle.baselines.history_values import gaps_by_histories
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.loss_form import LossForm
from simgap.policies import BeliefPolicy, Policy, ThompsonPolicy
from simgap.statistics import Part, estimated_mean

GREEDY = "best action if the model were revealed after it"
SAMPLING = "plays the plan of a model drawn from the posterior, anew at every step"
MOST_EPISODES = 20_000
MOST_HISTORIES = 1250  # that are gone through; with more, episodes are sampled
FEWEST = 8  # episodes of a model
LEFT_OUT = 1e-7  # of what a whole episode can cost, with a discount


def greedy_baseline(form: LossForm, *, effort: float, seed: int) -> Baseline:
    """Return the policy that is best for the step at the posterior."""
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    policy = BeliefPolicy(
        name="greedy-posterior", pattern=form.pattern, horizon=form.horizon,
        discount=form.discount, prior=form.latent.prior, start_law=laws,
        likelihood=form.likelihood, losses=form.losses,
        vector_set=np.zeros(form.steps + 1, np.int32),
        vector_offsets=np.zeros(form.pattern.n_states + 1, np.int64),
        vectors=np.zeros((0, form.n_models)),
    )  # fmt: skip
    episodes = _episodes(form, effort)

    def sampled() -> tuple[Estimate, tuple[Estimate, ...]]:
        average = estimated_gap(form, policy, episodes=episodes, seed=seed)
        each = estimated_gaps_per_model(form, policy, episodes=episodes, seed=seed)
        return average, each

    return _tracking(form, policy, GREEDY, sampled)


def sampling_baseline(form: LossForm, *, effort: float, seed: int) -> Baseline:
    """Return posterior sampling, anew at every step."""

    def sampled() -> tuple[Estimate, tuple[Estimate, ...]]:
        return estimated_sampling(form, episodes=_episodes(form, effort), seed=seed)

    return _tracking(form, sampling_policy(form), SAMPLING, sampled)


def _tracking(
    form: LossForm,
    policy: Policy[Any],
    about: str,
    sampled: Callable[[], tuple[Estimate, tuple[Estimate, ...]]],
) -> Baseline:
    """Return a baseline that tracks the posterior: by histories, or sampled."""
    name = policy.name.replace(" ", "-")
    prior = tuple(form.latent.prior.tolist())  # the posterior of an impossible start
    gaps = gaps_by_histories(form, policy, limit=MOST_HISTORIES, fallback=prior)
    if gaps is None:
        average, each = sampled()
        return Baseline(
            name=name,
            about=about,
            policy=policy,
            value=average.changed(-1.0, form.informed),
            average_gap=average,
            values=tuple(
                gap.changed(-1.0, float(best))
                for best, gap in zip(form.optimal, each, strict=True)
            ),
            gaps=each,
            certainty="estimated",
        )
    lost = form.around(float(form.latent.prior @ gaps))
    return Baseline(
        name=name,
        about=about,
        policy=policy,
        value=form.informed_ends - lost,
        average_gap=lost,
        values=owned(form.optimal - gaps),
        gaps=gaps,
        certainty="certified",
        note="found by going through all histories",
    )


def _episodes(form: LossForm, effort: float) -> int:
    length = form.steps if form.horizon is not None else 16.0 / (1.0 - form.discount)
    cost = length * (form.pattern.n_actions + 2) * form.n_models
    return int(np.clip(effort * 1e8 / (cost + 1.0), 400, MOST_EPISODES))


def sampling_policy(form: LossForm) -> ThompsonPolicy:
    """Return the policy that plays the plan of a model drawn from the posterior."""
    return ThompsonPolicy(
        name="posterior sampling",
        pattern=form.pattern,
        horizon=form.horizon,
        discount=form.discount,
        prior=form.latent.prior,
        start_law=_start_laws(form),
        likelihood=form.likelihood,
        losses=form.losses,
    )


def estimated_sampling(
    form: LossForm, *, episodes: int, seed: int, confidence: float = 0.95
) -> tuple[Estimate, tuple[Estimate, ...]]:
    """Return the average gap of posterior sampling, and its gap in every model.

    Every model has an equal share of the episodes.
    """
    members, prior = form.n_models, form.latent.prior
    each = max(FEWEST, ceil(episodes / members))
    models = np.repeat(np.arange(members, dtype=np.int32), each)
    believed, lost = np.empty((2, models.size))
    length, left_out = _length(form)
    plans = np.ascontiguousarray(form.losses.argmin(axis=2).astype(np.int32))
    work = length * members * (form.pattern.n_actions + 2.0)
    for some in pieces(models.size, work):
        simulate_sampling(
            form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses,
            plans, prior, _start_laws(form), form.discount, length,
            np.uint64(seed % 2**64), some.start, models[some], believed[some],
            lost[some],
        )  # fmt: skip
    believed, lost = believed.reshape(members, each), lost.reshape(members, each)
    whole = _most_per_episode(form)
    average = _interval(form, believed, prior, whole, left_out, confidence)
    per_model = tuple(
        _interval(form, lost, np.eye(members)[m], whole, left_out, confidence)
        for m in range(members)
    )
    return average, per_model


def _interval(
    form: LossForm,
    costs: FloatArray,
    weights: FloatArray,
    whole: float,
    left_out: float,
    confidence: float,
) -> Estimate:
    off, short = form.rounding, np.full(costs.shape[1], left_out)
    return estimated_mean(
        [
            Part(lost, -off, whole + left_out + off, float(weight), short=short)
            for lost, weight in zip(costs, weights, strict=True)
        ],
        confidence,
        least=0.0,
        greatest=whole + off,
        rounding=off,
    )


def _length(form: LossForm) -> tuple[int, float]:
    """Return the steps of an episode, and the most that comes after them."""
    if form.horizon is not None:
        return form.horizon, 0.0
    steps = ceil(log(LEFT_OUT) / log(form.discount))
    return steps, form.discount**steps * _most_per_episode(form)


def _most_per_episode(form: LossForm) -> float:
    worst = form.losses.max(axis=(1, 2, 3), initial=0.0)
    if form.horizon is None:
        return float(worst[0]) / (1.0 - form.discount)
    return float(worst.sum())


def _start_laws(form: LossForm) -> FloatArray:
    simulators = form.latent.simulators
    return np.stack([simulators.start_law(m) for m in range(form.n_models)])
