"""One checked thing about a class, in words for somebody who has not read the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import final

from simgap.intervals import Certified
from simgap.text import at_least, at_most, ends, number

SHOWN = 4  # names that a sentence lists
LONGEST = 40  # characters of a name
NOISE = 1e-9  # a part below this is shown as 0


class Status(Enum):
    """What a finding means for the answer."""

    OK = "ok"
    INFO = "info"  # not measured, or of no consequence
    WARNING = "warning"  # the theory is silent, or numbers need a second look
    FAIL = "fail"  # without it the promise of transfer is void


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A check, how it came out, and what that means; money is in the user's units."""

    check: str
    status: Status
    text: str
    value: float | None = None  # the number that the text is about


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence: all if there are few, else some and how many."""
    few = ", ".join(short(name) for name in names[:SHOWN])
    return few if len(names) <= SHOWN else f"{few} and {len(names) - SHOWN} more"


def short(name: str) -> str:
    """Return a name that does not fill the line."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def model_named(name: str) -> str:
    """Return `model x`; a name that says so itself is left alone."""
    return short(name) if name.startswith("model") else f"model {short(name)}"


def told(value: float, digits: int = 3) -> str:
    """Return a number for a sentence."""
    return number(value, digits)


def percent(part: float) -> str:
    """Return a part as percent for a sentence; what rounding makes is 0."""
    return f"{told(_still(part))} %"


def percent_at_least(part: float) -> str:
    """Return a part as percent that is not above it."""
    return f"{at_least(_still(part), 3)} %"


def percent_at_most(part: float) -> str:
    """Return a part as percent that is not below it, but for what rounding makes."""
    return f"{at_most(_still(part), 3)} %"


def percent_between(part: Certified) -> str:
    """Return the ends of a part as percent, rounded outwards."""
    low, high = part.ends
    return f"{' to '.join(ends(_still(low), _still(high), 3))} %"


def _still(part: float) -> float:
    return 100.0 * part if part > NOISE else 0.0


def counted(count: int, what: str) -> str:
    """Return `1 model`, `7 models`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
