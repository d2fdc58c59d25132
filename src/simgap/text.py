"""Words, numbers and names as people read them, in a terminal, on a page, in Python.

Names, notes and paths come from files and commands of strangers. A control character
would steer a terminal, a mark of direction would reorder a line, a line end would forge
one. They are written out, as Python or JSON writes them, and everything else stays.

The ends of an interval are rounded outwards to the digits that are shown: what holds of
the interval holds of its text. An end that a few roundings keep from a shorter number,
0.46599999999999997, is written as that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from json import dumps
from math import isinf, ulp
from typing import Any, Protocol
from unicodedata import category

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
LONGEST_SHOWN = 60  # characters of a name
SHORT = 40  # characters of a name in a sentence
LISTED = 4  # names that a sentence lists
NOISE = 1e-9  # a part below this is shown as 0 %
ROUNDINGS = 4  # of a float: no reader minds them
NOT_PLAIN = re.compile(r"[^ -~]")
NOT_PLAIN_IN_JSON = re.compile(r"[^\x00-~]")  # whose line ends stand between values


def means(description: str) -> Any:
    """Return what `simgap schema` says of a field: `Annotated[int, means("...")]`."""
    from msgspec import Meta

    return Meta(description=description)


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


class Bounded(Protocol):
    """What has two ends: every interval."""

    @property
    def ends(self) -> tuple[float, float]: ...


class Estimated(Bounded, Protocol):
    """What has an interval at a confidence, and maybe one that holds by theorem."""

    @property
    def confidence(self) -> float: ...
    @property
    def guaranteed(self) -> Bounded | None: ...


def number(value: float | None, digits: int = 7) -> str:
    """Return a number in so many digits, rounded to the nearest; None is `-`."""
    if value is None:
        return "-"
    if isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.{digits}g}"


def duration(seconds: float) -> str:
    """Return seconds in words."""
    if seconds < 90.0:
        return counted(max(1, round(seconds)), "second")
    if seconds < 5400.0:
        return counted(round(seconds / 60.0), "minute")
    return f"{seconds / 3600.0:.1f} hours"


def at_least(value: float, digits: int = 4) -> str:
    """Return a number in so many digits that is not above the value."""
    return _towards(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 4) -> str:
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


def shown(name: str, width: int = LONGEST_SHOWN) -> str:
    """Return a name for people: clean, not empty, not endless."""
    plain = clean(name)
    if not plain.strip():
        plain = ascii(name)
    return plain if len(plain) <= width else f"{plain[: width - 1]}…"


def bracket(bounds: Bounded, digits: int = 7) -> str:
    """Return both ends of a number for people: one if they agree to all digits.

    What is written holds the interval, whatever the digits.
    """
    lower, upper = bounds.ends
    parts = ends(lower, upper, digits)
    middle, half = (lower + upper) / 2.0, (upper - lower) / 2.0
    if len(parts) == 1 or isinf(upper - lower) or half > 1e-3 * abs(middle):
        return parts[0] if len(parts) == 1 else f"[{parts[0]}, {parts[1]}]"
    return plus_or_minus(lower, upper, digits)


def how_sure(estimate: Estimated) -> str:
    """Return `95 %`, and the ends that a theorem gives where they are others."""
    said, sure = f"{100.0 * estimate.confidence:.3g} %", estimate.guaranteed
    if sure is None or sure.ends == estimate.ends:
        return said
    return f"{said}; guaranteed {' to '.join(ends(*sure.ends, 3))}"


def part_of_value(bounds: Bounded, whole: float) -> str:
    """Return `, 1.2 to 1.5 % of what it could have`, or nothing without a whole."""
    part = percent_of(*bounds.ends, whole, "of what it could have")
    return f", {part}" if part else ""


def percent_of(
    lower: float | None, upper: float | None, whole: float | None, what: str
) -> str:
    """Return `1.2 to 1.5 % of the whole`, or nothing if there is no whole."""
    if lower is None or upper is None or whole is None:
        return ""
    if whole <= 0.0 or isinf(upper) or isinf(lower):
        return ""
    parts = ends(100.0 * lower / whole, 100.0 * upper / whole, 3)
    return f"{' to '.join(parts)} % {what}"


def gap_number(gap: float | None, noise: float, digits: int = 5) -> str:
    """Return a gap for people; what is below the noise of rounding is 0."""
    return "0" if gap is not None and abs(gap) <= noise else number(gap, digits)


def gap_bracket(gap: Bounded, noise: float, digits: int = 5) -> str:
    """Return both ends of a gap for people; below the noise of rounding it is 0."""
    if gap.ends[1] <= noise:
        return "0"
    return bracket(gap, digits)


def without_common_part(names: list[str]) -> tuple[list[str], str]:
    """Return names without the `parameter=` that is all they have in common.

    Names of several parameters stay whole: `0.5, late=0` would be half a name.
    """
    first, sign, _ = (names or [""])[0].partition("=")
    start = first + sign
    if sign and all(
        name.startswith(start) and len(name) > len(start) and name.count("=") == 1
        for name in names
    ):
        return [name.removeprefix(start) for name in names], first
    return names, ""


def without_parameters(names: list[str]) -> tuple[list[str], str]:
    """Return `0.6, 0.7` for `mass=0.6, length=0.7`, and `mass, length`.

    For figures, where names have little room; the axis says the parameters. Names that
    are not of the same parameters stay as they are.
    """
    found = [[piece.partition("=") for piece in name.split(", ")] for name in names]
    keys = [key for key, _, _ in found[0]] if found else []
    same = all(
        [key for key, _, _ in pieces] == keys
        and all(sign and value and "=" not in value for _, sign, value in pieces)
        for pieces in found
    )
    if not keys or not same:
        return names, ""
    values = [", ".join(value for _, _, value in pieces) for pieces in found]
    return values, ", ".join(keys)


def between(bounds: Bounded, digits: int = 3) -> str:
    """Return both ends as part of a sentence."""
    lower, upper = bounds.ends
    parts = ends(lower, upper, digits)
    if len(parts) == 1:
        return parts[0]
    if lower == 0.0:
        return f"at most {parts[1]}"
    return f"between {parts[0]} and {parts[1]}"


def percent(part: float) -> str:
    """Return a part as percent for a sentence; what rounding makes is 0."""
    return f"{number(_in_percent(part), 3)} %"


def percent_at_least(part: float) -> str:
    """Return a part as percent that is not above it."""
    return f"{at_least(_in_percent(part), 3)} %"


def percent_at_most(part: float) -> str:
    """Return a part as percent that is not below it, but for what rounding makes."""
    return f"{at_most(_in_percent(part), 3)} %"


def percent_between(part: Bounded) -> str:
    """Return the ends of a part as percent, rounded outwards."""
    low, high = map(_in_percent, part.ends)
    return f"{' to '.join(ends(low, high, 3))} %"


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence: all if there are few, else some and how many."""
    few = ", ".join(shown(name, SHORT) for name in names[:LISTED])
    return few if len(names) <= LISTED else f"{few} and {len(names) - LISTED} more"


