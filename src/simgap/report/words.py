"""Numbers and names as people read them, in a terminal or on a page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import TYPE_CHECKING

from simgap import text
from simgap.text import clean

if TYPE_CHECKING:
    from simgap.intervals import Certified, Estimate

LONGEST_SHOWN = 60


def shown(name: str, width: int = LONGEST_SHOWN) -> str:
    """Return a name for people: clean, not empty, not endless."""
    plain = clean(name)
    if not plain.strip():
        plain = ascii(name)
    return plain if len(plain) <= width else f"{plain[: width - 1]}…"


def number(value: float | None, digits: int = 7) -> str:
    """Return a number for people."""
    return "-" if value is None else text.number(value, digits)


def bracket(bounds: Certified | Estimate, digits: int = 7) -> str:
    """Return both ends of a number for people: one if they agree to all digits.

    What is written holds the interval, whatever the digits.
    """
    lower, upper = bounds.ends
    shown = text.ends(lower, upper, digits)
    middle, half = (lower + upper) / 2.0, (upper - lower) / 2.0
    if len(shown) == 1 or isinf(upper - lower) or half > 1e-3 * abs(middle):
        return shown[0] if len(shown) == 1 else f"[{shown[0]}, {shown[1]}]"
    return text.plus_or_minus(lower, upper, digits)


def how_sure(label: object, confidence: float) -> str:
    """Return `guaranteed 95 %` or `approximately 95 %`, or `95 %` without a label."""
    words = {"guaranteed": "guaranteed ", "approximate": "approximately "}
    return f"{words.get(str(label), '')}{100.0 * confidence:.3g} %"


def percent(bounds: Certified, whole: float) -> str:
    """Return `, 1.2 to 1.5 % of the whole`, or nothing if there is no whole."""
    told = percent_of(bounds.lower, bounds.upper, whole, "of what it could have")
    return f", {told}" if told else ""


def percent_of(
    lower: float | None, upper: float | None, whole: float | None, what: str
) -> str:
    """Return `1.2 to 1.5 % of the whole`, or nothing if there is no whole."""
    if lower is None or upper is None or whole is None:
        return ""
    if whole <= 0.0 or isinf(upper) or isinf(lower):
        return ""
    parts = text.ends(100.0 * lower / whole, 100.0 * upper / whole, 3)
    return f"{' to '.join(parts)} % {what}"


def gap_number(gap: float | None, noise: float, digits: int = 5) -> str:
    """Return a gap for people; what is below the noise of rounding is 0."""
    return "0" if gap is not None and abs(gap) <= noise else number(gap, digits)


def at_least(gap: float | None, digits: int = 4) -> str:
    """Return a gap for people that is not larger than it is."""
    return "-" if gap is None else text.at_least(gap, digits)


def at_most(gap: float | None, digits: int = 4) -> str:
    """Return a gap for people that is not smaller than it is."""
    return "-" if gap is None else text.at_most(gap, digits)


def gap_bracket(gap: Certified | Estimate, noise: float, digits: int = 5) -> str:
    """Return both ends of a gap for people; below the noise of rounding it is 0."""
    if gap.upper is not None and gap.upper <= noise:
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


def between(bounds: Certified | Estimate, digits: int = 3) -> str:
    """Return both ends as part of a sentence."""
    lower, upper = bounds.ends
    shown = text.ends(lower, upper, digits)
    if len(shown) == 1:
        return shown[0]
    if lower == 0.0:
        return f"at most {shown[1]}"
    return f"between {shown[0]} and {shown[1]}"


def counted(count: int, what: str) -> str:
    """Return `1 model` or `3 models`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def sentences(head: str, told: Sequence[str]) -> str:
    """Return a description: what is shown, then one sentence for each thing."""
    return ". ".join([head, *told]) + "."
