"""The gap of posterior sampling (Thompson), estimated by its losses."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np

from simgap._kernels.sampling_rollout import simulate_sampling
from simgap.arrays import FloatArray
from simgap.oracle.loss_form import LossForm
from simgap.policies.thompson import ThompsonPolicy
from simgap.statistics import Estimate

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

    Every model has an equal share of the episodes. The upper end of an interval leaves
    room for losses that were not met: log(2 / (1 - confidence)) episodes of twice the
    largest cost met, or of the largest possible one if nothing was lost.
    """
    members, prior = form.n_models, form.latent.prior
    each = max(FEWEST, ceil(episodes / members))
    models = np.repeat(np.arange(members, dtype=np.int32), each)
    believed, lost = np.empty((2, models.size))
    length, left_out = _length(form)
    simulate_sampling(
        form.pattern.indptr, form.pattern.indices, form.likelihood, form.losses,
        np.ascontiguousarray(form.losses.argmin(axis=2).astype(np.int32)), prior,
        _start_laws(form), form.discount, length, np.uint64(seed % 2**64), models,
        believed, lost,
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
    from scipy.special import stdtrit

    each = costs.shape[1]
    mean = float(weights @ costs.mean(axis=1))
    part = weights**2 * costs.var(axis=1, ddof=1) / each
    variance = float(part.sum())
    half = 0.0
    if variance > 0.0:  # Welch and Satterthwaite
        freedom = variance**2 / float((part**2).sum() / (each - 1))
        half = float(stdtrit(freedom, 0.5 + confidence / 2.0)) * sqrt(variance)
    largest = float(costs[weights > 0.0].max())
    unseen = min(whole, 2.0 * largest) if largest > 0.0 else whole
    room = log(2.0 / (1.0 - confidence)) / each * float(weights.max()) * unseen
    return Estimate(
        estimate=mean,
        lower=max(0.0, min(mean, mean - half - form.rounding)),
        upper=mean + half + room + left_out + form.rounding,
        confidence=confidence,
        method="stratified t interval with room for unseen losses, "
        f"{each * int((weights > 0.0).sum())} episodes",
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
