"""What the paper's theorems promise for a class at a horizon.

Every bound holds for the class as it is, unless `unmet` says what it lacks. Values are
in the units of the rewards. The diameter enters with its certified upper end,
separation with its lower one, the eluder dimension and the covering number with their
upper ones, and what the optimality equations of gain and bias may be off is added.
"""

from __future__ import annotations

from simgap.answers.class_facts import MeasuredClass, measured_class
from simgap.answers.model import Model, named_model
from simgap.bounds import (
    Bhattacharyya,
    Bound,
    Chernoff,
    ComparisonRule,
    PaperSamples,
    ProvedThreshold,
    applicable,
    fits_from,
    vacuity_horizon,
)
from simgap.planning import checked_horizon
from simgap.records.bounds import Bounds, ClassNumbers, OneBound, Vacuity
from simgap.records.provenance import Certainty, provenance

CERTAINTY: dict[str, Certainty] = {
    "bounds": "certified",
    "diameter": "certified",
    "separation": "certified",  # to 1e-11 of its value
    "eluder": "certified",
    "covering": "certified",
    "non_vacuous_from": "exact",  # of the formula
    "vacuity": "exact",
}


def bounds(model: Model, horizon: int) -> Bounds:
    """Return every theorem of the paper with the numbers of a class in H steps.

    >>> from simgap import bounds
    >>> found = bounds("riverswim?states=3&success=0.3,0.8", 10**6)
    >>> min(each.value for each in found.bounds if not each.unmet) < found.most_lost
    True
    """
    given, steps = named_model(model), checked_horizon(horizon)
    measured = measured_class(given.latent, steps)
    return Bounds(
        horizon=steps,
        most_lost=steps * measured.facts.reward_width,
        bounds=tuple(_one(bound) for bound in applicable(measured.facts, steps)),
        vacuity=_vacuity(measured),
        numbers=_numbers(measured),
        notes=measured.notes,
        certainty=dict(CERTAINTY),
        provenance=provenance(command="", model=given.name, latent=given.latent),
    )


def _one(bound: Bound) -> OneBound:
    return OneBound(
        name=bound.claim,
        value=bound.value,
        unmet=bound.unmet,
        non_vacuous_from=bound.non_vacuous_from,
        kind=bound.kind.value,
        quantity=bound.quantity.value,
        vacuous=bound.vacuous or not bound.holds,
        constants=bound.constants,
    )


def _numbers(measured: MeasuredClass) -> ClassNumbers:
    facts = measured.facts
    spans = facts.spans
    return ClassNumbers(
        members=facts.members,
        states=facts.states,
        actions=facts.actions,
        least_weight=facts.least_weight,
        diameter=measured.diameter,
        separation=facts.separation,
        greatest_span=None
        if spans is None
        else float(spans.max()) * facts.reward_width,
        eluder=measured.eluder,
        covering=measured.covering,
    )


def _vacuity(measured: MeasuredClass) -> tuple[Vacuity, ...]:
    """Return from which horizons on Algorithms 1 and 3 can find out anything."""
    facts, found = measured.facts, []
    if facts.members == 1:
        return ()
    if facts.separation:
        delta, M = facts.separation, facts.members
        rules: dict[str, ComparisonRule] = {
            "Chernoff": Chernoff(delta),
            "Bhattacharyya": Bhattacharyya(facts.exponent or 0.0),
            "paper's n0": PaperSamples(delta, facts.states),
        }
        for rule, samples in rules.items():
            for event, rounds in (("a comparison", 1), ("all comparisons", M - 1)):
                first = fits_from(samples, members=M, comparisons=rounds)
                found.append(Vacuity("Algorithm 1", rule, event, first))
    if facts.spans is not None and facts.gains is not None:
        drifts = [max(gain, 1.0 - gain) for gain in map(float, facts.gains)]
        for name, threshold in (
            ("sharp threshold", ProvedThreshold.SHARP),
            ("paper's threshold", ProvedThreshold.PAPER),
        ):
            first = vacuity_horizon(
                spans=facts.spans,
                drifts=drifts,
                steps=facts.steps,
                threshold=threshold,
                diameter=facts.diameter,
            )
            found.append(Vacuity("Algorithm 3", name, "an elimination", first))
    return tuple(found)
