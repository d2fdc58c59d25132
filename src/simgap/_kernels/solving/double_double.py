"""Advantages of all actions in twice the working precision.

When values are as large as 1e12, R + P h - h computed in doubles is noise. Here h is an
unevaluated sum of two doubles and so is every partial sum, with the error-free sum and
product of Knuth and Dekker: about 32 digits. No operation may be fused or reordered.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray

UNIT = 2.0**-98  # relative error of one double-double operation, with room
LEAST = 2.0**-1070  # what a product of floats may lose where it underflows, with room


@kernel
def exact_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b and what rounding took from it."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def exact_product(a: float, b: float) -> tuple[float, float]:
    """Return a * b and what rounding took from it."""
    product = a * b
    cut_a = 134217729.0 * a
    high_a = cut_a - (cut_a - a)
    low_a = a - high_a
    cut_b = 134217729.0 * b
    high_b = cut_b - (cut_b - b)
    low_b = b - high_b
    rest = low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )
    return product, rest


@kernel
def wide_sum(
    high: float, low: float, other_high: float, other_low: float
) -> tuple[float, float]:
    """Return the sum of two double-doubles."""
    total, rest = exact_sum(high, other_high)
    small, tail = exact_sum(low, other_low)
    total, rest = exact_sum(total, rest + small)
    total, rest = exact_sum(total, rest + tail)
    return total, rest


@kernel
def wide_advantages(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    high: FloatArray,
    low: FloatArray,
    out_high: FloatArray,
    out_low: FloatArray,
    noise: FloatArray,
) -> None:
    """Write R + sum p (h(s') - h(s)) of every row, and a bound on its rounding error.

    The kernel has no diagonal (`graph.without_self_loops`); h = high + low.
    """
    for row in range(indptr.size - 1):
        state = row // n_actions
        total = rewards[row]
        rest = 0.0
        size = abs(total)
        for k in range(indptr[row], indptr[row + 1]):
            after = indices[k]
            step, tail = wide_sum(high[after], low[after], -high[state], -low[state])
            term, error = exact_product(values[k], step)
            error += values[k] * tail
            total, rest = wide_sum(total, rest, term, error)
            size += abs(term)
        out_high[row] = total
        out_low[row] = rest
        terms = indptr[row + 1] - indptr[row]
        noise[row] = (terms + 2) * 4.0 * UNIT * size
        if size > 0.0:
            noise[row] += terms * LEAST


@kernel
def add_to_wide(high: FloatArray, low: FloatArray, change: FloatArray) -> None:
    """Add a vector of doubles to a vector of double-doubles, in place."""
    for i in range(high.size):
        high[i], low[i] = wide_sum(high[i], low[i], change[i], 0.0)


@kernel(allocates=True)
def minus_wide(
    high: FloatArray, low: FloatArray, other_high: float, other_low: float
) -> FloatArray:
    """Return high + low - (other_high + other_low), rounded to doubles."""
    out = np.empty(high.size)
    for i in range(high.size):
        total, rest = wide_sum(high[i], low[i], -other_high, -other_low)
        out[i] = total + rest
    return out
