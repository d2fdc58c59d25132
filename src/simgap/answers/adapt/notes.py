"""What a reader of an adaptation should know, most important first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simgap.answers.adapt.evidence import Evidence, RewardEvidence, differing_starts
from simgap.answers.adapt.misfit import impossible_transitions
from simgap.arrays import BoolArray, FloatArray
from simgap.interop import TransitionLog
from simgap.mdp import LatentMDP
from simgap.oracle import OracleResult, Outcome
from simgap.records.note import Note, Notes


def adapt_notes(
    latent: LatentMDP,
    log: TransitionLog,
    evidence: Evidence,
    *,
    weights: FloatArray | None,
    outside: bool,
    plausible: BoolArray,
    rewards: RewardEvidence,
    start_evidence: bool,
) -> tuple[Note, ...]:
    """Return what a log says beside numbers; `weights` are the posterior, if any."""
    notes = Notes()
    if weights is None:
        notes.add(*_excluded(evidence))
    else:
        _note_class(latent, notes, outside=outside)
    if outside:
        _note_spared(latent, notes, plausible)
    _note_log(latent, log, notes)
    worlds = latent.simulators
    differ = bool((worlds.rewards != worlds.rewards[0]).any())
    if rewards is RewardEvidence.IGNORED and log.reward is not None and differ:
        notes.add(
            "rewards-not-used",
            "rewards differ between models and were not used as evidence; "
            "--rewards exact uses them, if they are not random",
        )
    if not start_evidence and differing_starts(latent):
        notes.add(
            "starts-not-used",
            "models begin differently and first states were not used as evidence; "
            "--start-evidence uses them",
        )
    if weights is not None:
        faint = (weights == 0.0) & (latent.prior > 0.0)
        faint &= evidence.log_likelihood > -np.inf
        if faint.any():
            notes.add(
                "faint-posterior",
                f"models with a posterior below 1e-60, taken as 0: {int(faint.sum())}",
            )
    return (*notes, *log.notes)


def plan_notes(plans: Mapping[str, OracleResult | None]) -> tuple[Note, ...]:
    """Return which plans were not finished."""
    notes = Notes()
    for which, plan in plans.items():
        if plan is not None and plan.outcome not in (Outcome.EXACT, Outcome.SOLVED):
            notes.add(
                "planning-cut-short",
                f"planning {which}: {plan.outcome.value}; its bracket is valid, but "
                "may differ between runs",
            )
    return tuple(notes)


def _note_class(latent: LatentMDP, notes: Notes, *, outside: bool) -> None:
    """Add what a posterior presupposes."""
    if outside:
        notes.add(
            "outside-class",
            "posterior and new plan presuppose that the real model is in the class, "
            "which the data refute: do not rely on them",
        )
    elif _varies(latent):
        notes.add(
            "between-models",
            "only the listed models were considered; a real value between them is "
            "given to the nearest, however small the deviation",
        )


def _note_spared(latent: LatentMDP, notes: Notes, plausible: BoolArray) -> None:
    """Add which model would explain a log that no likely model explains."""
    spared = np.flatnonzero(plausible & (latent.prior == 0.0))
    if spared.size:
        name = latent.simulators.model_names[int(spared[0])]
        notes.add(
            "no-weight-but-explains",
            f"model {name!r} explains the data, but has no prior weight",
        )


def _varies(latent: LatentMDP) -> bool:
    """Return whether a parameter has several values, so that some lie between."""
    values = latent.simulators.theta.values[latent.prior > 0.0]
    return bool((values != values[:1]).any())


def _excluded(evidence: Evidence) -> tuple[str, str]:
    """Return code and text of why no model is left."""
    nowhere = impossible_transitions(evidence)
    if nowhere:
        text = f"transitions that have probability 0 in every model: {nowhere}"
        return "impossible-transitions", text
    if evidence.contradicted.any():
        return (
            "excluded-by-rewards",
            "every model is excluded, some by rewards: those of a model are means over "
            "successors; if the real ones depend on the successor, leave them out",
        )
    text = "every model with prior weight gives some transition probability 0"
    return "all-excluded", text


def _note_log(latent: LatentMDP, log: TransitionLog, notes: Notes) -> None:
    worlds = latent.simulators
    firsts = np.zeros(worlds.n_states, bool)
    for member in range(len(worlds.start)):
        firsts |= worlds.start_law(member) > 0.0
    breaks = log.breaks()
    jumps = breaks[~firsts[log.state[breaks + 1]]]  # others are restarts
    if jumps.size:
        at = int(jumps[0])
        notes.add(
            "jumps",
            f"steps that do not begin where the one before ended: {jumps.size} (first: "
            f"step {int(log.step[at + 1])} in state "
            f"{worlds.labels.state(int(log.state[at + 1]))}); transitions are used one "
            "by one, so the posterior holds if each of them is right",
        )
    missing = log.missing_steps()
    if missing:
        notes.add(
            "missing-steps",
            f"steps missing between those of the log: {missing}; answers hold if they "
            "were not left out because of where they led",
        )
