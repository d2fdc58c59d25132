"""All pairs of models compared row by row: L1 and Hellinger distances.

Models are the lanes: the innermost loop runs over second models, so that it has no sum
across lanes and the compiler can use wide registers without reordering anything.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray, IndexArray, OffsetArray

_TINY = 1e-300  # keeps 0 / 0 away where both models give a successor nothing


@kernel(allocates=True, divides_by_zero=True)
def compare_models(
    indptr: OffsetArray,
    values: FloatArray,
    tie: float,
    distance: FloatArray,
    distance_row: IndexArray,
    total: FloatArray,
    hellinger: FloatArray,
    hellinger_row: IndexArray,
    affinity: FloatArray,
) -> None:
    """Write, for i < j, the greatest distances over rows, where, and the L1 total.

    All outputs are (M, M), before the call 0, rows -1 and affinity 1. A row replaces
    an earlier one only if it is farther by a factor above 1 + tie. The squared
    Hellinger distance is the half sum of ((p - q) / (sqrt p + sqrt q))^2, which keeps
    its digits when p and q are close; affinity is the sum of sqrt(p q) at the same row,
    which keeps them when it is small.
    """
    members = values.shape[0]
    longest = 0
    for row in range(indptr.size - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    part = np.empty((longest, members))
    root = np.empty((longest, members))
    l1 = np.empty(members)
    half = np.empty(members)
    for row in range(indptr.size - 1):
        kept = 0  # successors on which the models differ
        for k in range(indptr[row], indptr[row + 1]):
            differ = False
            for m in range(members):
                p = values[m, k]
                part[kept, m] = p
                root[kept, m] = np.sqrt(p)
                if p != values[0, k]:
                    differ = True
            if differ:
                kept += 1
        if kept == 0:
            continue
        for i in range(members - 1):
            for j in range(i + 1, members):
                l1[j] = 0.0
                half[j] = 0.0
            for k in range(kept):
                p = part[k, i]
                r = root[k, i]
                for j in range(i + 1, members):
                    apart = p - part[k, j]
                    l1[j] += abs(apart)
                    step = apart / max(r + root[k, j], _TINY)
                    half[j] += 0.5 * (step * step)
            for j in range(i + 1, members):
                total[i, j] += l1[j]
                if l1[j] > distance[i, j] * (1.0 + tie):
                    distance[i, j] = l1[j]
                    distance_row[i, j] = row
                if half[j] > hellinger[i, j] * (1.0 + tie):
                    hellinger[i, j] = half[j]
                    hellinger_row[i, j] = row
    for i in range(members - 1):
        for j in range(i + 1, members):
            row = hellinger_row[i, j]
            if row >= 0:
                shared = 0.0
                for k in range(indptr[row], indptr[row + 1]):
                    shared += np.sqrt(values[i, k]) * np.sqrt(values[j, k])
                affinity[i, j] = shared
