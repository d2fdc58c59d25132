"""A number of a record as people read it: text, interval, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.provenance import ON_GRID
from simgap.text import at_least, at_most, bracket, how_sure, number

CERTAINTIES = ("exact", "certified", ON_GRID, "estimated")
UNLABELLED = "unlabelled"
MOST_DIGITS = 9  # to tell the ends of an interval apart
WHOLE = 1e7


@final
@dataclass(frozen=True, slots=True)
class ShownNumber:
    """One number in words, and its two ends for a figure."""

    text: str
    detail: str  # the interval of an estimate, else empty
    certainty: str
    value: float | None  # None: there is no such number
    lower: float | None
    upper: float | None

    @property
    def drawable(self) -> bool:
        """Return whether it has a place on an axis."""
        return self.value is not None and isfinite(self.value)

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """Return value, lower and upper end."""
        return self.value, self.lower, self.upper


NOTHING = ShownNumber("-", "", "", None, None, None)  # a hole in a table


def show(
    value: Interval | float | None,
    *,
    certainty: str = UNLABELLED,
    digits: int = 5,
    noise: float = 0.0,
) -> ShownNumber:
    """Return a number, a certified pair or an estimate as people read it.

    A pair with equal ends is exact and an estimate is estimated, whatever the record
    says elsewhere; `certainty` is for a number alone, and empty where the head of a
    column says it. What is not above `noise`, which rounding alone may have made, is 0.
    """
    if value is None:
        return NOTHING
    if not isinstance(value, Interval):
        alone = _still(float(value), noise)
        text = number(alone, _digits(digits, alone))
        sure = certainty_of(certainty) if certainty else ""
        return ShownNumber(text, "", sure, alone, alone, alone)
    if value.ends == (-inf, inf):
        return NOTHING
    lower, upper = (_still(end, noise) for end in value.ends)
    if not isinstance(value, Estimate):
        sure = "exact" if value.lower == value.upper else "certified"
        middle = upper if lower == upper else lower / 2.0 + upper / 2.0
        text = bracket(Certified(lower, upper), _digits(digits, lower, upper))
        return ShownNumber(text, "", sure, middle, lower, upper)
    middle = _still(value.estimate, noise)
    digits = _digits(digits - 1, lower, upper)  # noise needs fewer
    enough = digits
    while enough < MOST_DIGITS and _same(lower, upper, enough):
        enough += 1
    digits = digits if _same(lower, upper, enough) else enough
    ends = f"{at_least(lower, digits)} to {at_most(upper, digits)}"
    detail = f"{ends}, {how_sure(value)}"
    return ShownNumber(
        number(middle, digits), detail, "estimated", middle, lower, upper
    )


def quiet(found: ShownNumber, noise: float) -> ShownNumber:
    """Return a number whose text is 0 if rounding alone may have made it."""
    small = found.upper is not None and abs(found.upper) <= noise
    return replace(found, text="0", detail="") if small else found


def certainty_of(word: object) -> str:
    """Return a known label of certainty; any other word is "unlabelled"."""
    return str(word) if word in CERTAINTIES else UNLABELLED


def evaluated(word: str) -> str:
    """Return how sure a loss is that was summed up in floating point.

    Records of earlier versions call some of them exact.
    """
    return "certified" if word == "exact" else word


def _still(value: float, noise: float) -> float:
    return 0.0 if abs(value) <= noise else value


def _digits(digits: int, *values: float) -> int:
    """Return enough digits for whole numbers below ten millions to be whole."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    return max(digits, len(str(int(largest)))) if largest < WHOLE else digits


def _same(lower: float, upper: float, digits: int) -> bool:
    ends = number(lower, digits), number(upper, digits)
    return lower != upper and ends[0] == ends[1]
