"""The checks every builder makes of its arguments; each refusal says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, prod
from typing import final

import numpy as np

from simgap.errors import InvalidInstance

Points = float | Sequence[float]  # one value of a model parameter, or several

MOST_STATES = 1_000_000
MOST_MEMBERS = 10_000
MOST_NUMBERS = 200_000_000  # probabilities in all models together, 1.6 GB


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number may lie; an open end is excluded."""

    low: float = 0.0
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def __str__(self) -> str:
        if self.high == inf:
            return f"a number {'above' if self.low_open else 'from'} {self.low:g}" + (
                "" if self.low_open else " on"
            )
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"in {left}{self.low:g}, {self.high:g}{right}"


PROBABILITY = Interval(0.0, 1.0)
POSITIVE_PROBABILITY = Interval(0.0, 1.0, low_open=True)


def checked_number(name: str, given: float, allowed: Interval) -> float:
    """Return a finite float inside the interval."""
    try:
        value = float(given)
    except (TypeError, ValueError) as error:
        raise InvalidInstance(
            f"{name} is {given!r}", hint=f"{name} is one number, {allowed}"
        ) from error
    if not isfinite(value) or value not in allowed:
        raise InvalidInstance(
            f"{name} is {value!r}", hint=f"{name} must be finite and {allowed}"
        )
    return value


def checked_points(name: str, given: Points, allowed: Interval) -> tuple[float, ...]:
    """Return the values of a model parameter; a single number is a list of one."""
    if isinstance(given, (int, float, np.floating, np.integer)):
        return (checked_number(name, float(given), allowed),)
    if len(given) == 0:
        raise InvalidInstance(
            f"{name} is {given!r}", hint=f"{name} is a number or a list of numbers"
        )
    if len(given) > MOST_MEMBERS:
        raise InvalidInstance(
            f"{name} has {len(given)} values",
            hint=f"at most {MOST_MEMBERS} models are built at once",
        )
    return tuple(checked_number(name, value, allowed) for value in given)


def checked_whole(
    name: str, given: int, *, least: int = 1, most: int = MOST_STATES
) -> int:
    """Return a whole number between two bounds."""
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, np.integer))
        or not least <= int(given) <= most
    ):
        raise InvalidInstance(
            f"{name} is {given!r}", hint=f"{name} is a whole number, {least} to {most}"
        )
    return int(given)


def checked_grid(axes: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Return a product grid, refusing one with too many models."""
    members = prod(len(points) for points in axes.values())
    if members > MOST_MEMBERS:
        sizes = ", ".join(f"{name}: {len(points)}" for name, points in axes.items())
        raise InvalidInstance(
            f"the grid has {members} points ({sizes})",
            hint=f"at most {MOST_MEMBERS} models are built at once",
        )
    return dict(axes)


def checked_remainder(what: str, *parts: float) -> float:
    """Return 1 minus the parts of a probability row, refusing a negative rest."""
    rest = 1.0 - sum(parts)
    if rest < -1e-12:  # rounding of the sum; more is a mistake
        shown = " + ".join(f"{part:g}" for part in parts)
        raise InvalidInstance(
            f"{what} = {shown} is above 1", hint="make one of them smaller"
        )
    return max(rest, 0.0)


def check_volume(what: str, numbers: int) -> None:
    """Raise if a class would hold more probabilities than fit in memory."""
    if numbers > MOST_NUMBERS:
        raise InvalidInstance(
            f"{what} would hold {numbers} probabilities",
            hint=f"at most {MOST_NUMBERS} are built; ask for fewer states or models",
        )
