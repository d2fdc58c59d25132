"""What the paper's theorems say about a class, and the diameter they need.

Diameter, eluder dimension and covering number take long in large classes. There the
diameter is only bounded from below, by counting moves, and theorems that need it are
left out; `thorough` measures everything.

The facts that theorems need, measured in full or, in large classes, in part.

Eluder dimension and covering number compare every function of the class at every place.
With hundreds of models that takes minutes, and theorems have bounds by counting in
their stead. What is left out makes a bound larger, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import final

import numpy as np

from simgap._kernels.time_limit import if_in_time
from simgap.answers.audit.separation import Apart
from simgap.answers.audit.ways_back import WaysBack, farthest_hops
from simgap.answers.class_facts import ROUNDING, many_functions, measured_class
from simgap.answers.weighted_models import WeightedModels
from simgap.bounds import Bound, ClassFacts, Kind, Quantity, applicable
from simgap.errors import NotSolved, OutOfTime
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.planning import Diameter, diameter, solve_average_reward
from simgap.records.audit import Finding, Theorem
from simgap.records.note import Note
from simgap.text import SHORT, at_most, model_named, number, shown

MOST_TRIPS = 5e6  # models x states x entries of a kernel: some seconds
WITHOUT_HORIZON = 1000  # any will do: from which H on a bound says something is asked
BY_COUNTING = Note(
    "by-counting",
    "eluder dimension and covering number by counting: the class is large "
    "(--thorough measures them)",
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Theory:
    """What is known of a class from the theory alone."""

    diameter: Certified
    trip: Finding  # about the diameter
    finding: Finding  # about the theorems
    facts: ClassFacts | None = None  # None: the diameter is infinite or not measured
    theorem: Theorem | None = None  # at the horizon; None without one
    promised: float | None = None  # least bound on the average gap, own units
    notes: tuple[Note, ...] = ()


def theory(
    latent: LatentMDP,
    models: WeightedModels,
    back: WaysBack,
    apart: Apart,
    *,
    horizon: int | None,
    thorough: bool = False,
) -> Theory:
    """Return the diameter and the theorems that apply, in numbers and in words."""
    every = models.simulators
    work = len(every) * every.n_states * every.transitions.nonzeros
    if not back.communicating:
        text = "infinite: see communicating"
        trip = Finding("diameter", "infinite", "info", text, inf)
        silent = Finding("theory", "no-diameter", "info", _no_diameter(back))
        return Theory(Certified(inf, inf), trip, silent)
    if work > MOST_TRIPS and not thorough:
        return _not_measured(models, float(farthest_hops(every)))
    try:
        far = if_in_time(lambda: diameter(every))
    except NotSolved as error:
        return _not_solved(error)
    if far is None:
        return _not_measured(models, float(farthest_hops(every)))
    bracket = Certified(float(far.lower), float(far.upper))
    trip = _diameter(models, far, horizon)
    steps = horizon or WITHOUT_HORIZON
    try:
        facts, notes = audit_facts(
            latent, models, far, apart, horizon=steps, thorough=thorough
        )
        bounds = applicable(facts, steps)
    except OutOfTime:
        text = "no bound: the time limit came before the numbers that theorems need"
        return Theory(bracket, trip, Finding("theory", "out-of-time", "info", text))
    except NotSolved as error:
        text = f"not measured: {error.problem}"
        return Theory(bracket, trip, Finding("theory", "not-solved", "warning", text))
    known = _upper(bounds, Quantity.ORACLE_GAP)
    if horizon is None:
        first = min(known, key=_from, default=None)
        finding = _in_words(first, bounds, horizon)
        return Theory(bracket, trip, finding, facts, notes=notes)
    best = min(known, key=lambda bound: bound.value, default=None)
    average = _upper(bounds, Quantity.ORACLE_GAP, Quantity.MEAN_ORACLE_GAP)
    return Theory(
        diameter=bracket,
        trip=trip,
        finding=_in_words(best, bounds, horizon),
        facts=facts,
        theorem=None
        if best is None
        else Theorem(best.claim, best.value, best.vacuous, best.non_vacuous_from),
        promised=min((bound.value for bound in average), default=None),
        notes=notes,
    )


def _diameter(models: WeightedModels, far: Diameter, horizon: int | None) -> Finding:
    at = far.model
    if far.upper == 0.0:
        text = "one state: no trips at all"
        return Finding("diameter", "one-state", "ok", text, 0.0)
    state = models.simulators.labels.state
    first, last = (
        shown(state(int(each[at])), SHORT) for each in (far.source, far.target)
    )
    text = (
        f"the slowest trip, from {first} to {last} in {model_named(models.names[at])}, "
        f"takes {number(far.lower, 4)} steps on average, at best"
    )
    if horizon is not None and far.lower > horizon:
        text += f"; an episode has only {horizon}, not enough to see everything"
        return Finding("diameter", "longer-than-episode", "warning", text, far.lower)
    return Finding("diameter", "measured", "ok", text, far.lower)


def _not_measured(models: WeightedModels, least: float) -> Theory:
    every = models.simulators
    trip = (
        f"not measured: {every.n_states} states in {len(every)} models take too "
        f"long (--thorough does it). It is finite, and at least {number(least, 3)} "
        "steps"
    )
    text = "no bound: theorems need the diameter, which was not measured (--thorough)"
    return Theory(
        Certified(least, inf),
        Finding("diameter", "not-measured", "info", trip, least),
        Finding("theory", "not-measured", "info", text),
    )


def _not_solved(error: NotSolved) -> Theory:
    """Return what is left where floats do not carry the diameter."""
    assert isinstance(error.result, tuple)
    least = float(error.result[0])
    text = f"not measured: {error.problem}"
    return Theory(
        Certified(least, inf),
        Finding("diameter", "not-solved", "warning", text, least),
        Finding("theory", "not-solved", "warning", "no bound: theorems need it"),
    )


def _no_diameter(back: WaysBack) -> str:
    if back.only_missed:
        return "no theorem applies until states that are never reached are left out"
    return (
        "no theorem applies: all of them ask that every mistake can be undone; "
        "without that the loss can grow with the horizon (Proposition 1)"
    )


def _upper(bounds: tuple[Bound, ...], *of: Quantity) -> list[Bound]:
    """Return the upper bounds of some quantities whose conditions hold."""
    return [
        bound
        for bound in bounds
        if bound.holds and bound.kind is Kind.UPPER and bound.quantity in of
    ]


def _from(bound: Bound) -> float:
    return inf if bound.non_vacuous_from is None else bound.non_vacuous_from


def _in_words(
    best: Bound | None, bounds: tuple[Bound, ...], horizon: int | None
) -> Finding:
    if best is None:
        wanted = dict.fromkeys(
            words
            for bound in bounds
            if bound.quantity is Quantity.ORACLE_GAP
            for words in bound.unmet
        )
        text = f"no theorem applies; they ask for {'; '.join(wanted)}"
        return Finding("theory", "none-applies", "warning", text)
    first = _from(best)
    begins = (
        "its bound says nothing at any horizon up to 1e15"
        if isinf(first)
        else f"its bound says something from H = {number(first, 4)} on"
    )
    if horizon is None:
        text = f"{best.claim} applies: the loss per step goes to 0; {begins}"
        return Finding("theory", "applies", "ok", text, first)
    most, value = horizon * best.unit, best.value
    if not best.vacuous:
        text = (
            f"{best.claim}: the best policy loses at most {at_most(value, 3)} of "
            f"{number(most, 3)} in any model"
        )
        return Finding("theory", "bounded", "ok", text, value)
    text = (
        f"{best.claim} applies, but its bound holds for every class of this size: in "
        f"{horizon} steps it allows more than can be lost at all; {begins}. That is "
        "common: read the certified losses instead"
    )
    return Finding("theory", "vacuous", "info", text, value)


def audit_facts(
    latent: LatentMDP,
    models: WeightedModels,
    far: Diameter,
    apart: Apart,
    *,
    horizon: int,
    thorough: bool,
) -> tuple[ClassFacts, tuple[Note, ...]]:
    """Return the facts of a communicating class, all if that is quick, and notes."""
    every = models.simulators
    if thorough or not many_functions(every):
        measured = measured_class(latent, horizon, thorough=thorough)
        return measured.facts, measured.notes
    return _in_part(models, far, apart), (BY_COUNTING,)


def _in_part(models: WeightedModels, far: Diameter, apart: Apart) -> ClassFacts:
    every, rewards = models.simulators, models.simulators.rewards
    low, width = float(rewards.min()), float(rewards.max() - rewards.min())
    plan = solve_average_reward(every)
    # what a step of the equations may be off, as in `class_facts`
    wide = float((plan.gain_upper - plan.gain_lower).max()) + 0.1 * plan.tolerance
    unit = width or 1.0  # equal rewards have no spans to divide
    return ClassFacts(
        prior=models.prior,
        states=every.n_states,
        actions=every.n_actions,
        diameter=float(far.upper),
        diameter_lower=float(far.lower),
        spans=np.maximum(plan.bias_span / unit, 0.0),
        gains=np.maximum((plan.gain_lower - low) / unit, 0.0),
        residual=(float(plan.residual.max()) + wide) / unit,
        separation=None
        if apart.nearest is None
        else apart.nearest.value * (1.0 - ROUNDING),
        shared_rewards=bool((rewards == rewards[:1]).all()),
        reward_width=width,
    )
