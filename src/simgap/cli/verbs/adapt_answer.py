"""The record of `simgap adapt`: what a log says."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, final

from simgap.intervals import EPS, Certified
from simgap.records import SCHEMA, Certainty, provenance

if TYPE_CHECKING:
    from simgap.answers import Adaptation, Misfit
    from simgap.arrays import FloatArray
    from simgap.interop import TransitionLog
    from simgap.records import Provenance

CERTAINTY: dict[str, Certainty] = {
    "posterior": "certified",  # within `rounding`
    "p_value": "certified",  # too large rather than too small, by a theorem
    "outside_class": "certified",
    "parameters": "certified",  # as the posterior
    "gap_bound_before": "certified",
    "gap_bound_after": "certified",
    "gap_of_old_plan": "certified",
    "plausible_gap": "certified",
    "lemma_1": "certified",
    "misfit": "certified",
}


@final
@dataclass(frozen=True, slots=True)
class ModelPosterior:
    """One model before and after the data."""

    name: str
    prior: float
    probability: float | None  # None: the log excludes every model
    log_likelihood: float
    p_value: float  # holds for any way of collecting data and of stopping
    plausible: bool  # p_value above false_alarm
    gap_before: float  # of the policy planned for the prior, if this model is real
    gap_after: float | None  # of the one planned for the posterior


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation."""

    mean: float
    sd: float


@final
@dataclass(frozen=True, slots=True)
class ParameterPosterior:
    """One hidden parameter before and after the data."""

    name: str
    before: Spread
    after: Spread | None


@final
@dataclass(frozen=True, slots=True)
class LikeliestBound:
    """Lemma 1: average gap over probability bounds the gap if this model is real."""

    name: str
    probability: float
    bound: float


@final
@dataclass(frozen=True, slots=True)
class SavedFiles:
    """Where the new policies and the class with its new prior were written."""

    policy: str | None = None
    belief_policy: str | None = None
    model: str | None = None


@final
@dataclass(frozen=True, slots=True)
class AdaptAnswer:
    """The record of `simgap adapt`."""

    schema: int
    kind: str
    horizon: int
    transitions: int
    episodes: int
    log_hash: str
    posterior: tuple[ModelPosterior, ...]
    parameters: tuple[ParameterPosterior, ...]
    outside_class: bool
    false_alarm: float
    best: str  # the model that explains the log best
    gap_bound_before: Certified
    gap_bound_after: Certified | None
    gap_of_old_plan: float | None  # averaged over the posterior
    plausible_gap: float | None  # worst of the new policy over plausible models
    lemma_1: LikeliestBound | None
    misfit: tuple[Misfit, ...]
    rounding: float  # of a probability of the posterior
    files: SavedFiles
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


def adapt_answer(
    found: Adaptation,
    log: TransitionLog,
    *,
    command: str,
    model: str,
    seed: int,
    files: SavedFiles,
) -> AdaptAnswer:
    """Return the record of an adaptation."""
    latent, before, after = found.latent, found.before, found.after
    assert before.horizon is not None
    return AdaptAnswer(
        schema=SCHEMA,
        kind="adapt",
        horizon=before.horizon,
        transitions=len(log),
        episodes=log.n_episodes,
        log_hash=log.hash,
        posterior=_posterior(found),
        rounding=_rounding(found, len(log)),
        parameters=_parameters(found),
        outside_class=found.outside_class,
        false_alarm=found.settings.false_alarm,
        best=latent.simulators.model_names[found.best],
        gap_bound_before=before.average_gap,
        gap_bound_after=None if after is None else after.average_gap,
        gap_of_old_plan=found.old_plan,
        plausible_gap=found.plausible_gap,
        lemma_1=_lemma_1(found),
        misfit=found.misfit,
        files=files,
        certainty=dict(CERTAINTY),
        notes=found.notes,
        provenance=provenance(command=command, model=model, latent=latent, seed=seed),
    )


def _rounding(found: Adaptation, transitions: int) -> float:
    """Return how far a probability can be off.

    A log-likelihood is a sum of as many logarithms of one sign as there are transitions
    and a first state, each off by its last digits, and an error of it is a factor.
    """
    logs = [abs(x) for x in found.log_likelihood.tolist() if isfinite(x)]
    each = (transitions + 8) * EPS * max(logs, default=0.0)
    return 2.0 * each + (len(found.log_likelihood) + 8) * EPS


def _posterior(found: Adaptation) -> tuple[ModelPosterior, ...]:
    weights, after = found.posterior, found.after
    return tuple(
        ModelPosterior(
            name=name,
            prior=float(found.latent.prior[at]),
            probability=None if weights is None else float(weights[at]),
            log_likelihood=float(found.log_likelihood[at]),
            p_value=float(found.fit.p_values[at]),
            plausible=bool(found.plausible[at]),
            gap_before=float(found.before.gaps[at]),
            gap_after=None if after is None else float(after.gaps[at]),
        )
        for at, name in enumerate(found.latent.simulators.model_names)
    )


def _parameters(found: Adaptation) -> tuple[ParameterPosterior, ...]:
    theta, weights = found.latent.simulators.theta, found.posterior
    return tuple(
        ParameterPosterior(
            name=name,
            before=_spread(values, found.latent.prior),
            after=None if weights is None else _spread(values, weights),
        )
        for name, values in zip(theta.names, theta.values.T, strict=True)
    )


def _spread(values: FloatArray, weights: FloatArray) -> Spread:
    mean = float(weights @ values)
    return Spread(mean, sqrt(float(weights @ (values - mean) ** 2)))


def _lemma_1(found: Adaptation) -> LikeliestBound | None:
    bound = found.likeliest_gap
    if bound is None or found.posterior is None:
        return None
    at = int(found.posterior.argmax())
    return LikeliestBound(
        name=found.latent.simulators.model_names[at],
        probability=float(found.posterior[at]),
        bound=bound,
    )
