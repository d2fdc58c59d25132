"""A large class is built in little more memory than it occupies."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from scipy import sparse

from simgap.mdp import class_from_sparse

MEMBERS, STATES, ACTIONS, SUCCESSORS = 50, 10_000, 4, 5


class Streamed(Sequence[Any]):
    """Kernels made when asked for, so that only one exists at a time."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        rows = STATES * ACTIONS
        steps = np.sort(
            rng.integers(0, STATES // SUCCESSORS, (rows, SUCCESSORS)), axis=1
        )
        shift = np.arange(SUCCESSORS) * (STATES // SUCCESSORS)  # distinct, increasing
        self._indices = (steps + shift).astype(np.int32).ravel()
        self._indptr = np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS)

    def __len__(self) -> int:
        return MEMBERS

    @overload
    def __getitem__(self, member: int) -> Any: ...
    @overload
    def __getitem__(self, member: slice) -> Sequence[Any]: ...
    def __getitem__(self, member: int | slice) -> Any:
        if isinstance(member, slice) or not 0 <= member < MEMBERS:
            raise IndexError(member)
        rng = np.random.default_rng(member)
        weights = rng.integers(1, 8, (STATES * ACTIONS, SUCCESSORS)).astype(np.float64)
        weights /= weights.sum(axis=1, keepdims=True)
        shape = (STATES * ACTIONS, STATES)
        return sparse.csr_array((weights.ravel(), self._indices, self._indptr), shape)


def test_peak_memory_is_less_than_one_and_a_half_times_the_class() -> None:
    kernels = Streamed()
    rewards = np.zeros((STATES, ACTIONS))
    class_from_sparse([kernels[0]], rewards)  # imports scipy's lazy parts
    tracemalloc.start()
    try:
        simulators = class_from_sparse(kernels, rewards)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert simulators.transitions.nonzeros == STATES * ACTIONS * SUCCESSORS
    assert peak / simulators.nbytes < 1.5
