"""Put models on one shared sparsity pattern, with little memory beyond the result."""

from __future__ import annotations

from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidModel
from simgap.mdp.transitions import DENSE_FROM, Transitions
from simgap.mdp.validation import normalise_rows


@final
class UnionPattern:
    """Collects the kernels of `members` models one by one, then freezes them.

    While all models have the pattern of the first, each one is written straight into
    the final block. A model with new successors widens the pattern, which copies the
    block once.
    """

    def __init__(self, n_states: int, n_actions: int, members: int) -> None:
        self._shape = (n_states, n_actions)
        self._filled = 0
        self._indptr: OffsetArray = np.zeros(n_states * n_actions + 1, np.int64)
        self._indices: IndexArray = np.zeros(0, np.int32)
        self._values: FloatArray = np.zeros((members, 0))
        self.repaired_rows = 0

    def add(self, indptr: OffsetArray, indices: IndexArray, values: FloatArray) -> None:
        """Add one model: CSR over rows s * A + a, indices increasing in each row."""
        if self._filled == self._values.shape[0]:
            raise InvalidModel(
                f"more than the announced {self._filled} models were added",
                hint="announce as many models as you add",
            )
        if not (
            np.array_equal(indptr, self._indptr)
            and np.array_equal(indices, self._indices)
        ):
            self._widen(indptr, indices)
        row = self._values[self._filled : self._filled + 1]
        if indices.size == self._indices.size:
            row[0] = values
        else:
            ours, theirs = self._keys(self._indptr, self._indices), None
            theirs = self._keys(indptr, indices)
            row[0, np.searchsorted(ours, theirs)] = values
        self._filled += 1
        self.repaired_rows += normalise_rows(self._indptr, row)

    def finish(self) -> Transitions:
        """Return the frozen kernels; dense if the pattern is nearly full anyway."""
        if self._filled != self._values.shape[0]:
            raise InvalidModel(
                f"{self._filled} models were added, {self._values.shape[0]} announced",
                hint="announce as many models as you add",
            )
        n_states, n_actions = self._shape
        cells = n_states * n_actions * n_states
        if DENSE_FROM * cells <= self._indices.size < cells:
            rows = n_states * n_actions
            everywhere = np.tile(np.arange(n_states, dtype=np.int32), rows)
            self._widen(np.arange(rows + 1, dtype=np.int64) * n_states, everywhere)
        return Transitions(
            n_states,
            n_actions,
            owned(self._indptr),
            owned(self._indices),
            owned(self._values),
        )

    def _keys(self, indptr: OffsetArray, indices: IndexArray) -> OffsetArray:
        rows = np.repeat(np.arange(indptr.size - 1, dtype=np.int64), np.diff(indptr))
        keys: OffsetArray = rows * self._shape[0] + indices
        return keys

    def _widen(self, indptr: OffsetArray, indices: IndexArray) -> None:
        if self._filled == 0:
            self._indptr = np.array(indptr, np.int64)
            self._indices = np.array(indices, np.int32)
            self._values = np.zeros((self._values.shape[0], indices.size))
            return
        ours = self._keys(self._indptr, self._indices)
        union = np.union1d(ours, self._keys(indptr, indices))
        if union.size == ours.size:
            return
        at = np.searchsorted(union, ours)
        wider: FloatArray = np.zeros((self._values.shape[0], union.size))
        wider[: self._filled, at] = self._values[: self._filled]
        rows = union // self._shape[0]
        self._indptr = np.searchsorted(rows, np.arange(self._indptr.size))
        self._indices = (union % self._shape[0]).astype(np.int32)
        self._values = wider
