"""A number found by sampling, and what may be done to it without another sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal, final

from simgap.errors import InvalidArgument

Label = Literal["guaranteed", "approximate"]


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A number found by sampling; the interval holds the truth at `confidence`.

    *guaranteed*: a theorem says so, whatever the law of what was sampled.
    *approximate*: true of laws whose rare events are like those that were met.
    """

    estimate: float
    lower: float
    upper: float
    confidence: float
    method: str = ""  # for instance "betting, 20000 episodes"
    standard_error: float | None = None  # of the estimate, where it has one
    label: Label = "approximate"  # guaranteed: the interval holds by theorem

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

    def within(self, lower: float | None, upper: float | None) -> Estimate:
        """Return what is left inside a certified bracket of the same number.

        An end that is None is not known. If nothing is left, the interval missed: the
        bracket alone is told, or, if it is endless, the interval moved to its end.
        """
        least = -inf if lower is None else lower
        most = inf if upper is None else upper
        if not least <= most:
            raise InvalidArgument(
                f"a bracket from {lower} to {upper}", hint="its ends are swapped"
            )
        low, high = max(self.lower, least), min(self.upper, most)
        if low > high:
            wide = self.upper - self.lower
            low = least if isfinite(least) else most - wide
            high = most if isfinite(most) else least + wide
        middle = min(max(self.estimate, low), high)
        return replace(self, estimate=middle, lower=low, upper=high)

    def changed(self, factor: float, offset: float = 0.0) -> Estimate:
        """Return the estimate of factor times the number plus an offset."""
        ends = [factor * end + offset for end in (self.lower, self.upper)]
        error = self.standard_error
        return replace(
            self,
            estimate=factor * self.estimate + offset,
            lower=min(ends),
            upper=max(ends),
            standard_error=None if error is None else abs(factor) * error,
        )


def greatest_of(
    found: Sequence[Estimate], confidence: float, what: str = "models"
) -> Estimate:
    """Return the greatest of several numbers whose intervals hold at once.

    The standard error is that of the number that was greatest.
    """
    most = max(found, key=lambda each: each.estimate)
    return replace(
        most,
        lower=max(each.lower for each in found),
        upper=max(each.upper for each in found),
        confidence=confidence,
        method=f"greatest of {len(found)} {what} at once, {most.method}",
        label=common_label(found),
    )


def common_label(found: Sequence[Estimate]) -> Label:
    """Return what holds of numbers made of several: guaranteed only if all are."""
    sure = all(each.label == "guaranteed" for each in found)
    return "guaranteed" if sure else "approximate"
