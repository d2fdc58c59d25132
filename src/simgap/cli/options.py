"""Arguments that several verbs share, and what they accept."""

from __future__ import annotations

from typing import Annotated

import typer

from simgap.errors import InvalidArgument

LONGEST_HORIZON = 10**9

Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A model file, or an instance string."),
]
Horizon = Annotated[
    str | None,
    typer.Option("--horizon", "-H", metavar="N", help="Steps: 200, 1e6."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output.")
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="N",
        help="What a model file may unpack to; default: a quarter of free memory.",
    ),
]


def horizon_of(text: str | None) -> int | None:
    """Return the number of steps a text such as 200, 1e6 or 10_000 means."""
    if text is None:
        return None
    return _whole(text, "the horizon -H", 0, LONGEST_HORIZON)


def max_bytes_of(text: str | None) -> int | None:
    """Return a number of bytes; 2e9 is two gigabytes."""
    if text is None:
        return None
    return _whole(text, "--max-bytes", 1, 2**62)


def _whole(text: str, what: str, least: int, most: int) -> int:
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or len(text) > 40:
        raise InvalidArgument(
            f"{what} is {text[:40]!r}, not a number of steps"
            if least == 0
            else f"{what} is {text[:40]!r}, not a number of bytes",
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
