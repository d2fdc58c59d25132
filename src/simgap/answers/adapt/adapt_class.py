"""Real data about a class: which models remain, and what does a new plan lose?

The prior becomes the posterior (exact Bayes, in logs), the oracle is planned again for
it, and tests that hold for any way of collecting data say whether the real model is in
the class at all (`goodness_of_fit`). The models that those tests do not refuse are a
confidence set: it holds the real model with probability 1 - false_alarm, so the new
policy loses at most its worst gap there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from pathlib import Path
from typing import BinaryIO, final

import numpy as np

from simgap._kernels.time_limit import time_limited
from simgap.answers.adapt.evidence import RewardEvidence, evidence_of, posterior
from simgap.answers.adapt.goodness_of_fit import goodness_of_fit
from simgap.answers.adapt.misfit import best_model, misfits
from simgap.answers.adapt.notes import adapt_notes, plan_notes
from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import (
    KnownOracle,
    Tell,
    checked_oracle,
    planned_oracle,
)
from simgap.answers.saved_policies import (
    belief_path,
    saved_policies,
    writable_file,
)
from simgap.answers.time_limits import whole_time
from simgap.arrays import BoolArray, FloatArray
from simgap.bounds import posterior_gap
from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop import TransitionLog, read_transition_log, save_model as write_model
from simgap.intervals import EPS
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, OracleResult, Solver
from simgap.planning import checked_horizon
from simgap.records.adapt import (
    Adapt,
    AdaptedModel,
    LikeliestBound,
    Misfit,
    Moments,
    ParameterPosterior,
    SavedFiles,
)
from simgap.records.note import Note
from simgap.records.provenance import Certainty, provenance

NEGLIGIBLE = 1e-4  # of the value: a width that is enough to compare two plans
CERTAINTY: dict[str, Certainty] = {
    "posterior": "certified",  # within `rounding`
    "p_value": "certified",  # too large rather than too small, by a theorem
    "outside_class": "certified",
    "parameters": "certified",  # as the posterior
    "plausible_gap": "certified",
    "misfit": "certified",
    "gap_bound_before": "certified",
    "gap_bound_after": "certified",
    "gap_of_old_plan": "certified",
    "lemma_1": "certified",
}
Log = TransitionLog | str | os.PathLike[str] | BinaryIO


def adapt_class(
    model: Model,
    horizon: int,
    log: Log,
    *,
    rewards: RewardEvidence = RewardEvidence.IGNORED,
    start_evidence: bool = False,
    false_alarm: float = 0.01,
    gap_tolerance: float | None = None,
    time_limit: float = 60.0,
    seed: int = 0,
    solver: Solver | None = None,
    oracle: KnownOracle | None = None,
    save: str | os.PathLike[str] | None = None,
    save_model: str | os.PathLike[str] | None = None,
    progress: Tell | None = None,
) -> Adapt:
    """Return what a log says about a class: posterior, tests of fit, new plan."""
    given, steps = named_model(model), checked_horizon(horizon)
    latent, tell = given.latent, progress or (lambda word: None)
    if not 0.0 < false_alarm < 1.0:
        raise InvalidArgument(
            f"false_alarm is {false_alarm}", hint="it is between 0 and 1"
        )
    targets = _targets(save, save_model)
    if solver is None:
        share = time_limit if oracle is not None else 0.5 * time_limit
        solver = _solver(gap_tolerance, share, seed)
    tell("reading the log")
    reading = judge(
        latent,
        log,
        rewards=rewards,
        start_evidence=start_evidence,
        false_alarm=false_alarm,
    )
    weights, plausible = reading.weights, reading.plausible
    before = checked_oracle(oracle, latent, steps) or _planned(
        latent, steps, solver, "before", tell
    )
    changed = None if weights is None else LatentMDP(latent.simulators, weights)
    after = None
    if changed is not None:
        after = _planned(changed, steps, solver, "after", tell)
    names = latent.simulators.model_names
    return Adapt(
        horizon=steps,
        transitions=reading.transitions,
        episodes=reading.episodes,
        log_hash=reading.log_hash,
        posterior=tuple(
            AdaptedModel(
                name=name,
                prior=float(latent.prior[at]),
                probability=None if weights is None else float(weights[at]),
                log_likelihood=float(reading.log_likelihood[at]),
                p_value=float(reading.p_values[at]),
                plausible=bool(plausible[at]),
                gap_before=float(before.gaps[at]),
                gap_after=None if after is None else float(after.gaps[at]),
            )
            for at, name in enumerate(names)
        ),
        parameters=_parameters(latent, weights),
        outside_class=reading.outside,
        false_alarm=false_alarm,
        best=names[reading.best],
        gap_bound_before=before.average_gap,
        gap_bound_after=None if after is None else after.average_gap,
        gap_of_old_plan=None if weights is None else float(weights @ before.gaps),
        plausible_gap=None
        if after is None or not plausible.any()
        else float(after.gaps[plausible].max()),
        lemma_1=_lemma_1(latent, weights, after),
        misfit=reading.misfit,
        rounding=reading.rounding,
        files=_saved(after, changed, *targets),
        certainty=CERTAINTY,
        notes=(*reading.notes, *plan_notes({"before": before, "after": after})),
        provenance=provenance(
            command="", model=given.name, latent=latent, seed=solver.seed
        ),
        policy=None if after is None else after.policy,
        belief_policy=None if after is None else after.belief_policy,
        adapted=changed,
    )


def _targets(
    save: str | os.PathLike[str] | None, model: str | os.PathLike[str] | None
) -> tuple[Path | None, Path | None]:
    """Return where policy and class go, refusing now what would fail after planning."""
    policy = None if save is None else writable_file(save)
    target = (
        None
        if model is None
        else writable_file(
            model, what="models", option="--save-model", example="adapted"
        )
    )
    if policy is not None and target in (policy, belief_path(policy)):
        raise InvalidFile(
            f"--save and --save-model both name {target}",
            hint="give the class another name",
        )
    return policy, target


def _saved(
    after: OracleResult | None,
    changed: LatentMDP | None,
    policy: Path | None,
    model: Path | None,
) -> SavedFiles:
    if after is None or changed is None:
        return SavedFiles()
    if model is not None:
        write_model(changed, model)
    files = saved_policies(after, policy, changed.simulators.grid)
    return SavedFiles(*files, model=None if model is None else str(model))


def _solver(gap_tolerance: float | None, time_limit: float, seed: int) -> Solver:
    plain = AutoOracle(time_limit=time_limit, seed=seed, negligible=NEGLIGIBLE)
    if gap_tolerance is None:
        return plain
    return replace(plain, gap_tolerance=gap_tolerance, negligible=0.0)


def _planned(
    latent: LatentMDP, horizon: int, solver: Solver, which: str, tell: Tell
) -> OracleResult:
    with time_limited(whole_time(solver.time_limit)):
        return planned_oracle(
            latent,
            horizon,
            solver=solver,
            progress=lambda word: tell(f"planning {which}, {word}"),
        )


def _parameters(
    latent: LatentMDP, weights: FloatArray | None
) -> tuple[ParameterPosterior, ...]:
    theta = latent.simulators.theta
    return tuple(
        ParameterPosterior(
            name=name,
            before=_spread(values, latent.prior),
            after=None if weights is None else _spread(values, weights),
        )
        for name, values in zip(theta.names, theta.values.T, strict=True)
    )


def _spread(values: FloatArray, weights: FloatArray) -> Moments:
    mean = float(weights @ values)
    return Moments(mean, sqrt(float(weights @ (values - mean) ** 2)))


def _lemma_1(
    latent: LatentMDP, weights: FloatArray | None, after: OracleResult | None
) -> LikeliestBound | None:
    """Return Lemma 1's bound of any new oracle's gap in the likeliest model.

    None if it says nothing: not less than all that can be lost.
    """
    if after is None or weights is None or after.horizon is None:
        return None
    width, at = float(np.ptp(latent.simulators.rewards)), int(weights.argmax())
    if width == 0.0:
        return None
    bound = posterior_gap(
        after.average_gap.upper / width,
        posterior=float(weights[at]),
        horizon=after.horizon,
    ).value
    if bound >= after.horizon:
        return None
    return LikeliestBound(
        name=latent.simulators.model_names[at],
        probability=float(weights[at]),
        bound=width * bound,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What a log says about the M models of a class, before anything is planned."""

    transitions: int
    episodes: int
    log_hash: str
    log_likelihood: FloatArray  # (M,), -inf where the model rules the log out
    weights: FloatArray | None  # (M,), the posterior; None: no model is left
    p_values: FloatArray  # (M,)
    plausible: BoolArray  # (M,)
    outside: bool  # no model with prior weight is plausible
    best: int
    misfit: tuple[Misfit, ...]
    notes: tuple[Note, ...]

    @property
    def rounding(self) -> float:
        """Return how far a probability can be off.

        A log-likelihood is a sum of as many logarithms of one sign as there are
        transitions and a first state, each off by its last digits, and an error of it
        is a factor.
        """
        likely = self.log_likelihood.tolist()
        logs = [abs(each) for each in likely if isfinite(each)]
        each = (self.transitions + 8) * EPS * max(logs, default=0.0)
        return 2.0 * each + (len(likely) + 8) * EPS


