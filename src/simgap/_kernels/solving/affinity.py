"""What two models still share after n steps, each step chosen to lessen it."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap.arrays import FloatArray, IndexArray, OffsetArray


@kernel(allocates=True)
def least_affinity(
    groups: OffsetArray,
    indptr: OffsetArray,
    indices: IndexArray,
    shared: FloatArray,
    start: FloatArray,
    enough: float,
    values: FloatArray,
    series: FloatArray,
) -> int:
    """Replace values by min over rows of sum shared * values, series.size times.

    Place g has the rows groups[g] to groups[g + 1] - 1. The k-th sweep writes
    start . values to series[k]; the first that is at most `enough` is the last one.
    Returns how many sweeps there were.
    """
    places = values.size
    new = np.empty(places)
    for sweep in range(series.size):
        total = 0.0
        for place in range(places):
            least = np.inf
            for row in range(groups[place], groups[place + 1]):
                mass = 0.0
                for k in range(indptr[row], indptr[row + 1]):
                    mass += shared[k] * values[indices[k]]
                least = min(least, mass)
            new[place] = least
            total += start[place] * least
        copy_vector(new, values)
        series[sweep] = total
        if total <= enough:
            return sweep + 1
    return series.size
