"""Least squares over a finite class, and the models near the best fit (theory 3.3).

Losses are summed from integer counts of edges in one order, rows and edges rising. Ties
of the fit go to the lowest index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.agents.importance import Pairs, of_pair
from simgap._kernels.compiled import kernel
from simgap.arrays import BoolArray, FloatArray, OffsetArray


class Models(NamedTuple):
    """Sums and sets over single models."""

    loss: FloatArray  # (M,), of least squares over Z
    carried: FloatArray  # (M,), over what Z_new holds from before k was chosen
    fresh: FloatArray  # (M,), over Z_new
    alive: BoolArray  # (M,), the confidence set


@kernel(allocates=True)
def no_models(members: int) -> Models:
    """Return room for M models."""
    return Models(
        np.zeros(members),
        np.zeros(members),
        np.zeros(members),
        np.ones(members, np.bool_),
    )


@kernel
def forget(pairs: Pairs, models: Models) -> None:
    """Empty Z and Z_new; all models are candidates."""
    for p in range(pairs.settled.size):
        pairs.settled[p] = 0.0
        pairs.carried[p] = 0.0
    for m in range(models.loss.size):
        models.loss[m] = 0.0
        models.carried[m] = 0.0
        models.alive[m] = True


@kernel
def add_losses(
    indptr: OffsetArray,
    rows: OffsetArray,
    counts: OffsetArray,
    before: OffsetArray,
    mean: FloatArray,
    outcome: FloatArray,
    models: Models,
) -> None:
    """Compute the loss of every model over Z_new."""
    for m in range(models.fresh.size):
        models.fresh[m] = models.carried[m]
    for s in range(rows.size):
        for e in range(indptr[rows[s]], indptr[rows[s] + 1]):
            n = counts[e] - before[e]
            if n > 0:
                for m in range(models.fresh.size):
                    off = mean[s, m] - outcome[e]
                    models.fresh[m] += n * (off * off)


@kernel
def merge(pairs: Pairs, models: Models, literal: bool) -> None:
    """Add Z_new to Z, and empty it unless the rule is the printed one (errata E20)."""
    for p in range(pairs.settled.size):
        pairs.settled[p] += pairs.fresh[p]
        pairs.carried[p] = pairs.fresh[p] if literal else 0.0
    for m in range(models.loss.size):
        models.loss[m] += models.fresh[m]
        models.carried[m] = models.fresh[m] if literal else 0.0


@kernel
def find_alive(settled: FloatArray, models: Models, radius: float) -> int:
    """Find the models near the best fit and return their number."""
    members = models.loss.size
    fit, alive = np.int64(0), 0
    for m in range(1, members):
        if models.loss[m] < models.loss[fit]:
            fit = np.int64(m)
    for m in range(members):
        models.alive[m] = of_pair(settled, members, fit, m) <= radius
        alive += models.alive[m]
    return alive
