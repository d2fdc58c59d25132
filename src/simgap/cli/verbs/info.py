"""Sizes, parameters, choices made and hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from simgap.cli.app.arguments import AsJson, Model
from simgap.cli.app.output import finish, print_notes, print_table
from simgap.text import number, shown

if TYPE_CHECKING:
    from simgap.records.info import Info

AS_GIVEN = "counts are exact; other numbers are the model's own, to 7 digits"


def run(
    context: typer.Context,
    model: Model,
    as_json: AsJson = False,
) -> None:
    """Describe a model: sizes, start, parameters, choices made, hash.

    Example: simgap info 'gym:FrozenLake-v1?success_rate=0.3:0.9:7&terminal=restart'
    """
    from simgap.answers.info import info
    from simgap.cli.app.models import read_model

    answer = info(read_model(model))
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(info: Info) -> None:
    """Print sizes, then each model with its prior and parameters."""
    share = info.nonzeros / (info.states * info.actions * info.states)
    low, high = float(info.rewards["lowest"]), float(info.rewards["highest"])
    shared = "shared" if info.rewards["shared"] else "one table per model"
    rows = [
        ("models", f"{info.models}"),
        ("states", f"{info.states}"),
        ("actions", f"{info.actions}"),
        ("nonzeros", f"{info.nonzeros} ({100 * share:.3g} % of all)"),
        ("memory", f"{info.bytes} bytes"),
        ("rewards", f"{number(low)} to {number(high)}, {shared}"),
        ("start", _start_words(info)),
        ("hash", info.hash),
    ]
    title = shown(info.provenance.model)
    print_table(
        title,
        ("what", "value"),
        rows,
        AS_GIVEN,
        texts=2,
    )
    columns = ("model", "prior", *(shown(name, 30) for name in info.parameters))
    theta = tuple(info.parameters.values())
    members = [
        (shown(name), number(weight), *(number(values[at]) for values in theta))
        for at, (name, weight) in enumerate(zip(info.names, info.prior, strict=True))
    ]
    print_table(
        "models",
        columns,
        members,
        AS_GIVEN,
    )
    print_notes(info.notes)


def _start_words(info: Info) -> str:
    """Return in words where episodes begin."""
    first = info.start[0]
    if len(info.start) > 1:
        count = len({state for law in info.start for state in law.states})
        return f"depends on the model, {count} states in all; --json has the laws"
    if len(first.states) == 1:
        return f"state {_state(info, first.states[0])}"
    top = max(first.probabilities)
    if min(first.probabilities) == top:
        law = f"each {number(top, 4)}"
    else:
        likeliest = first.states[first.probabilities.index(top)]
        law = f"likeliest {_state(info, likeliest)} ({number(top, 4)})"
    return f"one of {len(first.states)} states, {law}"


def _state(info: Info, state: int) -> str:
    return shown(info.state_names[state], 30) if info.state_names else f"{state}"
