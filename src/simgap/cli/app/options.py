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
Discount = Annotated[
    str | None,
    typer.Option("--discount", metavar="G", help="Instead of -H: 0.99, no end."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output.")
]
Seed = Annotated[
    str, typer.Option("--seed", metavar="N", help="Of everything sampled.")
]
Threads = Annotated[
    str | None,
    typer.Option("--threads", metavar="T", help="Default: all cores. Same bytes out."),
]
Guaranteed = Annotated[
    bool,
    typer.Option(
        "--guaranteed",
        help="Only intervals that hold by theorem, however wide; default: where they "
        "are not much wider than approximate ones.",
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="N",
        help="What a model file may unpack to; default: a quarter of free memory.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="DIR", help="Keep the record there, for simgap report."
    ),
]


def horizon_of(text: str | None) -> int | None:
    """Return the number of steps a text such as 200, 1e6 or 10_000 means."""
    if text is None:
        return None
    return _whole(text, "the horizon -H", 0, LONGEST_HORIZON, "a number of steps")


def needed_horizon(text: str | None) -> int:
    """Return the number of steps, at least one; a verb that needs it says so."""
    if text is None:
        raise InvalidArgument(
            "no horizon is given", hint="say how long an episode is: -H 200"
        )
    return _whole(text, "the horizon -H", 1, LONGEST_HORIZON, "a number of steps")


def count_of(text: str, what: str, *, least: int, most: int) -> int:
    """Return a whole number of an option such as --seeds."""
    return _whole(text, what, least, most, "a number")


def threads_of(text: str | None) -> int:
    """Return how many threads to use: all cores unless a number is given."""
    import os

    if text is None:
        return len(os.sched_getaffinity(0))
    return _whole(text, "--threads", 1, 4096, "a number of threads")


def max_bytes_of(text: str | None) -> int | None:
    """Return a number of bytes; 2e9 is two gigabytes."""
    if text is None:
        return None
    return _whole(text, "--max-bytes", 1, 2**62, "a number of bytes")


def discount_of(text: str | None) -> float | None:
    """Return a discount between 0 and 1."""
    return part_of(text, "--discount", hint="it is above 0 and below 1, such as 0.99")


def part_of(text: str | None, what: str, *, hint: str) -> float | None:
    """Return a number above 0 and below 1."""
    if text is None:
        return None
    value = _number(text, what, hint)
    if not 0.0 < value < 1.0:
        raise InvalidArgument(f"{what} is {text}", hint=hint)
    return value


def positive_of(text: str | None, what: str, *, hint: str) -> float | None:
    """Return a number above 0."""
    if text is None:
        return None
    value = _number(text, what, hint)
    if not 0.0 < value <= 1e12:
        raise InvalidArgument(f"{what} is {text}", hint=hint)
    return value


def seconds_of(text: str | None) -> float | None:
    """Return the seconds of --time-limit."""
    hint = "it is a number of seconds above 0"
    return positive_of(text, "--time-limit", hint=hint)


def _number(text: str, what: str, hint: str) -> float:
    from math import isfinite

    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or len(text) > 40:
        raise InvalidArgument(f"{what} is {text[:40]!r}, not a number", hint=hint)
    return value


def seed_of(text: str) -> int:
    """Return the seed of a generator."""
    return _whole(text, "--seed", 0, 2**63 - 1, "a seed")


def _whole(text: str, what: str, least: int, most: int, kind: str) -> int:
    from decimal import Decimal, InvalidOperation

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
