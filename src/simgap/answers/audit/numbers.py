"""Are the numbers of a class what they should be? Rows, prior, start, rewards."""

from __future__ import annotations

import numpy as np

from simgap.answers.audit.finding import (
    Finding,
    Status,
    counted,
    listed,
    model_named,
    percent,
    told,
)
from simgap.arrays import FloatArray
from simgap.mdp import LatentMDP, SimulatorClass

SMALL = 1e-9  # a probability below this decides what can be reached by a hair
COARSE = 1e-6  # relative; what rounding may change before it is worth a warning
EPS = 2.0**-52


def number_findings(latent: LatentMDP) -> tuple[Finding, ...]:
    """Return what there is to say about rows, prior, start and rewards."""
    simulators = latent.simulators
    return (
        _rows(simulators),
        _prior(latent),
        _start(simulators),
        _rewards(simulators),
    )


def conditioning_finding(
    simulators: SimulatorClass,
    *,
    spans: FloatArray | None,
    residual: float,
    rounding: float | None,
) -> Finding:
    """Return whether doubles carry the numbers that are printed.

    `spans` (M,) and `residual` are those of the optimality equations for rewards in
    [0, 1], `rounding` is what floating point may change about a gap, as a part of what
    is at stake.
    """
    values = simulators.transitions.values
    least = float(np.min(values, where=values > 0.0, initial=1.0))
    doubts = []
    if least < SMALL:
        doubts.append(
            f"some move has probability {told(least)}: what can be reached, and how "
            f"fast, hangs on it, and times up to {told(1.0 / least)} steps enter"
        )
    span = 0.0 if spans is None else float(spans.max())
    if span * EPS > COARSE:
        doubts.append(
            f"where an episode stands is worth up to {told(span)} times the range of "
            f"rewards, of which doubles round away {told(span * EPS)}"
        )
    if residual > COARSE:
        doubts.append(
            f"gains and biases solve their equations only to {told(residual)} of the "
            "range of rewards; bounds allow for that"
        )
    if rounding is not None and rounding > COARSE:
        doubts.append(
            f"rounding may change losses by {percent(rounding)} of what is at stake"
        )
    if doubts:
        return Finding("digits", Status.WARNING, "; ".join(doubts), least)
    text = f"well conditioned; the least probability is {told(least)}"
    if rounding is not None:
        text += f", rounding changes losses by at most {told(rounding)} of the stake"
    return Finding("digits", Status.OK, text, least)


def _rows(simulators: SimulatorClass) -> Finding:
    kernel = simulators.transitions
    worst = 0.0
    for row in kernel.values:
        sums = np.add.reduceat(row, kernel.indptr[:-1])
        worst = max(worst, float(np.abs(sums - 1.0).max()))
    count = kernel.n_models * kernel.n_states * kernel.n_actions
    text = f"all {count} rows are probabilities; the worst sum is off by {told(worst)}"
    repaired = [note for note in simulators.notes if "divided by" in note]
    return Finding("rows", Status.OK, "; ".join([text, *repaired]), worst)


def _prior(latent: LatentMDP) -> Finding:
    prior, names = latent.prior, latent.simulators.model_names
    without = np.flatnonzero(prior == 0.0)
    least = float(prior[prior > 0.0].min())
    if without.size:
        which = listed([names[int(at)] for at in without])
        text = (
            f"{counted(int(without.size), 'model')} without weight ({which}): training "
            "never meets them and nothing is promised if one of them is real"
        )
        return Finding("prior", Status.WARNING, text, 0.0)
    if prior.size == 1:
        return Finding("prior", Status.OK, "one model: nothing is hidden", 1.0)
    if np.ptp(prior) <= 1e-12:
        text = f"uniform over {prior.size} models"
    else:
        at = int(np.argmin(prior))
        text = (
            f"weights from {told(least)} ({model_named(names[at])}) to "
            f"{told(float(prior.max()))}; a bound on the average holds in the rarest "
            f"model {told(1.0 / least)} times as large"
        )
    return Finding("prior", Status.OK, text, least)


def _start(simulators: SimulatorClass) -> Finding:
    laws = simulators.start
    if len(laws) > 1 and not (laws == laws[:1]).all():
        text = "the first state depends on the model: seeing it is information already"
        return Finding("start", Status.INFO, text)
    law = simulators.start_law(0)
    states = np.flatnonzero(law > 0.0)
    names = listed([simulators.labels.state(int(s)) for s in states])
    drawn = "" if states.size == 1 else f"drawn from {states.size} states: "
    return Finding("start", Status.OK, f"{drawn}{names}", float(states.size))


def _rewards(simulators: SimulatorClass) -> Finding:
    rewards = simulators.rewards
    low, high = float(rewards.min()), float(rewards.max())
    width = high - low
    if width == 0.0:
        text = f"every reward is {told(low)}: nothing can be lost"
        return Finding("rewards", Status.INFO, text, 0.0)
    text = f"from {told(low)} to {told(high)}"
    if low < 0.0 or high > 1.0:
        text += "; bounds are made for [0, 1] and scaled back, losses do not change"
    if simulators.shared_rewards or bool((rewards == rewards[:1]).all()):
        return Finding("rewards", Status.OK, f"{text}; the same in all models", width)
    text += (
        "; they depend on the model and the agent is not shown them, so that it finds "
        "the model by its moves alone (Theorem 2 asks for shared rewards)"
    )
    return Finding("rewards", Status.WARNING, text, width)
