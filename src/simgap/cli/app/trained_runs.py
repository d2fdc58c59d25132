"""`simgap blame RUN` and `simgap identify RUN`: options, and answers for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import whole
from simgap.cli.app.output import print_line, print_notes, print_table
from simgap.text import counted, number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simgap.intervals import Estimate
    from simgap.records.blame_run import BlamedRun
    from simgap.records.identify_run import IdentifiedRun

OF_A_RUN = "it is for a folder that simgap train wrote"
NOT_OF_A_RUN = "leave it out: nothing is planned for a folder of trainings"
MOST_SETS = 16
COLUMNS = 6  # steps that a terminal shows

ModelOrRun = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file, an instance string, or a folder of simgap train.",
    ),
]
TrainingName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Of a folder of trainings: which one; default: the first that fits.",
    ),
]
ReferenceName = Annotated[
    str | None,
    typer.Option(
        "--reference",
        metavar="NAME",
        help="Of a folder of trainings: one that is told the parameters.",
    ),
]
RunDesign = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="D",
        help="Of a folder of trainings: sobol:64, random:200, grid:5x5, corners.",
    ),
]
RunEpisodes = Annotated[
    int | None,
    typer.Option(
        "--episodes",
        metavar="K",
        help="Of a folder of trainings: with each set told, at a point; 16.",
        parser=whole("--episodes", 1, 10**6, "a number"),
    ),
]
RunWorlds = Annotated[
    int | None,
    typer.Option(
        "--worlds",
        metavar="N",
        help="Of a folder of trainings: draws of the parameters, an episode each; 512.",
        parser=whole("--worlds", 80, 10**6, "a number"),
    ),
]


def print_blamed(answer: BlamedRun) -> None:
    """Print what knowing each parameter is worth."""
    print_table(
        f"what knowing is worth to {shown(answer.policy)} in {shown(answer.simulator)}",
        ("parameter", "share", "of all", "told first", "told last"),
        [
            (
                shown(each.name, 30),
                _interval(each.share),
                "-" if each.part is None else _percent(each.part),
                _interval(each.first),
                _interval(each.last),
            )
            for each in answer.parameters
        ],
        f"return, {counted(answer.episodes, 'episode')}, "
        f"{counted(answer.trainings, 'training')}; estimated, 95 % intervals, which "
        "allow for other training seeds",
    )
    print_line(
        f"shares sum to {_interval(answer.total)}, what all are worth; of these very "
        f"policies {_interval(answer.evaluation)}"
    )
    for each in answer.sets[:MOST_SETS]:
        told = ", ".join(each.told) or "nothing"
        print_line(f"told {shown(told, 80)}: {_interval(each.returned)}")
    if len(answer.sets) > MOST_SETS:
        print_line(f"{len(answer.sets) - MOST_SETS} more sets; --json has them all")
    for check in answer.checks:
        print_line(
            f"told {check.told}, against {shown(check.against)}, which was trained for "
            f"that alone: {_interval(check.difference)}"
        )
    print_line(answer.headline)
    print_notes(answer.notes)


def print_identified(answer: IdentifiedRun) -> None:
    """Print what is lost over time, and what the memory holds."""
    if answer.losses:
        some = [answer.losses[step - 1] for step in answer.probed]
        print_table(
            f"what {shown(answer.policy)} loses against {shown(str(answer.reference))}",
            ("step", "lost at this step", "these policies alone"),
            [
                (str(each.step), _interval(each.loss), _interval(each.evaluation))
                for each in some
            ],
            f"mean reward, {counted(answer.worlds, 'world')}; estimated, a 95 % band "
            "for all steps at once; --json has every step",
        )
    if answer.total is not None:
        print_line(f"lost in an episode: {_interval(answer.total)}")
    if answer.parameters:
        places = some_of(len(answer.probed), COLUMNS)
        print_table(
            "how much of its variance can be read from the memory (R^2)",
            ("parameter", *(f"step {answer.probed[at]}" for at in places), "blame"),
            [
                row
                for each in answer.parameters
                for row in (
                    (
                        shown(each.name, 30),
                        *(_r_squared(each.explained[at]) for at in places),
                        "-" if each.blame is None else number(each.blame.estimate, 3),
                    ),
                    (
                        "  (wrong order)",
                        *(_r_squared(each.shuffled[at]) for at in places),
                        "",
                    ),
                )
            ],
            "estimated by ridge regression on worlds that it was not fitted to, 95 % "
            "intervals; with worlds in a wrong order it must be about 0",
        )
    print_line(answer.headline)
    print_notes(answer.notes)


def _interval(found: Estimate) -> str:
    low, high = number(found.lower, 4), number(found.upper, 4)
    return f"{number(found.estimate, 4)} [{low}, {high}]"


def _percent(found: Estimate) -> str:
    low, high = 100.0 * found.lower, 100.0 * found.upper
    return f"{100.0 * found.estimate:.0f} % [{low:.0f}, {high:.0f}]"


def _r_squared(found: Estimate | None) -> str:
    if found is None:
        return "-"
    half = max(found.upper - found.estimate, found.estimate - found.lower)
    return f"{found.estimate:.2f} ± {half:.2f}"


def some_of(count: int, most: int) -> Sequence[int]:
    """Return which of so many to show: the first, the last, some between."""
    if count <= most:
        return range(count)
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]
