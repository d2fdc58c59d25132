"""`simgap width`: how wide to randomize a parameter.

Ranges of the parameter are centred at its nominal value. For each the best policy is
planned for the models inside, and what it loses is computed in every model that may be
real, inside and outside. The narrowest range that loses hardly more than any other is
recommended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model, Out, Seed

if TYPE_CHECKING:
    from simgap.answers import WidthSettings
    from simgap.cli.verbs.width_answer import BeyondAnswer, RangeAnswer, WidthAnswer
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult

CRITERIA = ("average", "worst")
MOST_ASKED = 60  # widths in one command
BAR = 8  # characters of the longest bar
SHOWN_DISTANCES = 4
LINE = 78


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
        str | None,
        typer.Option(
            "--nominal", metavar="X", help="Centre of all ranges; default: the median."
        ),
    ] = None,
    widths: Annotated[
        str | None,
        typer.Option(
            "--widths", metavar="A,B,C", help="Default: all that differ, at most 12."
        ),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion", metavar="|".join(CRITERIA), help="What shall be small."
        ),
    ] = "average",
    slack: Annotated[
        str,
        typer.Option(
            "--slack",
            metavar="R",
            help="A loss that does not count, as a part of what is at stake.",
        ),
    ] = "0.003",
    gap_tolerance: Annotated[
        str | None,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of the loss is this part of it.",
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning for each range, or for all of them if models are "
            "many; default 60.",
        ),
    ] = None,
    seed: Seed = "0",
    out: Out = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Find how wide to randomize a parameter.

    The models of the class are what may be real. Each range keeps the models near the
    nominal value for training; what its policy loses is certified in all of them.

    Example: simgap width 'riverswim?success=0.1:0.6:5&left_reward=0.4' -H 60
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of, needed_horizon
    from simgap.cli.app.output import made_folder, print_json
    from simgap.cli.verbs.width_answer import record_name
    from simgap.records import write_record

    steps = needed_horizon(horizon)
    settings = _settings(
        nominal, widths, criterion, slack, gap_tolerance, time_limit, seed
    )
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    answer = answered(
        latent, steps, param, settings, command=str(context.obj), model=model
    )
    if folder is not None:
        write_record(answer, folder / record_name(answer.param))
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def answered(
    latent: LatentMDP,
    horizon: int,
    param: str | None = None,
    settings: WidthSettings | None = None,
    *,
    oracle: OracleResult | None = None,
    command: str,
    model: str,
) -> WidthAnswer:
    """Return the record of `simgap width`; standard error tells how far it is."""
    from simgap.answers import width_curve
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.width_answer import width_answer

    with telling("planning for ranges") as tell:
        curve = width_curve(
            latent,
            horizon=horizon,
            param=param,
            settings=settings,
            oracle=oracle,
            progress=lambda done, all_: tell(f"planning: {done} of {all_} ranges"),
        )
    return width_answer(latent, curve, command=command, model=model)


def print_answer(answer: WidthAnswer) -> None:
    """Print the table of ranges, the recommended one marked, and why."""
    from textwrap import wrap

    from simgap.cli.app.output import print_line, print_table
    from simgap.text import gap_bracket, number, shown

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
    if any(each.beyond for each in answer.widths):
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
                for each in answer.widths
                if each.beyond
            ],
            "how far the real value is from the range, and the loss there",
            texts=2,
        )
    for line in wrap(answer.reason, LINE):
        print_line(line)
    for note in answer.notes:
        for at, line in enumerate(wrap(note, LINE - 6)):
            print_line(f"{'note: ' if at == 0 else '      '}{line}")


def _some(beyond: tuple[BeyondAnswer, ...]) -> list[BeyondAnswer]:
    """Return a few of the distances, evenly, the nearest and the farthest too."""
    last, most = len(beyond) - 1, SHOWN_DISTANCES - 1
    if last <= most:
        return list(beyond)
    return [beyond[round(at * last / most)] for at in range(SHOWN_DISTANCES)]


def _interval(each: RangeAnswer) -> str:
    from simgap.text import number

    if each.low == each.high:
        return number(each.low, 4)
    return f"{number(each.low, 4)} to {number(each.high, 4)}"


def _settings(
    nominal: str | None,
    widths: str | None,
    criterion: str,
    slack: str,
    gap_tolerance: str | None,
    time_limit: str | None,
    seed: str,
) -> WidthSettings:
    """Return the settings from the words of the command line."""
    from simgap.answers import Criterion, WidthSettings
    from simgap.cli.app.options import part_of, seconds_of, seed_of
    from simgap.errors import InvalidArgument
    from simgap.oracle import AutoOracle

    if criterion not in CRITERIA:
        raise InvalidArgument(
            f"there is no criterion {criterion[:40]!r}",
            hint="it is average or worst, over all models that may be real",
        )
    part = part_of(gap_tolerance, "--gap-tolerance", hint="between 0 and 1, as 0.05")
    limit = seconds_of(time_limit)
    number, seconds = seed_of(seed), 60.0 if limit is None else limit
    return WidthSettings(
        nominal=None if nominal is None else _number(nominal, "--nominal"),
        widths=None if widths is None else _widths(widths),
        criterion=Criterion(criterion),
        slack=_number(slack, "--slack"),
        solver=None
        if part is None
        else AutoOracle(
            gap_tolerance=part,
            negligible=0.0,
            time_limit=seconds,
            episodes=2,
            seed=number,
        ),
        time_limit=seconds,
        seed=number,
    )


def _widths(text: str) -> tuple[float, ...]:
    from simgap.errors import InvalidArgument

    words = text.split(",")
    if len(words) > MOST_ASKED:
        raise InvalidArgument(
            f"{len(words)} widths, at most {MOST_ASKED} are tried",
            hint="name fewer of them",
        )
    return tuple(_number(word, "--widths") for word in words)


def _number(text: str, what: str) -> float:
    from math import isfinite

    from simgap.errors import InvalidArgument

    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or len(text) > 40:
        wanted = {
            "--widths": "write numbers with commas: --widths 0,0.2,0.4",
            "--slack": "write a part from 0 to 1: --slack 0.003",
        }.get(what, f"write a number: {what} 0.5")
        raise InvalidArgument(f"{what} has {text[:40]!r}, not a number", hint=wanted)
    return value
