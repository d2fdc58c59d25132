"""Gain, bias and optimal values of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import SECONDS, AsJson, Horizon, Model, real
from simgap.cli.app.output import finish, print_line, print_table, working
from simgap.intervals import Certified
from simgap.text import bracket, number, shown

if TYPE_CHECKING:
    from simgap.records.solve import Gain, Solve


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds; default none. Values not found by then are left out.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve every model: gain and bias, and with -H the optimal value at the start.

    Example: simgap solve 'riverswim?states=6&success=0.2:0.5:4' -H 200
    """
    from simgap.answers.solve import solve
    from simgap.cli.app.models import read_model

    given = read_model(model)
    with working("solving"):
        answer = solve(given, horizon, time_limit=time_limit)
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Solve) -> None:
    """Print a row for each model, and what a reader should know of it."""
    columns = ["model", "gain per step", "bias span", "residual"]
    if answer.horizon is not None:
        columns.append(f"V* in {answer.horizon} steps")
    rows = []
    for each in answer.models:
        row = [
            shown(each.name),
            _gain(each.gain),
            number(each.bias_span),
            number(each.residual, 2),
        ]
        if answer.horizon is not None:
            bounds = each.value_bounds
            row.append("-" if bounds is None else bracket(bounds))
        rows.append(row)
    print_table(
        f"optimal behaviour in {shown(answer.provenance.model)}",
        columns,
        rows,
        "certified: bounds of gain and V*; the bias span is exact for rewards moved by "
        "at most the residual",
    )
    for each in answer.models:
        if each.note:
            print_line(f"note: {shown(each.name)}: {each.note}")


def _gain(found: Gain) -> str:
    if found.lower is None or found.upper is None:
        return "-"
    return bracket(Certified(found.lower, found.upper))
