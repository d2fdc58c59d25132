"""The gap of posterior sampling (Thompson), estimated by its losses."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from simgap._kernels.beliefs import simulate_sampling
from simgap._kernels.time_limit import pieces
from simgap.arrays import FloatArray
from simgap.intervals import Estimate
from simgap.oracle.loss_form import LossForm
from simgap.policies import ThompsonPolicy
from simgap.statistics import Part, estimated_mean

FEWEST = 8  # episodes of a model
LEFT_OUT = 1e-7  # of what a whole episode can cost, with a discount


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
