"""Long sequences of independent points at one scale, found greedily.

A pair of functions is alive while its distance over the chosen points is at most the
scale; a point is independent of them if it shows some living pair farther apart than
the scale. Comparisons leave a little room, so that they also hold without rounding. A
pair that shows a point ends there whatever the squares say, which may underflow: so no
point comes twice.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray

_ROOM = 1e-12


@kernel(allocates=True)
def first_fit(
    values: FloatArray,
    order: OffsetArray,
    scale: float,
    resolution: float,
    points: OffsetArray,
) -> int:
    """Write every point that is independent when its turn comes; return how many."""
    first, second, squares = _all_pairs(values.shape[1])
    alive, chosen = first.size, 0
    beyond = (scale + resolution) * (1.0 + _ROOM)
    for x in order:
        for p in range(alive):
            if abs(values[x, first[p]] - values[x, second[p]]) > beyond:
                points[chosen] = x
                chosen += 1
                alive = _absorb(values, x, scale, first, second, squares, alive)
                break
    return chosen


@kernel(allocates=True)
def least_harm(
    values: FloatArray,
    order: OffsetArray,
    scale: float,
    resolution: float,
    points: OffsetArray,
) -> int:
    """Write the independent points that end the fewest pairs, one after another.

    Returns how many. A point once dependent stays so.
    """
    first, second, squares = _all_pairs(values.shape[1])
    alive, chosen = first.size, 0
    beyond = (scale + resolution) * (1.0 + _ROOM)
    most = scale * scale * (1.0 - _ROOM)
    candidates = order.copy()
    left = candidates.size
    while left > 0:
        best, least = -1, alive + 1
        kept = 0
        for at in range(left):
            x = candidates[at]
            shown, ended = False, 0
            for p in range(alive):
                apart = abs(values[x, first[p]] - values[x, second[p]])
                if apart > beyond:
                    shown = True
                if squares[p] + apart * apart > most:
                    ended += 1
                if shown and ended >= least:
                    break
            if shown:
                if ended < least:
                    best, least = kept, ended
                candidates[kept] = x
                kept += 1
        left = kept
        if best < 0:
            break
        x = candidates[best]
        points[chosen] = x
        chosen += 1
        alive = _absorb(values, x, scale, first, second, squares, alive)
    return chosen


@kernel(allocates=True)
def _all_pairs(functions: int) -> tuple[IndexArray, IndexArray, FloatArray]:
    count = functions * (functions - 1) // 2
    first, second = np.empty(count, np.int32), np.empty(count, np.int32)
    at = 0
    for i in range(functions - 1):
        for j in range(i + 1, functions):
            first[at] = i
            second[at] = j
            at += 1
    return first, second, np.zeros(count)


@kernel
def _absorb(
    values: FloatArray,
    x: int,
    scale: float,
    first: IndexArray,
    second: IndexArray,
    squares: FloatArray,
    alive: int,
) -> int:
    """Add a point to the distances of living pairs; drop those that end."""
    most = scale * scale * (1.0 - _ROOM)
    kept = 0
    for p in range(alive):
        apart = abs(values[x, first[p]] - values[x, second[p]])
        total = squares[p] + apart * apart
        if apart <= scale and total <= most:
            first[kept] = first[p]
            second[kept] = second[p]
            squares[kept] = total
            kept += 1
    return kept
