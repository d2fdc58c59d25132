"""Are the numbers of a class what they should be? Rows, prior, start, rewards."""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.intervals import EPS
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.records.audit import Finding
from simgap.text import counted, listed, model_named, number, percent

SMALL = 1e-9  # a probability below this: results depend on a very rare move
COARSE = 1e-6  # relative; what rounding may change before it is worth a warning


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
    doubts = {}
    if least < SMALL:
        doubts["small-probability"] = (
            f"some move has probability {number(least, 3)}: what can be reached, and "
            f"how fast, depends on it, and trips of {number(1.0 / least, 3)} steps "
            "count"
        )
    span = 0.0 if spans is None else float(spans.max())
    if span * EPS > COARSE:
        doubts["large-values"] = (
            f"one state is worth up to {number(span, 3)} times the range of rewards "
            f"more than another; of that, rounding loses {number(span * EPS, 3)}"
        )
    if residual > COARSE:
        doubts["unsolved-equations"] = (
            "long-run averages solve their equations only up to "
            f"{number(residual, 3)} of the range of rewards; bounds allow for that"
        )
    if rounding is not None and rounding > COARSE:
        doubts["rounding"] = (
            f"rounding may change losses by {percent(rounding)} of what random actions "
            "lose"
        )
    if doubts:
        text = "; ".join(doubts.values())
        return Finding("digits", next(iter(doubts)), "warning", text, least)
    text = f"well conditioned; the least probability is {number(least, 3)}"
    if rounding is not None:
        text += (
            f", rounding changes losses by at most {number(rounding, 3)} of what "
            "random actions lose"
        )
    return Finding("digits", "well-conditioned", "ok", text, least)


def _rows(simulators: SimulatorClass) -> Finding:
    kernel = simulators.transitions
    worst = 0.0
    for row in kernel.values:
        sums = np.add.reduceat(row, kernel.indptr[:-1])
        worst = max(worst, float(np.abs(sums - 1.0).max()))
    count = kernel.n_models * kernel.n_states * kernel.n_actions
    off = number(worst, 3)
    text = f"all {count} rows are probabilities; the worst sum is off by {off}"
    return Finding("rows", "probabilities", "ok", text, worst)


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
        return Finding("prior", "models-without-weight", "warning", text, 0.0)
    if prior.size == 1:
        text = "one model: nothing is hidden"
        return Finding("prior", "one-model", "ok", text, 1.0)
    if np.ptp(prior) <= 1e-12:
        text = f"uniform over {prior.size} models"
        return Finding("prior", "uniform", "ok", text, least)
    at = int(np.argmin(prior))
    text = (
        f"weights from {number(least, 3)} ({model_named(names[at])}) to "
        f"{number(float(prior.max()), 3)}; the loss in the rarest model can be "
        f"{number(1.0 / least, 3)} times the average loss"
    )
    return Finding("prior", "uneven", "ok", text, least)


def _start(simulators: SimulatorClass) -> Finding:
    laws = simulators.start
    if len(laws) > 1 and not (laws == laws[:1]).all():
        text = "the first state depends on the model: seeing it is information already"
        return Finding("start", "depends-on-model", "info", text)
    law = simulators.start_law(0)
    states = np.flatnonzero(law > 0.0)
    names = listed([simulators.labels.state(int(s)) for s in states])
    drawn = "" if states.size == 1 else f"drawn from {states.size} states: "
    return Finding("start", "same-law", "ok", f"{drawn}{names}", float(states.size))


def _rewards(simulators: SimulatorClass) -> Finding:
    rewards = simulators.rewards
    low, high = float(rewards.min()), float(rewards.max())
    width = high - low
    if width == 0.0:
        text = f"every reward is {number(low, 3)}: nothing can be lost"
        return Finding("rewards", "all-equal", "info", text, 0.0)
    text = f"from {number(low, 3)} to {number(high, 3)}"
    if low < 0.0 or high > 1.0:
        text += "; bounds are made for [0, 1] and scaled back, losses do not change"
    if simulators.shared_rewards or bool((rewards == rewards[:1]).all()):
        text += "; the same in all models"
        return Finding("rewards", "shared", "ok", text, width)
    text += (
        "; they depend on the model and the agent does not see them, so that it must "
        "recognise the model by its moves alone (Theorem 2 asks for shared rewards)"
    )
    return Finding("rewards", "depend-on-model", "warning", text, width)
