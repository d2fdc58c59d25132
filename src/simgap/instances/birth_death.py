"""Exact formulas of a chain 0..n-1 that moves at most one step at a time.

`up[i]` is the probability of i -> i+1 and `down[i]` that of i+1 -> i, for i < n-1.
The sums have only positive terms, so floats lose no digits. Where the true number is
too large for a float the result is inf, without a warning.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simgap.arrays import FloatArray


def climb_times(up: Sequence[float], down: Sequence[float]) -> FloatArray:
    """Return the expected steps from i to i+1: h_i = (1 + down h_{i-1}) / up."""
    times: list[float] = []
    for i, rate in enumerate(up):
        back = down[i - 1] * times[i - 1] if i else 0.0
        times.append((1.0 + back) / rate if rate > 0.0 else np.inf)
    return np.array(times)


def last_frequency(up: Sequence[float], down: Sequence[float]) -> float:
    """Return the stationary probability of state n-1: 1 / sum of prod down/up."""
    total, weight = 1.0, 1.0
    for rate, back in zip(reversed(up), reversed(down), strict=True):
        weight = weight * back / rate if rate > 0.0 else np.inf
        total += weight
    return 1.0 / total


def climb_bias(up: Sequence[float], down: Sequence[float], gain: float) -> FloatArray:
    """Return l with l(0) = 0 if only state n-1 pays: l(i+1) - l(i) = gain h_i."""
    steps = gain * climb_times(up, down)
    return np.concatenate([[0.0], np.cumsum(steps)])
