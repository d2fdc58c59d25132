"""What a log of numbered states says about every model, by their tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import BinaryIO, final

from simgap.answers.adapt.evidence import RewardEvidence, evidence_of, posterior
from simgap.answers.adapt.goodness_of_fit import goodness_of_fit
from simgap.answers.adapt.misfit import best_model, misfits
from simgap.answers.adapt.notes import adapt_notes
from simgap.arrays import BoolArray, FloatArray
from simgap.errors import InvalidArgument
from simgap.interop import TransitionLog, read_transition_log
from simgap.intervals import EPS
from simgap.mdp import LatentMDP
from simgap.records import Misfit, Note

Log = TransitionLog | str | os.PathLike[str] | BinaryIO


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
