"""Options of the command line: each is read once, here, by the parser it names.

A parser takes the text of the user (or a default that is read already) and returns the
value; what is wrong is an `InvalidArgument` that names the option and the way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from simgap.errors import InvalidArgument
from simgap.text import suggestion

LONGEST_HORIZON = 10**9
PART = "it is above 0 and below 1, such as 0.05"
SECONDS = "it is a number of seconds above 0"
GIGABYTES = "it is a number of gigabytes above 0"


def whole(what: str, least: int, most: int, kind: str) -> Callable[[object], int]:
    """Return a parser of whole numbers such as 200, 1e6 or 10_000."""

    def number(given: object) -> int:
        from decimal import Decimal, InvalidOperation

        text = str(given)
        try:
            value = Decimal(text.strip())
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or len(text) > 40:
            raise InvalidArgument(
                f"{what} is {text[:40]!r}, not {kind}",
                hint="write a whole number, for instance 200 or 1e6",
            )
        if value < least:
            raise InvalidArgument(f"{what} is {text}", hint=f"it is {least} or more")
        if value > most:
            raise InvalidArgument(f"{what} is {text}", hint=f"it is at most {most}")
        if value != value.to_integral_value():
            raise InvalidArgument(
                f"{what} is {text}, not a whole number", hint="write for instance 200"
            )
        return int(value)

    return number


def real(
    what: str, *, above: float = 0.0, below: float | None = None, hint: str
) -> Callable[[object], float]:
    """Return a parser of numbers above one number and below another."""

    def number(given: object) -> float:
        from math import isfinite

        text = str(given)
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value) or len(text) > 40:
            raise InvalidArgument(f"{what} is {text[:40]!r}, not a number", hint=hint)
        too_large = value > 1e12 if below is None else value >= below
        if value <= above or too_large:
            raise InvalidArgument(f"{what} is {text}", hint=hint)
        return value

    return number


def one_of(what: str, known: tuple[str, ...]) -> Callable[[object], str]:
    """Return a parser of one word among some."""

    def word(given: object) -> str:
        text = str(given)
        if text in known:
            return text
        raise InvalidArgument(
            f"there is no {what} {text[:40]!r}",
            hint=suggestion(text, known) or f"it is one of {', '.join(known)}",
        )

    return word


def needed_horizon(steps: int | None) -> int:
    """Return the horizon of a verb that cannot do without, at least one step."""
    if steps is None:
        raise InvalidArgument(
            "no horizon is given", hint="say how long an episode is: -H 200"
        )
    if steps == 0:
        raise InvalidArgument("the horizon -H is 0", hint="it is 1 or more")
    return steps


def threads_or_all(threads: int | None) -> int:
    """Return how many threads to use: all cores unless a number is given."""
    import os

    return len(os.sched_getaffinity(0)) if threads is None else threads


Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A model file, or an instance string."),
]
Simulator = Annotated[
    str | None,
    typer.Argument(
        metavar="SIMULATOR",
        help="A built-in name, gym:ID, mujoco:FILE.xml, model:MODEL or file.py:make.",
    ),
]
Randomize = Annotated[
    str | None,
    typer.Option(
        "--randomize",
        metavar="SPEC",
        help='What is drawn: "mass=0.5..2.0 sign={-1,1}", or a file.',
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="P",
        help="file.onnx, file.py:function, file.simgap, random or zero; NAME=P names "
        "it; may be repeated.",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="SPEC",
        help='Added at every step: "observation=0.01 action=0.05".',
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        "--horizon",
        "-H",
        metavar="N",
        help="Steps: 200, 1e6.",
        parser=whole("the horizon -H", 0, LONGEST_HORIZON, "a number of steps"),
    ),
]
Discount = Annotated[
    float | None,
    typer.Option(
        "--discount",
        metavar="G",
        help="Instead of -H: 0.99, no end.",
        parser=real(
            "--discount", below=1.0, hint="it is above 0 and below 1, such as 0.99"
        ),
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output.")
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="Of everything sampled.",
        parser=whole("--seed", 0, 2**63 - 1, "a seed"),
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="T",
        help="Default: all cores. Same bytes out.",
        parser=whole("--threads", 1, 4096, "a number of threads"),
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="S",
        help="Seconds of planning; all ends within half as long again.",
        parser=real("--time-limit", hint=SECONDS),
    ),
]
GapTolerance = Annotated[
    float,
    typer.Option(
        "--gap-tolerance",
        metavar="R",
        help="Plan until the bracket of the oracle's loss is this part of it.",
        parser=real("--gap-tolerance", below=1.0, hint=PART),
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="DIR", help="Keep the record there, for simgap report."
    ),
]
