"""Real data: which models remain, does any explain them, what does a new plan lose?

The prior becomes the posterior (exact Bayes, in logs), the oracle is planned again for
it, and tests that hold for any way of collecting data say whether the real model is in
the class at all (`goodness_of_fit`). The models that those tests do not refuse are a
confidence set: it holds the real model with probability 1 - false_alarm, so the new
policy loses at most its worst gap there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.answers.adapt.evidence import (
    Evidence,
    RewardEvidence,
    differing_starts,
    evidence_of,
    posterior,
)
from simgap.answers.adapt.goodness_of_fit import Fit, goodness_of_fit
from simgap.answers.adapt.misfit import (
    Misfit,
    best_model,
    impossible_transitions,
    misfits,
)
from simgap.answers.planned_class import checked_oracle
from simgap.arrays import BoolArray, FloatArray, owned
from simgap.bounds import posterior_gap
from simgap.errors import InvalidArgument
from simgap.interop import TransitionLog
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle import (
    AutoOracle,
    OracleResult,
    Outcome,
    Progress,
    Solver,
    domain_randomization_oracle,
)
from simgap.planning import checked_horizon
from simgap.records import Certainty

FALSE_ALARM = 0.01
# a width of 1e-4 of the value is enough to compare two plans
PLANNING = AutoOracle(negligible=1e-4)

Report = Callable[[str, Progress], None] | None


@final
@dataclass(frozen=True, slots=True)
class AdaptSettings:
    """What counts as evidence, how sure an alarm must be, and how far to plan."""

    rewards: RewardEvidence = RewardEvidence.IGNORED
    start_evidence: bool = False  # first states of episodes
    false_alarm: float = FALSE_ALARM
    solver: Solver = PLANNING

    def __post_init__(self) -> None:
        if not 0.0 < self.false_alarm < 1.0:
            raise InvalidArgument(
                f"false_alarm is {self.false_alarm}", hint="it is between 0 and 1"
            )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Adaptation:
    """What a log says about a latent MDP."""

    latent: LatentMDP  # before
    settings: AdaptSettings
    log_likelihood: FloatArray  # (M,), -inf: excluded
    posterior: FloatArray | None  # (M,), None: the log excludes every model
    fit: Fit
    plausible: BoolArray  # (M,), p-value above false_alarm: holds the real model
    outside_class: bool  # no model with prior weight is plausible
    best: int  # the model that explains the log best
    misfit: tuple[Misfit, ...]  # of it; empty unless outside_class
    before: OracleResult  # under the prior
    after: OracleResult | None  # under the posterior
    notes: tuple[str, ...]

    @property
    def certainty(self) -> Certainty:
        """Return what a proved number of this answer is called."""
        return self.latent.certified

    @property
    def adapted(self) -> LatentMDP | None:
        """Return the class with the posterior as its prior."""
        if self.posterior is None:
            return None
        return LatentMDP(self.latent.simulators, self.posterior)

    @property
    def old_plan(self) -> float | None:
        """Return what the plan of before loses on average over the posterior."""
        if self.posterior is None:
            return None
        return float(self.posterior @ self.before.gaps)

    @property
    def plausible_gap(self) -> float | None:
        """Return the largest gap of the new policy in a plausible model."""
        if self.after is None or not self.plausible.any():
            return None
        return float(self.after.gaps[self.plausible].max())

    @property
    def likeliest_gap(self) -> float | None:
        """Return Lemma 1's bound of any new oracle's gap in the likeliest model.

        None if it says nothing: not less than all that can be lost.
        """
        if self.after is None or self.posterior is None or self.after.horizon is None:
            return None
        rewards = self.latent.simulators.rewards
        width, steps = float(np.ptp(rewards)), self.after.horizon
        upper = self.after.average_gap.upper
        if width == 0.0 or upper is None:
            return None
        bound = posterior_gap(
            upper / width, posterior=float(self.posterior.max()), horizon=steps
        )
        return None if bound.value >= steps else width * bound.value


def adapt(
    latent: LatentMDP,
    log: TransitionLog,
    horizon: int,
    *,
    settings: AdaptSettings | None = None,
    before: OracleResult | None = None,
    progress: Report = None,
) -> Adaptation:
    """Return posterior, tests of fit and the oracles before and after (theory 7.4).

    Models without prior weight get none from data; the class is those that have some.
    The oracle before is planned here unless it is given.
    `progress` is told which oracle is planned and how its bracket closes.
    """
    checked_latent(latent)
    chosen = AdaptSettings() if settings is None else settings
    steps = checked_horizon(horizon)
    if len(log) == 0:
        raise InvalidArgument("the log is empty", hint="give at least one transition")
    evidence = evidence_of(
        latent.simulators, log, rewards=chosen.rewards, start=chosen.start_evidence
    )
    weights = posterior(latent.prior, evidence.log_likelihood)
    fit = goodness_of_fit(evidence, latent.prior)
    plausible = fit.p_values > chosen.false_alarm
    outside = not bool((plausible & (latent.prior > 0.0)).any())
    best = best_model(evidence)
    before = checked_oracle(before, latent, steps) or _planned(
        latent, steps, chosen.solver, "before", progress
    )
    after = None
    if weights is not None:
        changed = LatentMDP(latent.simulators, weights)
        after = _planned(changed, steps, chosen.solver, "after", progress)
    found = Adaptation(
        latent=latent,
        settings=chosen,
        log_likelihood=evidence.log_likelihood,
        posterior=None if weights is None else owned(weights),
        fit=fit,
        plausible=owned(plausible),
        outside_class=outside,
        best=best,
        misfit=misfits(latent.simulators, evidence, best) if outside else (),
        before=before,
        after=after,
        notes=(),
    )
    return replace(found, notes=tuple(_notes(found, evidence, log)))


def _planned(
    latent: LatentMDP, horizon: int, solver: Solver, which: str, progress: Report
) -> OracleResult:
    def follow(now: Progress) -> None:
        if progress is not None:
            progress(which, now)

    found = domain_randomization_oracle(
        latent, horizon=horizon, solver=solver, progress=follow
    )
    if found.outcome is Outcome.INTERRUPTED:
        raise KeyboardInterrupt  # half an answer about two plans is none
    return found


def _notes(found: Adaptation, evidence: Evidence, log: TransitionLog) -> list[str]:
    """Return what a reader of the numbers should know, most important first."""
    latent, notes = found.latent, []
    if found.posterior is None:
        notes.append(_excluded(found, evidence))
    elif found.outside_class:
        notes.append(
            "posterior and new plan presuppose that the real world is in the class, "
            "which the data refute: do not rely on them"
        )
    elif _varies(latent):
        notes.append(
            "only the listed models were considered; a real value between them is "
            "given to the nearest, however small the deviation"
        )
    spared = np.flatnonzero(found.plausible & (latent.prior == 0.0))
    if found.outside_class and spared.size:
        name = latent.simulators.model_names[int(spared[0])]
        notes.append(f"model {name!r} explains the data, but has no prior weight")
    notes += _notes_on_log(latent, log)
    notes += _notes_on_use(found, log)
    limits = [
        (which, each.outcome)
        for which, each in (("before", found.before), ("after", found.after))
        if each is not None and each.outcome not in (Outcome.EXACT, Outcome.SOLVED)
    ]
    notes += [
        f"planning {which}: {outcome.value}; its bracket is valid, but may differ "
        "between runs"
        for which, outcome in limits
    ]
    return [*notes, *log.notes]


def _varies(latent: LatentMDP) -> bool:
    """Return whether a parameter has several values, so that some lie between."""
    values = latent.simulators.theta.values[latent.prior > 0.0]
    return bool((values != values[:1]).any())


def _excluded(found: Adaptation, evidence: Evidence) -> str:
    nowhere = impossible_transitions(evidence)
    if nowhere:
        return f"transitions that have probability 0 in every model: {nowhere}"
    if evidence.contradicted.any():
        return (
            "every model is excluded, some by rewards: those of a model are means over "
            "successors; if the real ones depend on the successor, leave them out"
        )
    return "every model with prior weight gives some transition probability 0"


def _notes_on_log(latent: LatentMDP, log: TransitionLog) -> list[str]:
    notes, worlds = [], latent.simulators
    firsts = np.zeros(worlds.n_states, bool)
    for member in range(len(worlds.start)):
        firsts |= worlds.start_law(member) > 0.0
    breaks = log.breaks()
    jumps = breaks[~firsts[log.state[breaks + 1]]]  # others are restarts
    if jumps.size:
        at = int(jumps[0])
        notes.append(
            f"steps that do not begin where the one before ended: {jumps.size} (first: "
            f"step {int(log.step[at + 1])} in state "
            f"{worlds.labels.state(int(log.state[at + 1]))}); transitions are used one "
            "by one, so the posterior holds if each of them is right"
        )
    missing = log.missing_steps()
    if missing:
        notes.append(
            f"steps missing between those of the log: {missing}; answers hold if they "
            "were not left out because of where they led"
        )
    return notes


def _notes_on_use(found: Adaptation, log: TransitionLog) -> list[str]:
    notes, worlds = [], found.latent.simulators
    ignored = found.settings.rewards is RewardEvidence.IGNORED
    if (
        ignored
        and log.reward is not None
        and (worlds.rewards != worlds.rewards[0]).any()
    ):
        notes.append(
            "rewards differ between models and were not used as evidence; "
            "--rewards exact uses them, if they are not random"
        )
    if not found.settings.start_evidence and differing_starts(found.latent):
        notes.append(
            "models begin differently and first states were not used as evidence; "
            "--start-evidence uses them"
        )
    if found.posterior is not None:
        faint = (found.posterior == 0.0) & (found.latent.prior > 0.0)
        faint &= found.log_likelihood > -np.inf
        if faint.any():
            notes.append(
                f"models with a posterior below 1e-200, taken as 0: {int(faint.sum())}"
            )
    return notes
