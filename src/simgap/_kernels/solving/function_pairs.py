"""All pairs of functions compared on many points: sup distances, equal points.

Functions are the lanes of the innermost loops, as models are in `model_pairs`.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, OffsetArray


@kernel
def sup_distances(values: FloatArray, out: FloatArray) -> None:
    """Raise out (F, F), for i < j, to the greatest |f_i - f_j| over values (X, F)."""
    functions = values.shape[1]
    for x in range(values.shape[0]):
        for i in range(functions - 1):
            here = values[x, i]
            for j in range(i + 1, functions):
                out[i, j] = max(out[i, j], abs(here - values[x, j]))


@kernel(allocates=True)
def equal_points(
    values: FloatArray,
    base: FloatArray,
    order: OffsetArray,
    keys: FloatArray,
    window: float,
    tolerance: float,
    leader: OffsetArray,
) -> None:
    """Write for each point the first one that shows the same differences.

    Points x and y are the same if f(x) - base(x) = +-(f(y) - base(y)) within the
    tolerance, for one sign and all f. Their keys, increasing along `order`, are then
    within the window. A point is compared with few leaders: missing an equal one costs
    work later, not truth.
    """
    count, functions = values.shape
    recent = np.empty(32, np.int64)
    used = 0
    for at in range(count):
        x = order[at]
        leader[x] = x
        for back in range(min(used, recent.size)):
            y = recent[(used - 1 - back) % recent.size]
            if keys[x] - keys[y] > window:
                break
            plus = True
            minus = True
            for f in range(functions):
                here = values[x, f] - base[x]
                there = values[y, f] - base[y]
                if abs(here - there) > tolerance:
                    plus = False
                if abs(here + there) > tolerance:
                    minus = False
                if not plus and not minus:
                    break
            if plus or minus:
                leader[x] = y
                break
        if leader[x] == x:
            recent[used % recent.size] = x
            used += 1