def model_named(name: str) -> str:
    """Return `model x`; a name that says so itself is left alone."""
    short = shown(name, SHORT)
    return short if name.startswith("model") else f"model {short}"


def counted(count: int, what: str) -> str:
    """Return `1 model` or `3 models`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def sentences(head: str, rest: Sequence[str]) -> str:
    """Return a description: what is shown, then one sentence for each thing."""
    return ". ".join([head, *rest]) + "."


def nearest(
    name: str, known: Iterable[str], *, cutoff: float = 0.5, most: int = 1
) -> list[str]:
    """Return the known names that are written nearly so, the nearest first."""
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_lower, n=most, cutoff=cutoff)
    return [by_lower[each] for each in near]


def suggestion(
    name: str, known: Iterable[str], *, cutoff: float = 0.5, before: str = ""
) -> str:
    """Return `did you mean riverswim?` for a nearly known name, else nothing.

    `before` are the words that come before a name where it is written.
    """
    near = nearest(name, known, cutoff=cutoff)
    return f"did you mean {before}{near[0]}?" if near else ""


def _in_percent(part: float) -> float:
    return 100.0 * part if part > NOISE else 0.0


def _towards(value: float, digits: int, rounding: str) -> str:
    nearest = number(value, digits)
    if isinf(value) or abs(float(nearest) - value) <= ROUNDINGS * ulp(value):
        return nearest
    exact = Decimal(repr(float(value)))  # as JSON writes it
    place = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    return number(float(exact.quantize(place, rounding)), digits)
