"""How wide to randomize a parameter.

Ranges of the parameter are centred at its nominal value. For each the best policy is
planned for the models inside, and what it loses is computed in every model that may be
real, inside and outside. The narrowest range that loses hardly more than any other is
recommended.
"""

from __future__ import annotations

from math import inf
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simgap.cli.app.arguments import (
    PART,
    SECONDS,
    AsJson,
    Horizon,
    MaxBytes,
    Model,
    Out,
    Seed,
    needed_horizon,
    one_of,
    real,
)
from simgap.cli.app.output import (
    finish,
    folder_of,
    print_line,
    print_table,
    telling,
)
from simgap.errors import InvalidArgument
from simgap.text import gap_bracket, number, shown

if TYPE_CHECKING:
    from simgap.records import LossBeyond, RangeLoss, Width

CRITERIA = ("average", "worst")
MOST_ASKED = 60  # widths in one command
BAR = 8  # characters of the longest bar
SHOWN_DISTANCES = 4
LINE = 78


def widths_of(text: str) -> tuple[float, ...]:
    """Return the numbers in --widths."""
    words = text.split(",")
    if len(words) > MOST_ASKED:
        raise InvalidArgument(
            f"{len(words)} widths, at most {MOST_ASKED} are tried",
            hint="name fewer of them",
        )
    hint = "write numbers with commas: --widths 0,0.2,0.4"
    return tuple(map(real("--widths", above=-inf, hint=hint), words))


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    param: Annotated[
        str | None,
        typer.Option(
            "--param",
            metavar="P",
            help="The parameter; needed if more than one differs between models.",
        ),
    ] = None,
    nominal: Annotated[
        float | None,
        typer.Option(
            "--nominal",
            metavar="X",
            help="Centre of all ranges; default: the median.",
            parser=real("--nominal", above=-inf, hint="write a number: --nominal 0.5"),
        ),
    ] = None,
    widths: Annotated[
        Any | None,
        typer.Option(
            "--widths",
            metavar="A,B,C",
            help="Default: all that differ, at most 12.",
            parser=widths_of,
        ),
    ] = None,
    criterion: Annotated[
        Any,
        typer.Option(
            "--criterion",
            metavar="|".join(CRITERIA),
            help="What shall be small.",
            parser=one_of("criterion", CRITERIA),
        ),
    ] = "average",
    slack: Annotated[
        float,
        typer.Option(
            "--slack",
            metavar="R",
            help="A loss that does not count, as a part of what is at stake.",
            parser=real(
                "--slack", above=-inf, hint="write a part from 0 to 1: --slack 0.003"
            ),
        ),
    ] = 0.003,
    gap_tolerance: Annotated[
        float | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of the loss is this part of it.",
            parser=real("--gap-tolerance", below=1.0, hint=PART),
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning for each range, or for all of them if models are "
            "many.",
            parser=real("--time-limit", hint=SECONDS),
        ),
    ] = 60.0,
    seed: Seed = 0,
    out: Out = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Find how wide to randomize a parameter.

    The models of the class are what may be real. Each range keeps the models near the
    nominal value for training; what its policy loses is certified in all of them.

    Example: simgap width 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 60
    """
    from simgap.answers import width
    from simgap.cli.app.models import read_model
    from simgap.records import width_file

    steps, folder = needed_horizon(horizon), folder_of(out)
    with telling("planning for ranges") as tell:
        answer = width(
            read_model(model, max_bytes),
            steps,
            param,
            nominal=nominal,
            widths=widths,
            criterion=criterion,
            slack=slack,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            progress=tell,
        )
    name = width_file(answer.param)
    finish(answer, context, folder, print_answer, as_json=as_json, name=name)


def print_answer(answer: Width) -> None:
    """Print the table of ranges, the recommended one marked, and why."""
    noise = 1e-9 * answer.at_stake
    longest = max(each.gap.upper for each in answer.widths)
    rows = []
    for each in answer.widths:
        part = 0.0 if longest <= noise else each.gap.upper / longest
        rows.append(
            (
                ("> " if each.width == answer.recommended else "  ") + _interval(each),
                "#" * round(BAR * part),
                number(each.width, 4),
                gap_bracket(each.gap, noise, 4),
                gap_bracket(each.worst, noise, 4),
                gap_bracket(each.inside, noise, 3),
            )
        )
    print_table(
        f"what training on a range of {shown(answer.param, 30)} loses in "
        f"{answer.horizon} steps, {len(answer.real)} models may be real",
        ("  range", "", "width", "average", "worst", "inside"),
        rows,
        "> recommended; average and worst over all models that may be real, certified "
        "for the policies planned; inside: what the best policy of the range must lose",
        texts=2,
    )
    outside = [each for each in answer.widths if each.beyond]
    if outside:
        print_table(
            "if reality lies outside the range",
            ("  range", "distance: loss"),
            [
                (
                    f"  {_interval(each)}",
                    ",  ".join(
                        f"{number(b.distance, 3)}: {gap_bracket(b.gap, noise, 3)}"
                        for b in _some(each.beyond)
                    ),
                )
                for each in outside
            ],
            "how far the real value is from the range, and the loss there",
            texts=2,
        )
    for line in wrap(answer.reason, LINE):
        print_line(line)
    for note in answer.notes:
        for at, line in enumerate(wrap(note.text, LINE - 6)):
            print_line(f"{'note: ' if at == 0 else '      '}{line}")


def _some(beyond: tuple[LossBeyond, ...]) -> list[LossBeyond]:
    """Return a few of the distances, evenly, the nearest and the farthest too."""
    last, most = len(beyond) - 1, SHOWN_DISTANCES - 1
    if last <= most:
        return list(beyond)
    return [beyond[round(at * last / most)] for at in range(SHOWN_DISTANCES)]


def _interval(each: RangeLoss) -> str:
    if each.low == each.high:
        return number(each.low, 4)
    return f"{number(each.low, 4)} to {number(each.high, 4)}"
