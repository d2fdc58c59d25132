"""The slowest trip between two states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from simgap.cli.app.arguments import AsJson, Model
from simgap.cli.app.output import finish, print_line, print_table, working
from simgap.intervals import Certified
from simgap.text import bracket, shown

if TYPE_CHECKING:
    from simgap.records.solve import Diameter


def run(
    context: typer.Context,
    model: Model,
    as_json: AsJson = False,
) -> None:
    """Bound the diameter of every model; infinite if some state cannot be reached.

    Example: simgap diameter 'riverswim?states=6&success=0.2:0.5:4'
    """
    from simgap.answers.solve import diameter
    from simgap.cli.app.models import read_model

    given = read_model(model)
    with working("computing travel times"):
        answer = diameter(given)
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Diameter) -> None:
    """Print the diameter of each model, and that of the class."""
    rows = [
        (
            shown(each.name),
            bracket(Certified(each.lower, each.upper)),
            shown(each.source_name, 30),
            shown(each.target_name, 30),
        )
        for each in answer.models
    ]
    print_table(
        f"diameter of {shown(answer.provenance.model)}",
        ("model", "diameter", "from state", "to state"),
        rows,
        "expected steps of the slowest pair of states; certified bounds",
    )
    print_line(f"class: {bracket(answer.diameter)} steps (certified)")
