"""Sixteen models, or sixteen states of one, side by side as wide kernels read them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.state_lanes import (
    StateLanes,
    count_wide_entries,
    fill_wide_rewards,
    fill_wide_rows,
    longest_rows,
)
from simgap.arrays import FloatArray, OffsetArray, aligned
from simgap.intervals import EPS
from simgap.mdp import SimulatorClass, Transitions, asked_once

WIDE_FROM = 3  # models from which 16 lanes pay, empty ones included
STORED_UP_TO = 4_000_000  # bytes of a class whose models are laid out once
SPARE = 2  # units that the noise of all sweeps has room for


def blocks(members: int) -> Iterator[range]:
    """Yield the models in runs of at most 16."""
    for first in range(0, members, LANES):
        yield range(first, min(first + LANES, members))


def side_by_side(every: SimulatorClass, block: range) -> tuple[FloatArray, FloatArray]:
    """Return kernels (nnz, 16) and rewards (S A, 16); unused lanes are zero."""
    kernel = every.transitions
    values = aligned((kernel.nonzeros, LANES))
    values[:, : len(block)] = kernel.values[block.start : block.stop].T
    rewards = aligned((kernel.n_states * kernel.n_actions, LANES))
    for lane, member in enumerate(block):
        rewards[:, lane] = rewards_of(every, member)
    return values, rewards


def rewards_of(every: SimulatorClass, member: int) -> FloatArray:
    """Return the rewards of one model by row s * A + a, (S A,)."""
    rewards: FloatArray = every.rewards[0 if every.shared_rewards else member]
    return rewards.reshape(-1)


def state_lanes(kernel: Transitions, member: int) -> StateLanes:
    """Return one model with its states side by side; small ones are laid out once."""
    if kernel.nbytes <= STORED_UP_TO:
        return _stored_lanes(kernel, member)
    return _lay_out(kernel, member)


def wide_rewards(wide: StateLanes, rewards: FloatArray, n_actions: int) -> FloatArray:
    """Return rewards (S A,) side by side."""
    out = np.empty((wide.begins.size - 1, LANES))
    fill_wide_rewards(wide, rewards, n_actions, out)
    return out


@asked_once
def _stored_lanes(kernel: Transitions, member: int) -> StateLanes:
    return _lay_out(kernel, member)


def _lay_out(kernel: Transitions, member: int) -> StateLanes:
    n_actions, indptr = kernel.n_actions, kernel.indptr
    longest = np.empty(kernel.n_states, np.int64)
    longest_rows(indptr, n_actions, longest)
    state = np.argsort(longest, kind="stable")
    lane = np.empty(kernel.n_states, np.int32)
    lane[state] = np.arange(kernel.n_states, dtype=np.int32)
    state = np.append(state, np.full(-kernel.n_states % LANES, state[-1]))
    begins = np.empty(state.size // LANES * n_actions + 1, np.int64)
    count_wide_entries(indptr, n_actions, state, begins)
    shape = int(begins[-1]), LANES
    wide = StateLanes(state, lane, begins, np.empty(shape, np.int32), np.empty(shape))
    indices = kernel.indices.view(np.uint32)
    fill_wide_rows(indptr, indices, kernel.values[member], n_actions, wide)
    return wide


def units_off(indptr: OffsetArray, values: FloatArray) -> int:
    """Return how many units of rounding a row's sum is off, or 0 if it is within."""
    sums = np.add.reduceat(values, indptr[:-1], axis=-1)
    units = int(np.ceil(np.abs(sums - 1.0).max() / EPS))
    return units if units > SPARE else 0
