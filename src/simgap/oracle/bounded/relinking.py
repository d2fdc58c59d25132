"""When to look again for the best successors, and when to remember values.

Between two looks the structure is fixed, and what it gives is valid whether or not it
is still the best. A look that gained much is followed by another soon, a look that
gained little by a longer wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

SOONER, LATER = 0.5, 1.7


@final
@dataclass(slots=True)
class Relinking:
    """Steps to go at which to look again."""

    much: float  # a gain, as a part of the values, after which to look sooner
    due: int = 1  # steps to go of the next look
    wait: float = 1.0

    def learned(self, to_go: int, gain: float) -> None:
        """Set the next look after one that gained a part of the values."""
        self.wait = max(1.0, self.wait * (SOONER if gain > self.much else LATER))
        self.due = to_go + int(self.wait)


def remembered_steps(count: int, ratio: float = 1.4) -> frozenset[int]:
    """Return numbers of steps to go, from 1 to count: many small ones, few large."""
    found, at = set(), 1.0
    while at <= count:
        found.add(int(at))
        at = max(at * ratio, at + 1.0)
    return frozenset(found)
