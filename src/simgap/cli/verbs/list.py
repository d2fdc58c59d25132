"""The instances, files and simulators that there are; a simulator's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from simgap.records.info import List, Listed


def run(
    simulator: Annotated[
        str | None,
        typer.Argument(metavar="SIMULATOR", help="List its parameters instead."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what MODEL and SIMULATOR may name, or the parameters of a simulator.

    Example: simgap list gym:CartPole-v1
    """
    from simgap.answers.info import list_models, list_parameters

    answer = list_models() if simulator is None else list_parameters(simulator)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def print_answer(answer: List) -> None:
    """Print a row for each instance and simulator, or the parameters of one."""
    if not answer.instances:
        _print_parameters(answer.simulators[0])
        return
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
    print_table(
        "simulators, for transfer, check and adapt",
        ("name", "what it is"),
        [(each.name, each.description) for each in answer.simulators],
        "also gym:ENV_ID, mujoco:FILE.xml, model:INSTANCE and file.py:make; "
        "simgap list NAME shows the parameters",
        texts=2,
    )


def _print_parameters(simulator: Listed) -> None:
    print_table(
        f"parameters of {simulator.name}",
        ("parameter", "what it is"),
        list(simulator.parameters.items()),
        "for --randomize: name=low..high, name*=low..high for factors of the nominal "
        "value, * in a name for all that match",
        texts=2,
    )
