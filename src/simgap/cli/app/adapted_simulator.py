"""`simgap adapt SIMULATOR --randomize SPEC`: what a real log says about a simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import real, whole
from simgap.cli.app.output import print_line, print_notes, print_table
from simgap.errors import InvalidArgument
from simgap.text import counted, number, percent, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simgap.records.adapt_simulator import AdaptedSimulator

Randomize = Annotated[
    str | None,
    typer.Option(
        "--randomize",
        metavar="SPEC",
        help="For a simulator: what it is not sure of, 'mass=0.5..2 length=0.5..1.5', "
        "or a file. The log then has columns obs_0..., act_0..., episode.",
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--rate",
        metavar="HZ",
        help="Steps per second of a simulator's log.",
        parser=real("--rate", hint="steps per second, such as 50"),
    ),
]
Delay = Annotated[
    int | None,
    typer.Option(
        "--delay",
        metavar="N",
        help="Steps that actions are known to arrive late; it is checked. 0 to 3 are "
        "always looked at.",
        parser=whole("--delay", 0, 20, "a number of steps"),
    ),
]
TransferRun = Annotated[
    str | None,
    typer.Option(
        "--transfer",
        metavar="RUN",
        help="A folder of simgap transfer: what to measure next then depends on what "
        "each parameter costs.",
    ),
]


def refuse(given: Mapping[str, object], way_out: str, verb: str = "adapt") -> None:
    """Raise if an option is given that belongs to the other kind of a question."""
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise InvalidArgument(
            f"{wrong[0]} does not go with this kind of {verb}", hint=way_out
        )


def print_simulator(answer: AdaptedSimulator) -> None:
    """Print what a log says about a simulator, warnings first."""
    for each in answer.findings:
        if each.status in ("fail", "warning"):
            print_line(f"WARNING: {each.text}")
    print_table(
        f"{counted(answer.transitions, 'step')} of "
        f"{counted(answer.episodes, 'episode')} in {shown(answer.simulator)}",
        ("parameter", "mean", "from", "to", "randomized", "left"),
        [
            (
                shown(each.name, 40),
                number(each.mean, 4),
                number(each.lower, 4),
                number(each.upper, 4),
                " to ".join(number(end, 4) for end in each.before),
                percent(each.remaining),
            )
            for each in answer.posterior
        ],
        f"estimated; it lies between the two ends with probability "
        f"{percent(answer.credibility)}; left: deviation after the log over that "
        "before",
    )
    for each in answer.findings:
        if each.status not in ("fail", "warning"):
            print_line(each.text)
    if answer.measure_next is not None:
        print_line(f"measure next: {shown(answer.measure_next)}")
    print_notes(answer.notes)
    if answer.path is not None:
        print_line(f"posterior  {answer.path}  (--randomize takes it)")
