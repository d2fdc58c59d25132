"""Words of strangers, written so that they steer nothing; numbers, so that they hold.

Names, notes and paths come from files and commands. A control character would steer a
terminal, a mark of direction would reorder a line, a line end would forge one. They are
written out, as Python or JSON writes them, and everything else stays as it is.

The ends of an interval are rounded outwards to the digits that are shown: what holds of
the interval holds of its text. An end that a few roundings keep from a shorter number,
0.46599999999999997, is written as that number.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from json import dumps
from math import isinf, ulp
from unicodedata import category

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
ROUNDINGS = 4  # of a float: no reader minds them
NOT_PLAIN = re.compile(r"[^ -~]")
NOT_PLAIN_IN_JSON = re.compile(r"[^\x00-~]")  # whose line ends stand between values


def clean(text: str) -> str:
    r"""Return text with control, formatting and unassigned characters as \x1b."""
    return NOT_PLAIN.sub(_escaped, text)


def clean_lines(text: str) -> str:
    """Return text of several lines, each of them clean."""
    return "\n".join(clean(line) for line in text.split("\n"))


def clean_json(text: str) -> str:
    r"""Return the same JSON with those characters as \u001b, which readers undo."""
    return NOT_PLAIN_IN_JSON.sub(_escaped_in_json, text)


def _escaped(found: re.Match[str]) -> str:
    sign = found[0]
    if category(sign) not in HIDDEN:
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def _escaped_in_json(found: re.Match[str]) -> str:
    return dumps(found[0])[1:-1] if category(found[0]) in HIDDEN else found[0]


def number(value: float, digits: int) -> str:
    """Return a number in so many digits, rounded to the nearest."""
    if isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.{digits}g}"


def at_least(value: float, digits: int) -> str:
    """Return a number in so many digits that is not above the value."""
    return _towards(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int) -> str:
    """Return a number in so many digits that is not below the value."""
    return _towards(value, digits, ROUND_CEILING)


def ends(lower: float, upper: float, digits: int) -> tuple[str, ...]:
    """Return the ends of an interval rounded outwards, or one number if both are it."""
    if number(lower, digits) == number(upper, digits):
        return (number(upper, digits),)
    return at_least(lower, digits), at_most(upper, digits)


def plus_or_minus(lower: float, upper: float, digits: int) -> str:
    """Return `middle ± half` that holds an interval."""
    told = number(lower / 2.0 + upper / 2.0, digits)
    middle, low, high = (Decimal(each) for each in (told, repr(lower), repr(upper)))
    return f"{told} ± {at_most(float(max(high - middle, middle - low)), 1)}"


def _towards(value: float, digits: int, rounding: str) -> str:
    nearest = number(value, digits)
    if isinf(value) or abs(float(nearest) - value) <= ROUNDINGS * ulp(value):
        return nearest
    exact = Decimal(repr(float(value)))  # as JSON writes it
    place = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    return number(float(exact.quantize(place, rounding)), digits)
