"""Rows that do not sum to 1, for sweeps that read them as they are stored.

A row that sums to 1 + d adds d h to R + P h - h. Where h is large, that is much more
than dividing rows by their sums changes: it belongs to the noise of a sweep.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.intervals import EPS

SPARE = 2  # units that the noise of all sweeps has room for


def units_off(indptr: OffsetArray, values: FloatArray) -> int:
    """Return how many units of rounding a row's sum is off, or 0 if it is within."""
    sums = np.add.reduceat(values, indptr[:-1], axis=-1)
    units = int(np.ceil(np.abs(sums - 1.0).max() / EPS))
    return units if units > SPARE else 0
