"""Plain NumPy and Python for what simgap computes: twins to measure its speed against.

They do the same work in the shortest code that a careful person would write first.
"""

from __future__ import annotations

import numpy as np

from simgap.answers.identify.shared_paths import SharedPaths
from simgap.arrays import FloatArray
from simgap.mdp import SimulatorClass


def greatest_l1(simulators: SimulatorClass) -> FloatArray:
    """Return the greatest L1 distances of models in NumPy, one (s, a) at a time."""
    kernel, members = simulators.transitions, len(simulators)
    best = np.zeros((members, members))
    for begin, end in zip(kernel.indptr[:-1], kernel.indptr[1:], strict=True):
        rows = kernel.values[:, begin:end]
        for i in range(members):
            apart = np.abs(rows - rows[i]).sum(axis=1)
            np.maximum(best[i], apart, out=best[i])
    return best


def affinities(paths: SharedPaths, sweeps: int) -> FloatArray:
    """Return the least affinity of two models after so many sweeps in NumPy."""
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    for n in range(sweeps):
        rows = np.add.reduceat(paths.shared * values[paths.indices], paths.indptr[:-1])
        values = np.minimum.reduceat(rows, paths.groups[:-1])
        series[n] = paths.start @ values
    return series
