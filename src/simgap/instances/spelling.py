"""How the parts of an instance string are read; every refusal quotes the text."""

from __future__ import annotations

import re
from enum import Enum
from fractions import Fraction
from math import isfinite
from typing import Any

from simgap.errors import InvalidInstance
from simgap.text import nearest

MOST_POINTS = 10_000
FEW_NAMES = 10  # so many are listed beside the most likely one
LARGEST_WHOLE = 10**18
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)
_RATIO = re.compile(r"[+-]?\d+/\d+")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Kind(Enum):
    """What a value may look like."""

    WHOLE = "a whole number such as 6"
    NUMBER = "one number such as 0.35 or 1/3"
    POINTS = "a number, a range a:b:n or a list a,b,c"
    TABLE = "rows of numbers such as 0.5,0.6;0.6,0.5"
    FLAG = "true or false"
    WORD = "a word"
    CELLS = "nodes along each axis such as 61x61, or one number for all"


def split_query(query: str) -> dict[str, str]:
    """Return the keys and texts of `key=value&key=value`, in order."""
    found: dict[str, str] = {}
    for part in query.split("&"):
        key, sign, text = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            raise InvalidInstance(
                f"an empty part in {query!r}", hint="write key=value between the &"
            )
        if not sign:
            raise InvalidInstance(
                f"{part!r} has no '='", hint="every part is key=value"
            )
        if not key or not text:
            missing = "key" if not key else "value"
            raise InvalidInstance(
                f"{part!r} has no {missing}", hint="every part is key=value"
            )
        if key in found:
            raise InvalidInstance(
                f"{key} is given twice, as {found[key]!r} and {text!r}",
                hint="give it once; a list is written a,b,c",
            )
        found[key] = text
    return found


def read_value(key: str, text: str, kind: Kind) -> Any:
    """Return what a text means for a parameter of this kind."""
    if "=" in text:
        fixed = re.sub(r"[,;:&\s]+(?=\w+=)", "&", f"{key}={text}")
        raise InvalidInstance(
            f"{key}={text[:60]} has two '='",
            hint=f"put & between the parts: {fixed[:80]}",
        )
    if kind is Kind.FLAG:
        if text.lower() not in _FLAGS:
            raise _refused(key, text, kind)
        return _FLAGS[text.lower()]
    if kind is Kind.WORD:
        return text
    if kind is Kind.TABLE:
        rows = [_listed(key, row, kind) for row in text.split(";")]
        if len({len(row) for row in rows}) > 1:
            raise InvalidInstance(
                f"rows of {key}={text} have {[len(row) for row in rows]} numbers",
                hint="give every model the same number of arms",
            )
        return rows
    if kind is Kind.POINTS:
        return _points(key, text)
    if kind is Kind.CELLS:
        return tuple(_whole(key, piece, kind=kind) for piece in text.split("x"))
    if "," in text or ":" in text:
        raise InvalidInstance(
            f"{key}={text} is not one value",
            hint=f"{key} is the same in all models: {kind.value}",
        )
    return _whole(key, text) if kind is Kind.WHOLE else float(_number(key, text, kind))


def interval_ends(key: str, text: str) -> tuple[float, float] | None:
    """Return the ends of an interval `a..b`, None if the text is none."""
    first, dots, last = text.partition("..")
    if not dots:
        return None
    low, high = (float(_number(key, end, Kind.POINTS)) for end in (first, last))
    if not low < high:
        raise InvalidInstance(
            f"{key}={text} is empty or one point",
            hint="an interval is a..b with a below b",
        )
    return low, high


def suggestion(given: str, offered: tuple[str, ...]) -> str:
    """Return a hint with the most similar name, or with all names."""
    if not offered:
        return "it has none"
    near = nearest(given, offered, cutoff=0.6)
    everything = "there are " + ", ".join(offered)
    if not near:
        return everything
    short = f"did you mean {near[0]!r}?"
    return f"{short} {everything}" if len(offered) <= FEW_NAMES else short


def _points(key: str, text: str) -> tuple[float, ...]:
    if ":" not in text:
        return _listed(key, text, Kind.POINTS)
    ends = text.split(":")
    if len(ends) != 3 or "," in text:
        raise InvalidInstance(
            f"{key}={text} is not a range",
            hint="a range is a:b:n, n points from a to b, as in 0.2:0.5:4",
        )
    first, last = (_number(key, end, Kind.POINTS) for end in ends[:2])
    count = _whole(f"number of points in {key}={text}", ends[2], most=MOST_POINTS)
    if count < 1:
        raise InvalidInstance(
            f"{key}={text} asks for {count} points", hint="ask for at least one"
        )
    if count == 1:
        if first != last:
            raise InvalidInstance(
                f"{key}={text} asks for one point with two ends",
                hint=f"write {key}={ends[0]}, or ask for at least 2 points",
            )
        return (float(first),)
    # exact steps: 0.2:0.5:4 contains 0.3, not 0.30000000000000004
    return tuple(float(first + (last - first) * i / (count - 1)) for i in range(count))


def _listed(key: str, text: str, kind: Kind) -> tuple[float, ...]:
    pieces = text.split(",")
    if len(pieces) > MOST_POINTS:
        raise InvalidInstance(
            f"{key} lists {len(pieces)} values", hint=f"at most {MOST_POINTS} are built"
        )
    return tuple(float(_number(key, piece, kind)) for piece in pieces)


def _number(key: str, text: str, kind: Kind) -> Fraction:
    plain = text.strip()
    spelt = _NUMBER.fullmatch(plain) or _RATIO.fullmatch(plain)
    if not spelt or len(plain) > 60:
        raise _refused(key, text, kind)
    try:
        value = Fraction(plain)
        finite = isfinite(float(value))
    except (OverflowError, ZeroDivisionError) as error:
        raise _refused(key, text, kind) from error
    if not finite:
        raise _refused(key, text, kind)
    return value


def _whole(
    key: str, text: str, *, most: int = LARGEST_WHOLE, kind: Kind = Kind.WHOLE
) -> int:
    plain = text.strip()
    if not re.fullmatch(r"[+-]?\d{1,20}", plain):
        raise _refused(key, text, kind)
    value = int(plain)
    if value > most:
        raise InvalidInstance(f"{key} is {value}", hint=f"at most {most} are built")
    return value


def _refused(key: str, text: str, kind: Kind) -> InvalidInstance:
    if not text.strip():
        return InvalidInstance(f"{key} has an empty value", hint=f"give {kind.value}")
    shown = text if len(text) <= 60 else text[:60] + "..."
    return InvalidInstance(f"{key}={shown} cannot be read", hint=_way(key, text, kind))


def _way(key: str, text: str, kind: Kind) -> str:
    """Return how a value is written, after what was tried."""
    plain, hint = text.strip(), f"{key} is {kind.value}, and finite"
    if plain.endswith("%") and _NUMBER.fullmatch(plain[:-1]) and len(plain) < 20:
        return f"write {key}={float(Fraction(plain[:-1]) / 100):g}; {hint}"
    if plain[:1] in ("[", "(", "{"):
        return f"leave the brackets out; {hint}"
    number = r"(\d*\.?\d+)"
    if kind is Kind.POINTS and (
        ends := re.fullmatch(f"{number}(?:-|\\.\\.+){number}", plain)
    ):
        points = f"5 points of that range are {key}={ends[1]}:{ends[2]}:5"
        if ".." in plain:
            return f"{points}; every value, a..b, is for simgap run general alone"
        return f"{points}; {hint}"
    return hint
