"""Baselines that track the posterior: by going through histories, or sampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simgap.arrays import owned
from simgap.intervals import Estimate
from simgap.oracle.baselines.baseline import Baseline
from simgap.oracle.baselines.history_values import gaps_by_histories
from simgap.oracle.baselines.posterior_sampling import (
    estimated_sampling,
    sampling_policy,
)
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.loss_form import LossForm
from simgap.policies import BeliefPolicy, Policy

GREEDY = "best action if the model were revealed after it"
SAMPLING = "plays the plan of a model drawn from the posterior, anew at every step"
MOST_EPISODES = 20_000
HISTORIES_PER_SECOND = 10_000


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

    return _tracking(form, policy, GREEDY, sampled, effort)


def sampling_baseline(form: LossForm, *, effort: float, seed: int) -> Baseline:
    """Return posterior sampling, anew at every step."""

    def sampled() -> tuple[Estimate, tuple[Estimate, ...]]:
        return estimated_sampling(form, episodes=_episodes(form, effort), seed=seed)

    return _tracking(form, sampling_policy(form), SAMPLING, sampled, effort)


def _tracking(
    form: LossForm,
    policy: Policy[Any],
    about: str,
    sampled: Callable[[], tuple[Estimate, tuple[Estimate, ...]]],
    effort: float,
) -> Baseline:
    """Return a baseline that tracks the posterior: by histories, or sampled."""
    name = policy.name.replace(" ", "-")
    limit = int(HISTORIES_PER_SECOND * min(effort, 1.0) / 4)
    prior = tuple(form.latent.prior.tolist())  # the posterior of an impossible start
    gaps = gaps_by_histories(form, policy, limit=limit, fallback=prior)
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
