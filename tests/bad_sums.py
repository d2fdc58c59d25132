"""Means whose sums round in one direction: every addition loses almost half a unit.

A mean of n = 2^k equal numbers 1/2 + d adds terms 2^-k (1/2 + d). With 2^-k d at 0.49
units of the last place of a running sum, each addition is rounded down and the errors
never cancel: a thousand terms are off by thirty units of the result, where sums of
random numbers are off by one. `lanes` says how many running sums there are, up to
powers of two: compilers choose.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simgap.arrays import FloatArray

LANES = range(1, 6)


def bad_numbers(k: int) -> list[float]:
    """Return numbers of which a mean of 2^k has a bad sum, one for each way to add."""
    return [0.5 + 0.49 * 2.0 ** (k - 54 - lanes) for lanes in LANES]


def law(k: int) -> FloatArray:
    """Return the uniform law of 2^k numbers; its entries and its sum are exact."""
    return np.full(2**k, 2.0**-k)


def encloses(ends: tuple[float, float] | FloatArray, truth: Fraction) -> bool:
    """Return whether a number lies between two floats, without any tolerance."""
    return Fraction(float(ends[0])) <= truth <= Fraction(float(ends[1]))
