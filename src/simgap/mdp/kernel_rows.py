"""Rows of a kernel from dense arrays and lists of edges.

A kernel leaves here as CSR over rows s * A + a: offsets, successors in increasing
order, probabilities; without zeros, and with repeated edges added up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.errors import InvalidModel
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.validation import as_floats


def csr_of_dense(kernel: FloatArray) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return the rows of a dense (S A, S) kernel."""
    used = kernel != 0.0  # NaN and negative entries stay, so that they are refused
    lengths = used.sum(axis=1)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return indptr, np.nonzero(used)[1].astype(np.int32), kernel[used]


def csr_of_sorted(
    rows: OffsetArray,
    after: OffsetArray,
    weights: FloatArray,
    n_rows: int,
    n_states: int,
) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return the rows of edges sorted by row and successor."""
    keep = weights != 0.0
    rows, after, weights = rows[keep], after[keep], weights[keep]
    fresh = np.ones(rows.size, np.bool_)
    fresh[1:] = (rows[1:] != rows[:-1]) | (after[1:] != after[:-1])
    first = np.flatnonzero(fresh)
    summed = np.add.reduceat(weights, first) if first.size else weights
    indptr = np.searchsorted(rows[first], np.arange(n_rows + 1)).astype(np.int64)
    return indptr, after[first].astype(np.int32), summed


def without_zeros(model: TabularMDP) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return the rows of one model without the zeros of a shared pattern."""
    kernel = model.transitions
    used = kernel.values[0] != 0.0
    if used.all():
        return kernel.indptr, kernel.indices, kernel.values[0]
    kept = np.concatenate([[0], np.cumsum(used)])
    return kept[kernel.indptr], kernel.indices[used], kernel.values[0][used]


def checked_edges(
    edges: npt.ArrayLike, probabilities: npt.ArrayLike, limits: tuple[int, ...]
) -> tuple[OffsetArray, FloatArray]:
    """Return edges (n, 4) and their probabilities, or raise naming the bad one."""
    table, weights = np.asarray(edges), as_floats(probabilities, "probabilities")
    if table.ndim != 2 or table.shape[1] != 4 or table.dtype.kind not in "iu":
        raise InvalidModel(
            f"edges have shape {table.shape} and type {table.dtype}",
            hint="edges are whole numbers (n, 4): model, state, action, next state",
        )
    if weights.shape != (len(table),):
        raise InvalidModel(
            f"{len(table)} edges and probabilities of shape {weights.shape}",
            hint="give one probability per edge",
        )
    columns = ("model", "state", "action", "next state")
    for column, (what, limit) in enumerate(zip(columns, limits, strict=True)):
        outside = (table[:, column] < 0) | (table[:, column] >= limit)
        if outside.any():
            at = int(np.argmax(outside))
            raise InvalidModel(
                f"edge {at} names {what} {table[at, column]}",
                hint=f"{what}s are numbered 0 to {limit - 1}",
            )
    wrong = ~(np.isfinite(weights) & (weights >= 0.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        m, s, a, t = (int(i) for i in table[at])
        raise InvalidModel(
            f"edge {at} (model {m}, s={s}, a={a}, s'={t}) has probability "
            f"{weights[at]}",
            hint="probabilities lie between 0 and 1",
        )
    return table.astype(np.int64), weights
