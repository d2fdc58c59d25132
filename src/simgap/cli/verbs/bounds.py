"""What the paper's theorems promise for this class at a horizon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from simgap.cli.app.arguments import (
    AsJson,
    Horizon,
    Model,
    needed_horizon,
)
from simgap.cli.app.output import finish, print_line, print_notes, print_table, working
from simgap.text import at_least, at_most, number, shown

if TYPE_CHECKING:
    from simgap.records.bounds import Bounds


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    as_json: AsJson = False,
) -> None:
    """Say what the paper's theorems promise for this class in H steps.

    Example: simgap bounds 'riverswim?states=6&success=0.2:0.5:4' -H 1e6
    """
    from simgap.answers.bounds import bounds
    from simgap.cli.app.models import read_model

    steps = needed_horizon(horizon)
    given = read_model(model)
    with working("measuring the class"):
        answer = bounds(given, steps)
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Bounds) -> None:
    """Print the theorems by what they bound, then from which horizons they say much."""
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
            "travel not counted, chance as favourable as it can be",
            texts=3,
        )
    for lacking in dict.fromkeys(each.unmet for each in answer.bounds if each.unmet):
        names = ", ".join(each.name for each in answer.bounds if each.unmet == lacking)
        print_line(f"does not apply, asks for {'; '.join(lacking)}: {names}")
    print_notes(answer.notes)


def _class_line(answer: Bounds) -> str:
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
