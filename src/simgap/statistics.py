"""Estimated numbers: a value, an interval, how sure the interval is, and how made."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import final

from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A number found by sampling; the interval holds the truth at `confidence`."""

    estimate: float
    lower: float
    upper: float
    confidence: float
    method: str = ""  # for instance "normal, 20000 episodes"
    standard_error: float | None = None  # of the estimate, where it has one

    def __post_init__(self) -> None:
        ends = (self.lower, self.estimate, self.upper)
        if not all(isfinite(each) for each in ends):
            raise InvalidArgument(f"an estimate with ends {ends} is not a number")
        if not self.lower <= self.estimate <= self.upper:
            raise InvalidArgument(f"an estimate outside its own interval: {ends}")
        if not 0.0 < self.confidence < 1.0:
            raise InvalidArgument(
                f"a confidence of {self.confidence}", hint="it is between 0 and 1"
            )
