"""`simgap width SIMULATOR --randomize SPEC`: options, and the answer for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import real, whole
from simgap.cli.app.output import print_line, print_notes, print_table
from simgap.text import counted, number, shown

if TYPE_CHECKING:
    from simgap.intervals import Estimate
    from simgap.records.width_run import WidthRun

OF_A_SIMULATOR = "it is for a simulator: --randomize 'mass=0.5..2'"
NOT_OF_A_SIMULATOR = "leave it out: with --randomize policies are trained"

TrainMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="KIND",
        help="Of a simulator: policies with gru, lstm, none, or window:K; gru.",
    ),
]
TrainSeeds = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        metavar="K",
        help="Of a simulator: trainings of each width; 3, 5 for a claim.",
        parser=whole("--seeds", 1, 1000, "a number"),
    ),
]
TrainSteps = Annotated[
    int | None,
    typer.Option(
        "--steps",
        metavar="N",
        help="Of a simulator: behind each policy; 2e6.",
        parser=whole("--steps", 1, 10**12, "a number of steps"),
    ),
]
WidthDesign = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="D",
        help="Of a simulator: sobol:128, random:200, grid:5x5.",
    ),
]
WidthEpisodes = Annotated[
    int | None,
    typer.Option(
        "--episodes",
        metavar="K",
        help="Of a simulator: of each policy at each point; 8.",
        parser=whole("--episodes", 2, 10**6, "a number"),
    ),
]
WidthBeyond = Annotated[
    float | None,
    typer.Option(
        "--beyond",
        metavar="F",
        help="Of a simulator: also at points of F times the ranges; 1.5.",
        parser=real("--beyond", above=0.999999, below=100.0, hint="it is 1 to 100"),
    ),
]


def print_widths(answer: WidthRun) -> None:
    """Print what every width gets, the recommended one marked, and why."""
    print_table(
        f"trained on a part of {shown(answer.randomize, 60)}, "
        f"{answer.memory} in {shown(answer.simulator)}",
        (
            "  width",
            "mean over all ranges",
            "worst point",
            "in its own range",
            "beyond",
            "behind the best",
            "",
        ),
        [
            (
                ("> " if each.width == answer.recommended else "  ")
                + number(each.width, 3),
                _interval(each.mean),
                f"{number(each.worst.estimate, 4)} [{number(each.worst.lower, 4)}, "
                f"{number(each.worst.upper, 4)}]",
                _interval(each.inside),
                _interval(each.beyond),
                _interval(each.behind),
                each.verdict,
            )
            for each in answer.widths
        ],
        f"return, {counted(answer.episodes, 'episode')}, "
        f"{counted(answer.trainings, 'training')} of each width; estimated, "
        f"{number(100.0 * answer.confidence)} % intervals, which allow for other "
        f"training seeds; random actions get {_interval(answer.random)}",
    )
    undecided = "Undecided. " if answer.recommended is None else ""
    print_line(f"{undecided}{answer.reason}")
    print_notes(answer.notes)


def _interval(found: Estimate | None) -> str:
    if found is None:
        return "-"
    low, high = number(found.lower, 4), number(found.upper, 4)
    return f"{number(found.estimate, 4)} [{low}, {high}]"
