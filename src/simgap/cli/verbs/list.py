"""The instances and file formats MODEL may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from simgap.records import List


def run(as_json: AsJson = False) -> None:
    """List the instances and the file formats that MODEL may name.

    Example: simgap list
    """
    from simgap.answers import list_models

    answer = list_models()
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def print_answer(answer: List) -> None:
    """Print a row for each instance, then the endings of files."""
    rows = [
        (each.name, each.description, ", ".join(each.parameters))
        for each in answer.instances
    ]
    print_table(
        "instances: NAME?key=value&key=value",
        ("name", "what it is", "parameters"),
        rows,
        "a value is a number, a range a:b:n or a list a,b,c; for run general also an "
        "interval a..b; --json says more",
        texts=3,
    )
    print_line(f"files read: {' '.join(answer.readable)}")
    print_line(f"files written: {' '.join(answer.writable)}")
