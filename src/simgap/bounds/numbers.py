"""Checks of the numbers that bounds are given; every refusal names the number."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan

import numpy as np

from simgap.arrays import FloatArray, read_only
from simgap.errors import InvalidArgument

LONGEST = 10**15  # steps: doubles still tell horizons apart


def whole(name: str, value: int, *, least: int = 1, most: int = LONGEST) -> int:
    """Return a whole number between two others, or raise."""
    good = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not good or not least <= value <= most:
        raise InvalidArgument(
            f"{name} is {value!r}", hint=f"give a whole number from {least} to {most:g}"
        )
    return int(value)


def real(
    name: str,
    value: float,
    *,
    least: float = 0.0,
    most: float = inf,
    above: bool = False,
) -> float:
    """Return a number from `least` to `most` (above `least` if so asked), or raise.

    Infinity is a number here: a diameter can be infinite.
    """
    good = isinstance(value, (int, float, np.integer, np.floating))
    if not good or isnan(value) or not least <= value <= most:
        raise InvalidArgument(
            f"{name} is {value!r}", hint=f"give a number from {least:g} to {most:g}"
        )
    if above and value == least:
        raise InvalidArgument(f"{name} is {value!r}", hint=f"it is above {least:g}")
    return float(value)


def widths(name: str, values: Sequence[float] | FloatArray) -> FloatArray:
    """Return one finite number per model, none negative, (M,)."""
    given: FloatArray = read_only(values)
    if given.ndim != 1 or given.size == 0:
        raise InvalidArgument(
            f"{name} have shape {given.shape}", hint="give one number per model"
        )
    for at, value in enumerate(given):
        if not isfinite(value) or value < 0.0:
            raise InvalidArgument(
                f"{name} of model {at} is {float(value)!r}",
                hint="it is finite and not negative; without a finite diameter there "
                "is no bias",
            )
    return given