def judge(
    latent: LatentMDP,
    log: Log,
    *,
    rewards: RewardEvidence,
    start_evidence: bool,
    false_alarm: float,
) -> Judged:
    """Return the exact posterior and tests that no way of collecting data can fool."""
    seen = _read(log, latent)
    evidence = evidence_of(
        latent.simulators, seen, rewards=rewards, start=start_evidence
    )
    weights = posterior(latent.prior, evidence.log_likelihood)
    p_values = goodness_of_fit(evidence, latent.prior).p_values
    plausible = p_values > false_alarm
    outside = not bool((plausible & (latent.prior > 0.0)).any())
    best = best_model(evidence)
    return Judged(
        transitions=len(seen),
        episodes=seen.n_episodes,
        log_hash=seen.hash,
        log_likelihood=evidence.log_likelihood,
        weights=weights,
        p_values=p_values,
        plausible=plausible,
        outside=outside,
        best=best,
        misfit=misfits(latent.simulators, evidence, best) if outside else (),
        notes=adapt_notes(
            latent,
            seen,
            evidence,
            weights=weights,
            outside=outside,
            plausible=plausible,
            rewards=rewards,
            start_evidence=start_evidence,
        ),
    )


def _read(log: Log, latent: LatentMDP) -> TransitionLog:
    if not isinstance(log, TransitionLog):
        source = Path(log) if isinstance(log, str | os.PathLike) else log
        log = read_transition_log(source, latent.simulators)
    if len(log) == 0:
        raise InvalidArgument("the log is empty", hint="give at least one transition")
    return log
