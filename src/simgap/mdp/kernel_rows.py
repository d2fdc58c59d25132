"""Rows of a kernel from dense arrays, scipy matrices and lists of edges.

A kernel leaves here as CSR over rows s * A + a: offsets, successors in increasing
order, probabilities; without zeros, and with repeated edges added up.
"""

from __future__ import annotations

from typing import Any

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


def csr_of_sparse(kernel: Any) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return the rows of a scipy CSR kernel (S A, S), which may be changed in place."""
    if (kernel.data < 0.0).any():  # adding up duplicates could hide it
        row = int(np.searchsorted(kernel.indptr, np.argmax(kernel.data < 0.0), "right"))
        raise _negative_entry(row - 1)
    kernel.sum_duplicates()
    kernel.sort_indices()
    kernel.eliminate_zeros()
    return kernel.indptr.astype(np.int64), kernel.indices, kernel.data


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


def stacked_rows(kernel: Any) -> Any:
    """Return a kernel as one scipy CSR matrix (S A, S), given whole or by action."""
    from scipy import sparse

    if isinstance(kernel, (list, tuple)):
        blocks = [_as_csr(block) for block in kernel]
        square = (blocks[0].shape[0],) * 2 if blocks else ()
        if not blocks or any(block.shape != square for block in blocks):
            raise InvalidModel(
                f"sparse kernel has blocks of shapes {[b.shape for b in blocks]}",
                hint="give one (S, S) matrix per action",
            )
        n_states, n_actions = blocks[0].shape[0], len(blocks)
        tall = sparse.vstack(blocks, format="csr")
        order = np.arange(n_states * n_actions).reshape(n_actions, n_states).T.ravel()
        return tall[order]
    if not sparse.issparse(kernel):
        raise InvalidModel(
            f"a sparse kernel is needed, got {type(kernel).__name__}",
            hint="dense arrays go to mdp_from_arrays or class_from_arrays",
        )
    return _as_csr(kernel)


def _as_csr(matrix: Any) -> Any:
    from scipy import sparse

    if getattr(matrix, "format", "") == "coo" and (matrix.data < 0.0).any():
        # the conversion adds up duplicates, which could hide it
        raise _negative_entry(int(matrix.row[np.argmax(matrix.data < 0.0)]))
    return sparse.csr_array(matrix, dtype=np.float64, copy=True)


def _negative_entry(row: int) -> InvalidModel:
    return InvalidModel(
        f"row {row} of a sparse kernel has a negative entry",
        hint="probabilities lie between 0 and 1; row s * A + a belongs to (s, a)",
    )


def actions_of(shape: tuple[int, int], n_states: int) -> int:
    """Return how many actions a stacked kernel has."""
    if n_states == 0 or shape[0] == 0 or shape[0] % n_states:
        raise InvalidModel(
            f"a sparse kernel of shape {shape} is not (states * actions, states)",
            hint="row s * A + a belongs to (s, a)",
        )
    return shape[0] // n_states


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
