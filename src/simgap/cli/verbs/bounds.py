"""`simgap bounds`: what the paper's theorems promise for a class at a horizon.

Every bound holds for the class as it is, unless `unmet` says what it lacks. Values are
in the units of the rewards. The diameter enters with its certified upper end,
separation with its lower one, the eluder dimension and the covering number with their
upper ones, and what the optimality equations of gain and bias may be off is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.answers import MeasuredClass
    from simgap.bounds import Bound, ComparisonRule, Constant
    from simgap.intervals import Certified
    from simgap.records import Provenance


@final
@dataclass(frozen=True, slots=True)
class OneBound:
    """A theorem with the numbers of this class."""

    name: str
    value: float  # in the units of the rewards
    unmet: tuple[str, ...]  # what the theorem asks for and the class lacks
    non_vacuous_from: float | None  # the least H at which it says anything
    kind: str  # "upper" or "lower"
    quantity: str  # what is bounded
    vacuous: bool  # at this horizon
    constants: tuple[Constant, ...]  # for rewards in [0, 1]


@final
@dataclass(frozen=True, slots=True)
class Vacuity:
    """From which horizon on an algorithm can find out anything."""

    algorithm: str
    rule: str
    event: str
    horizon: float


@final
@dataclass(frozen=True, slots=True)
class ClassNumbers:
    """What went in."""

    members: int
    states: int
    actions: int
    least_weight: float  # of the prior
    diameter: Certified
    separation: float | None  # a lower bound
    greatest_span: float | None  # of a bias, in the units of the rewards
    eluder: Certified | None
    covering: Certified | None


@final
@dataclass(frozen=True, slots=True)
class BoundsAnswer:
    """The record of `simgap bounds`."""

    schema: int
    horizon: int
    most_lost: float  # H times the range of the rewards: no gap is larger
    bounds: tuple[OneBound, ...]
    vacuity: tuple[Vacuity, ...]
    numbers: ClassNumbers
    notes: tuple[str, ...]
    certainty: dict[str, str]
    provenance: Provenance


CERTAINTY = {
    "bounds": "certified",
    "diameter": "certified",
    "separation": "certified",  # to 1e-11 of its value
    "eluder": "certified",
    "covering": "certified",
    "non_vacuous_from": "exact",  # of the formula
    "vacuity": "exact",
}


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Say what the paper's theorems promise for this class in H steps.

    Example: simgap bounds 'riverswim?states=6&success=0.2:0.5:4' -H 1e6
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of, needed_horizon
    from simgap.cli.app.output import print_json, working
    from simgap.records import SCHEMA, provenance

    steps = needed_horizon(horizon)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    with working("measuring the class"):
        from simgap.answers import measured_class
        from simgap.bounds import applicable

        measured = measured_class(latent, steps)
        found = applicable(measured.facts, steps)
    answer = BoundsAnswer(
        schema=SCHEMA,
        horizon=steps,
        most_lost=steps * measured.facts.reward_width,
        bounds=tuple(_one(bound) for bound in found),
        vacuity=_vacuity(measured),
        numbers=_numbers(measured),
        notes=measured.notes,
        certainty=CERTAINTY,
        provenance=provenance(command=str(context.obj), model=model, latent=latent),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)


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
    from simgap.bounds import (
        Bhattacharyya,
        Chernoff,
        PaperSamples,
        Threshold,
        fits_from,
        vacuity_horizon,
    )

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
            ("sharp threshold", Threshold.SHARP),
            ("paper's threshold", Threshold.PAPER),
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


def _print(answer: BoundsAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import number, shown

    print_line(f"{shown(answer.provenance.model)}: {_class_line(answer)}")
    print_line(
        f"in {answer.horizon} steps {number(answer.most_lost)} can be lost at most"
    )
    groups = dict.fromkeys(each.quantity for each in answer.bounds if not each.unmet)
    for quantity in groups:
        inside = [e for e in answer.bounds if e.quantity == quantity and not e.unmet]
        side = "at least" if inside[0].kind == "lower" else "at most"
        print_table(
            quantity,
            ("theorem", side, "says something from H"),
            [
                (each.name, number(each.value, 5), number(each.non_vacuous_from, 10))
                for each in inside
            ],
            "certified: every number is at its safe end",
        )
    if answer.vacuity:
        print_table(
            "before which horizon nothing can be found out",
            ("algorithm", "rule", "event", "takes H of at least"),
            [
                (first.algorithm, first.rule, first.event, number(first.horizon, 10))
                for first in answer.vacuity
            ],
            "travel not counted, luck as good as it can be",
            texts=3,
        )
    for lacking in dict.fromkeys(each.unmet for each in answer.bounds if each.unmet):
        names = ", ".join(each.name for each in answer.bounds if each.unmet == lacking)
        print_line(f"does not apply, asks for {'; '.join(lacking)}: {names}")
    for note in answer.notes:
        print_line(f"note: {note}")


def _class_line(answer: BoundsAnswer) -> str:
    from simgap.text import at_least, at_most, number

    facts = answer.numbers
    parts = [
        f"{facts.members} models, {facts.states} states, {facts.actions} actions",
        f"diameter at most {at_most(facts.diameter.upper, 7)}",
    ]
    if facts.separation is not None:
        parts.append(f"separation at least {at_least(facts.separation, 7)}")
    if facts.greatest_span is not None:
        parts.append(f"bias spans up to {number(facts.greatest_span)}")
    return "; ".join(parts)
