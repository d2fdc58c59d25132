"""Real data: which models remain, does any explain them, what does a new plan lose?

The prior becomes the posterior (exact Bayes, in logs), the oracle is planned again for
it, and tests that hold for any way of collecting data say whether the real model is in
the class at all (`goodness_of_fit`). The models that those tests do not refuse are a
confidence set: it holds the real model with probability 1 - false_alarm, so the new
policy loses at most its worst gap there.
"""

from __future__ import annotations

import os
from dataclasses import replace
from math import isfinite, sqrt
from pathlib import Path
from typing import BinaryIO

import numpy as np

from simgap.answers.adapt.evidence import (
    Evidence,
    RewardEvidence,
    evidence_of,
    posterior,
)
from simgap.answers.adapt.goodness_of_fit import goodness_of_fit
from simgap.answers.adapt.misfit import best_model, misfits
from simgap.answers.adapt.notes import adapt_notes
from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import (
    Tell,
    checked_oracle,
    not_interrupted,
    planned_oracle,
)
from simgap.answers.saved_policies import (
    belief_path,
    saved_policies,
    writable_file,
)
from simgap.arrays import FloatArray
from simgap.bounds import posterior_gap
from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop import (
    TransitionLog,
    read_transition_log,
    save_model as write_model,
)
from simgap.intervals import EPS
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, OracleResult, Solver
from simgap.planning import checked_horizon
from simgap.records import (
    Adapt,
    AdaptedModel,
    Certainty,
    LikeliestBound,
    Moments,
    ParameterPosterior,
    SavedFiles,
    provenance,
)

NEGLIGIBLE = 1e-4  # of the value: a width that is enough to compare two plans
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


def adapt(
    model: Model,
    horizon: int,
    log: TransitionLog | str | os.PathLike[str] | BinaryIO,
    *,
    rewards: RewardEvidence = RewardEvidence.IGNORED,
    start_evidence: bool = False,
    false_alarm: float = 0.01,
    gap_tolerance: float | None = None,
    time_limit: float = 60.0,
    seed: int = 0,
    solver: Solver | None = None,
    oracle: OracleResult | None = None,
    save: str | os.PathLike[str] | None = None,
    save_model: str | os.PathLike[str] | None = None,
    max_bytes: int | None = None,
    progress: Tell | None = None,
) -> Adapt:
    """Return what real transitions say: posterior, tests of fit, new plan (theory 7.4).

    `log` is a CSV file with the columns state, action, next_state, or what
    `read_transition_log` returns; `max_bytes` limits its size. Rewards and first states
    of episodes are evidence only if `rewards` and `start_evidence` say so. The alarm
    `outside_class` is false with chance `false_alarm` at most, however the data were
    collected. Models without prior weight get none from data; the class is those that
    have some.

    Two oracles are planned, for the prior (unless `oracle` is given) and for the
    posterior, until the bracket of the loss is `gap_tolerance` of it (0.05, or a width
    that is negligible) or for `time_limit` seconds; or as `solver` says. The new
    policies are kept in the file `save` and the class with the posterior as its prior
    in `save_model`, unless the log excludes every model.

    >>> from simgap import adapt
    >>> from simgap.interop import TransitionLog
    >>> seen = TransitionLog([0, 0], [0, 1], [0, 1], [1, 1], [1, 2])
    >>> found = adapt("riverswim?states=3&success=0.3,0.8", 10, seen)
    >>> [round(each.probability, 3) for each in found.posterior]
    [0.273, 0.727]
    """
    given, steps = named_model(model), checked_horizon(horizon)
    latent, tell = given.latent, progress or (lambda word: None)
    if not 0.0 < false_alarm < 1.0:
        raise InvalidArgument(
            f"false_alarm is {false_alarm}", hint="it is between 0 and 1"
        )
    targets = _targets(save, save_model)
    tell("reading the log")
    seen = _read(log, latent, max_bytes)
    if solver is None:
        solver = _solver(gap_tolerance, time_limit, seed)
    evidence = evidence_of(
        latent.simulators, seen, rewards=rewards, start=start_evidence
    )
    weights = posterior(latent.prior, evidence.log_likelihood)
    p_values = goodness_of_fit(evidence, latent.prior).p_values
    plausible = p_values > false_alarm
    outside = not bool((plausible & (latent.prior > 0.0)).any())
    best = best_model(evidence)
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
        transitions=len(seen),
        episodes=seen.n_episodes,
        log_hash=seen.hash,
        posterior=tuple(
            AdaptedModel(
                name=name,
                prior=float(latent.prior[at]),
                probability=None if weights is None else float(weights[at]),
                log_likelihood=float(evidence.log_likelihood[at]),
                p_value=float(p_values[at]),
                plausible=bool(plausible[at]),
                gap_before=float(before.gaps[at]),
                gap_after=None if after is None else float(after.gaps[at]),
            )
            for at, name in enumerate(names)
        ),
        parameters=_parameters(latent, weights),
        outside_class=outside,
        false_alarm=false_alarm,
        best=names[best],
        gap_bound_before=before.average_gap,
        gap_bound_after=None if after is None else after.average_gap,
        gap_of_old_plan=None if weights is None else float(weights @ before.gaps),
        plausible_gap=None
        if after is None or not plausible.any()
        else float(after.gaps[plausible].max()),
        lemma_1=_lemma_1(latent, weights, after),
        misfit=misfits(latent.simulators, evidence, best) if outside else (),
        rounding=_rounding(evidence, len(seen)),
        files=_saved(after, changed, *targets),
        certainty=dict(CERTAINTY),
        notes=adapt_notes(
            latent,
            seen,
            evidence,
            weights=weights,
            outside=outside,
            plausible=plausible,
            rewards=rewards,
            start_evidence=start_evidence,
            plans={"before": before, "after": after},
        ),
        provenance=provenance(
            command="", model=given.name, latent=latent, seed=solver.seed
        ),
        policy=None if after is None else after.policy,
        belief_policy=None if after is None else after.belief_policy,
        adapted=changed,
    )


def _read(
    log: TransitionLog | str | os.PathLike[str] | BinaryIO,
    latent: LatentMDP,
    max_bytes: int | None,
) -> TransitionLog:
    if not isinstance(log, TransitionLog):
        source = Path(log) if isinstance(log, str | os.PathLike) else log
        log = read_transition_log(source, latent.simulators, max_bytes=max_bytes)
    if len(log) == 0:
        raise InvalidArgument("the log is empty", hint="give at least one transition")
    return log


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
    return not_interrupted(
        planned_oracle(
            latent,
            horizon,
            solver=solver,
            progress=lambda word: tell(f"planning {which}, {word}"),
        )
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


def _rounding(evidence: Evidence, transitions: int) -> float:
    """Return how far a probability can be off.

    A log-likelihood is a sum of as many logarithms of one sign as there are transitions
    and a first state, each off by its last digits, and an error of it is a factor.
    """
    likely = evidence.log_likelihood.tolist()
    logs = [abs(each) for each in likely if isfinite(each)]
    each = (transitions + 8) * EPS * max(logs, default=0.0)
    return 2.0 * each + (len(likely) + 8) * EPS
