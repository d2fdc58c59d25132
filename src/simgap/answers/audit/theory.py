"""What the paper's theorems say about a class, and the diameter they need.

Diameter, eluder dimension and covering number take long in large classes. There the
diameter is only bounded from below, by counting moves, and theorems that need it are
left out; `thorough` measures everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import final

from simgap.answers.audit.facts import AuditFacts, audit_facts
from simgap.answers.audit.finding import Finding, Status, model_named, short, told
from simgap.answers.audit.separation import Apart
from simgap.answers.audit.ways_back import WaysBack, farthest_hops
from simgap.answers.weighted_models import WeightedModels
from simgap.bounds import Bound, Kind, Quantity, applicable
from simgap.errors import NotSolved
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.planning import Diameter, diameter
from simgap.text import at_most

MOST_TRIPS = 5e6  # models x states x entries of a kernel: some seconds
WITHOUT_HORIZON = 1000  # any will do: from which H on a bound says something is asked


@final
@dataclass(frozen=True, slots=True)
class Theorem:
    """The tightest bound of the paper on the oracle's gap in any model."""

    name: str
    bound: float  # in the class's own units of reward
    vacuous: bool  # it says no more than that at most H times the range is lost
    non_vacuous_from: float | None  # the least H at which it says something


@final
@dataclass(frozen=True, slots=True, eq=False)
class Theory:
    """What is known of a class from the theory alone."""

    diameter: Certified
    trips: Diameter | None  # None: not measured
    measured: AuditFacts | None  # None: the diameter is infinite or not measured
    theorem: Theorem | None  # at the horizon; None without one
    promised: float | None  # least bound on the average gap, own units
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


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
        trips = Certified(inf, inf)
        found = (
            Finding("diameter", Status.INFO, "infinite: see communicating", inf),
            Finding("theory", Status.INFO, _no_diameter(back)),
        )
        return Theory(trips, None, None, None, None, found, ())
    if work > MOST_TRIPS and not thorough:
        least = Certified(float(farthest_hops(every)), inf)
        found = _not_measured(models, least)
        return Theory(least, None, None, None, None, found, ())
    far = diameter(every)
    bracket = Certified(float(far.lower), float(far.upper))
    trip = _diameter(models, far, horizon)
    steps = horizon or WITHOUT_HORIZON
    try:
        measured = audit_facts(
            latent, models, far, apart, horizon=steps, thorough=thorough
        )
        bounds = applicable(measured.facts, steps)
    except NotSolved as error:
        text = f"not measured: {error.problem}"
        found = (trip, Finding("theory", Status.WARNING, text))
        return Theory(bracket, far, None, None, None, found, ())
    return Theory(
        diameter=bracket,
        trips=far,
        measured=measured,
        theorem=None if horizon is None else _theorem(bounds),
        promised=_promised(bounds, horizon),
        findings=(trip, _in_words(bounds, horizon)),
        notes=measured.notes,
    )


def _diameter(models: WeightedModels, far: Diameter, horizon: int | None) -> Finding:
    at = far.model
    if far.upper == 0.0:
        return Finding("diameter", Status.OK, "one state: no trips at all", 0.0)
    state = models.simulators.labels.state
    here, there = short(state(int(far.source[at]))), short(state(int(far.target[at])))
    text = (
        f"the slowest trip, from {here} to {there} in {model_named(models.names[at])}, "
        f"takes {told(far.lower, 4)} steps at best, on average"
    )
    if horizon is not None and far.lower > horizon:
        text += f"; an episode has only {horizon}, not enough to see everything"
        return Finding("diameter", Status.WARNING, text, far.lower)
    return Finding("diameter", Status.OK, text, far.lower)


def _not_measured(models: WeightedModels, least: Certified) -> tuple[Finding, Finding]:
    every = models.simulators
    text = (
        f"not measured: {every.n_states} states in {len(every)} models would take "
        "long (--thorough does it). It is finite, and at least "
        f"{told(least.lower)} steps"
    )
    return (
        Finding("diameter", Status.INFO, text, least.lower),
        Finding(
            "theory",
            Status.INFO,
            "no bound: theorems need the diameter, which was not measured (--thorough)",
        ),
    )


def _no_diameter(back: WaysBack) -> str:
    if back.only_missed:
        return "no theorem applies until states that are never reached are left out"
    return (
        "no theorem applies: all of them ask that every mistake can be undone; "
        "without that the loss can grow with the horizon (Proposition 1)"
    )


def _theorem(bounds: tuple[Bound, ...]) -> Theorem | None:
    best = _best(bounds, by_horizon=True)
    if best is None:
        return None
    return Theorem(
        name=best.claim,
        bound=best.value,
        vacuous=best.vacuous,
        non_vacuous_from=best.non_vacuous_from,
    )


def _promised(bounds: tuple[Bound, ...], horizon: int | None) -> float | None:
    known = [
        bound.value
        for bound in bounds
        if bound.holds
        and bound.kind is Kind.UPPER
        and bound.quantity in (Quantity.ORACLE_GAP, Quantity.MEAN_ORACLE_GAP)
    ]
    return None if horizon is None else min(known, default=None)


def _best(bounds: tuple[Bound, ...], *, by_horizon: bool) -> Bound | None:
    """Return the tightest bound of the oracle's gap, or the first to say something."""
    known = [
        bound
        for bound in bounds
        if bound.holds
        and bound.kind is Kind.UPPER
        and bound.quantity is Quantity.ORACLE_GAP
    ]
    if by_horizon:
        return min(known, key=lambda bound: bound.value, default=None)
    return min(known, key=_from, default=None)


def _from(bound: Bound) -> float:
    return inf if bound.non_vacuous_from is None else bound.non_vacuous_from


def _in_words(bounds: tuple[Bound, ...], horizon: int | None) -> Finding:
    best = _best(bounds, by_horizon=horizon is not None)
    if best is None:
        wanted = dict.fromkeys(
            words
            for bound in bounds
            if bound.quantity is Quantity.ORACLE_GAP
            for words in bound.unmet
        )
        text = f"no theorem applies; they ask for {'; '.join(wanted)}"
        return Finding("theory", Status.WARNING, text)
    first = _from(best)
    begins = (
        "its bound says nothing at any horizon up to 1e15"
        if isinf(first)
        else f"its bound says something from H = {told(first, 4)} on"
    )
    if horizon is None:
        text = f"{best.claim} applies: the loss per step goes to 0; {begins}"
        return Finding("theory", Status.OK, text, first)
    most, value = horizon * best.unit, best.value
    if not best.vacuous:
        text = (
            f"{best.claim}: the best policy loses at most {at_most(value, 3)} of "
            f"{told(most)} in any model"
        )
        return Finding("theory", Status.OK, text, value)
    text = (
        f"{best.claim} applies but its constants serve every class of this size, and "
        f"in {horizon} steps they allow more than can be lost at all; {begins}. That "
        "is common: read the certified losses instead"
    )
    return Finding("theory", Status.INFO, text, value)
