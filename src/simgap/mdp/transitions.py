"""How the kernels of a class are stored: one sparsity pattern, a block of values.

Row `s * n_actions + a` of the pattern lists the next states that are possible after
(s, a) in *some* model; where one of them is impossible in a model, this model stores a
zero. Solvers read these arrays directly, for one model or for all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned, read_only
from simgap.errors import InvalidArgument, InvalidModel
from simgap.intervals import row_defects
from simgap.mdp.asked_once import asked_once

DENSE_FROM = 1.0 / 3.0  # above this density a matrix product beats a sparse sweep


@final
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Transitions:
    """P of M models over S states and A actions."""

    n_states: int
    n_actions: int
    indptr: OffsetArray  # (S * A + 1,)
    indices: IndexArray  # (nnz,), increasing within a row
    values: FloatArray  # (M, nnz)

    def __post_init__(self) -> None:
        object.__setattr__(self, "indptr", read_only(self.indptr, np.int64))
        object.__setattr__(self, "indices", read_only(self.indices, np.int32))
        object.__setattr__(self, "values", read_only(self.values))
        rows = self.n_states * self.n_actions
        if self.indptr.shape != (rows + 1,):
            raise InvalidModel(
                f"indptr has shape {self.indptr.shape}, {self.n_states} states and "
                f"{self.n_actions} actions need ({rows + 1},)",
                hint="row s * n_actions + a starts at indptr[row]",
            )
        if self.values.ndim != 2 or self.values.shape[1] != self.indices.size:
            raise InvalidModel(
                f"values have shape {self.values.shape}, indices "
                f"{self.indices.shape}: one column of values per index is needed",
                hint="values are (models, nonzeros)",
            )

    @property
    def n_models(self) -> int:
        return int(self.values.shape[0])

    @property
    def nonzeros(self) -> int:
        """Entries of the shared pattern (in the dense form: all of them)."""
        return int(self.indices.size)

    @property
    def dense(self) -> bool:
        return self.nonzeros == self.n_states * self.n_actions * self.n_states

    @property
    def nbytes(self) -> int:
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    @property
    def longest_row(self) -> int:
        """The most entries of a row of the pattern."""
        return _longest_row(self)

    @property
    def row_defects(self) -> FloatArray:
        """The most that a row's sum can be from 1, per model, (M,)."""
        return _row_defects(self)

    def model(self, member: int) -> Transitions:
        """Return one model; it shares the memory of the class."""
        return self if self.n_models == 1 else _model(self, member)

    def row(
        self, member: int, state: int, action: int
    ) -> tuple[IndexArray, FloatArray]:
        """Return the successors of (state, action) and their probabilities."""
        at = state * self.n_actions + action
        begin, end = self.indptr[at], self.indptr[at + 1]
        return self.indices[begin:end], self.values[member, begin:end]

    def probability(self, member: int, state: int, action: int, after: int) -> float:
        """Return P_m(after | state, action)."""
        if not (0 <= state < self.n_states and 0 <= action < self.n_actions):
            raise InvalidArgument(
                f"there is no pair (s={state}, a={action})",
                hint=f"there are {self.n_states} states and {self.n_actions} actions",
            )
        successors, probabilities = self.row(member, state, action)
        at = int(np.searchsorted(successors, after))
        found = at < successors.size and successors[at] == after
        return float(probabilities[at]) if found else 0.0

    def array(self, member: int) -> FloatArray:
        """Return one model as a new (S, A, S) array."""
        shape = (self.n_states * self.n_actions, self.n_states)
        full: FloatArray = np.zeros(shape)
        rows = np.repeat(np.arange(shape[0]), np.diff(self.indptr))
        full[rows, self.indices] = self.values[member]
        return full.reshape(self.n_states, self.n_actions, self.n_states)


@asked_once
def _longest_row(kernel: Transitions) -> int:
    return int(np.diff(kernel.indptr).max())


@asked_once
def _row_defects(kernel: Transitions) -> FloatArray:
    defects: FloatArray = owned(row_defects(kernel.indptr, kernel.values))
    return defects


@asked_once
def _model(kernel: Transitions, member: int) -> Transitions:
    chosen = kernel.values[member : member + 1]
    return Transitions(
        kernel.n_states, kernel.n_actions, kernel.indptr, kernel.indices, chosen
    )
