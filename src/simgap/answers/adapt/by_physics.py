"""What a log of a real machine says about every model of a class on a grid.

The table of such a class rounds states, which a real machine does not do: a few of its
steps would have probability 0 in every model. So the equations behind the table judge
the models, and the table only plans.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from simgap.answers.adapt.evidence import LEAST_POSTERIOR
from simgap.answers.adapt.judged import Judged
from simgap.answers.adapt.notes import note_class, note_spared
from simgap.arrays import FloatArray
from simgap.continuous import JudgedModels, RealLog, judged_models, read_real_log
from simgap.errors import InvalidArgument
from simgap.instances import simulator_of
from simgap.mdp import Discretisation, LatentMDP
from simgap.records import Certainty, Notes
from simgap.text import counted, number, percent

CERTAINTY: dict[str, Certainty] = {
    "posterior": "estimated",
    "p_value": "estimated",
    "outside_class": "estimated",
    "parameters": "estimated",
    "plausible_gap": "estimated",  # which models are plausible
}


def judged_by_physics(
    latent: LatentMDP,
    log: RealLog | str | os.PathLike[str],
    *,
    rate: float | None,
    delay: int | None,
    false_alarm: float,
) -> Judged:
    """Return the posterior and tests from predictions of the equations.

    The p-values are approximate: the errors need not be normal.
    """
    table = _table(latent)
    seen = log if isinstance(log, RealLog) else read_real_log(Path(log), rate=rate)
    found = judged_models(
        table, seen, longest_delay=delay or 0, false_alarm=false_alarm
    )
    weights = found.weights(latent.prior)  # (M, D, K)
    p_values = np.array([each.p_value for each in found.fits])
    plausible = p_values > false_alarm
    outside = not bool((plausible & (latent.prior > 0.0)).any())
    likely = np.logaddexp.reduce(found.log_likelihood[:, :, 0], axis=1)
    best = int(likely.argmax())
    notes = Notes()
    notes.add(
        "evidence-from-physics",
        f"the models are judged by the equations of {table.physics.name} at their "
        "parameters, which predict one step and five, not by the table; losses are "
        "those of the table",
    )
    note_class(latent, notes, outside=outside)
    if outside:
        note_spared(latent, notes, plausible)
    _note_fit(found, best, notes, outside=outside)
    _note_delay(found, weights, delay, notes)
    by_length = weights.sum(axis=1).argmax(axis=0)
    if np.ptp(by_length):
        names = [latent.simulators.model_names[at] for at in by_length.tolist()]
        notes.add(
            "lengths-disagree",
            f"one step speaks for {names[0]}, five for {names[-1]}: the equations are "
            "wrong in a way that grows, or the log is short",
        )
    for each in seen.notes:
        notes.add("about-the-log", each)
    return Judged(
        transitions=len(seen),
        episodes=seen.n_episodes,
        log_hash=seen.hash,
        log_likelihood=likely,
        weights=_posterior(weights),
        p_values=p_values,
        plausible=plausible,
        outside=outside,
        best=best,
        misfit=(),
        notes=tuple(notes),
        certainty=CERTAINTY,
    )


def _table(latent: LatentMDP) -> Discretisation:
    origin = latent.simulators.grid
    table = simulator_of(latent.simulators)
    if origin is None or table is None:
        name = "the class" if origin is None else origin.simulator
        raise InvalidArgument(
            f"the log has observations, and {name} has no equations to predict them",
            hint="give a log with the columns state, action, next_state; or a class on "
            "a grid (discretise:Pendulum-v1?mass=0.8,1.2, or discretise in Python); or "
            "the simulator itself with a range (--randomize 'mass=0.5..2')",
            code="no-equations",
        )
    if origin.samples > 1:
        raise InvalidArgument(
            f"steps of {origin.simulator} are random, so one step predicts nothing",
            hint="give the simulator itself with a range: --randomize 'mass=0.5..2'",
            code="no-equations",
        )
    return table


def _posterior(weights: FloatArray) -> FloatArray:
    """Return the posterior of the models, (M, D, K) -> (M,)."""
    pooled: FloatArray = weights.mean(axis=2).sum(axis=1)
    pooled[pooled < LEAST_POSTERIOR] = 0.0
    found: FloatArray = pooled / pooled.sum()
    return found


def _note_fit(found: JudgedModels, best: int, notes: Notes, *, outside: bool) -> None:
    fit = found.fits[best]
    if fit.channel is None:
        return
    if outside:
        notes.add(
            "physics-misfit",
            f"what was known before a step explains {percent(fit.explained)} of the "
            f"errors of the best model in {found.axes[fit.channel]} (p-value "
            f"{number(fit.p_value, 2)}): values between the models, a wider range, or "
            "something that the equations do not have",
        )
        return
    drag: dict[str, float] = {}
    for channel, size in fit.drag.items():  # a circle has two channels
        axis = found.axes[channel]
        drag[axis] = max(drag.get(axis, 0.0), size)
    drags = ", ".join(f"{percent(size)} of {axis}" for axis, size in drag.items())
    notes.add(
        "no-misfit-seen",
        "no misfit is seen, which is no proof: a drag would be seen 9 times out of 10 "
        f"from so much on that it takes in a step: {drags}",
    )


def _note_delay(
    found: JudgedModels, weights: FloatArray, stated: int | None, notes: Notes
) -> None:
    chances = weights.mean(axis=2).sum(axis=0)
    at = int(chances.argmax())
    delay = int(found.delays[at])
    late = f"actions arrive {counted(delay, 'step')} late ({percent(chances[at])})"
    if stated is not None and stated != delay:
        notes.add("delay-differs", f"{late}, not {stated} as stated")
    if delay:
        notes.add(
            "delay-found",
            f"{late}, and the table has no delay: plan and losses presuppose none",
        )
