"""The wide steps one lane and one entry at a time."""

from __future__ import annotations

from math import inf

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from tests.reference.kernel_rows import Stored, backup, entries

LANES = 16


def travel_step(
    stored: Stored,
    n_actions: int,
    block: FloatArray,
    state: int,
    scale: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return 1 + scale * min_a P block at one state, its change, and what it was."""
    after, now = np.zeros(LANES), np.zeros(LANES)
    for lane in range(LANES):
        best = min(
            backup(stored, row, 0.0, block[:, lane])
            for row in range(state * n_actions, (state + 1) * n_actions)
        )
        after[lane] = 1.0 + scale[lane] * best
        now[lane] = scale[lane] * block[state, lane]
    return after, after - now, now


def ordered_travel_step(
    stored: Stored, n_actions: int, block: FloatArray, state: int, inverse: FloatArray
) -> FloatArray:
    """Return min_a (1 + P block) * inverse at one state."""
    out = np.full(LANES, inf)
    for lane in range(LANES):
        for row in range(state * n_actions, (state + 1) * n_actions):
            total = backup(stored, row, 1.0, block[:, lane]) * inverse[row]
            out[lane] = min(out[lane], total)
    return out


def value_step(
    stored: Stored,
    lane_values: FloatArray,
    n_actions: int,
    block: FloatArray,
    state: int,
    rewards: FloatArray,
) -> FloatArray:
    """Return max_a rewards + P block, P and rewards different in every lane."""
    out = np.full(LANES, -inf)
    for lane in range(LANES):
        own = (stored[0], stored[1], lane_values[:, lane])
        for row in range(state * n_actions, (state + 1) * n_actions):
            total = float(rewards[row, lane])
            for after, p in entries(own, row):
                total += p * float(block[after, lane])
            out[lane] = max(out[lane], total)
    return out


def gathered_totals(
    begins: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    lanes: FloatArray,
    rewards: FloatArray,
) -> FloatArray:
    """Return rewards + P lanes of all wide rows, every lane with its own successors."""
    out = np.array(rewards)
    for row in range(len(rewards)):
        for lane in range(LANES):
            for k in range(begins[row], begins[row + 1]):
                out[row, lane] += values[k, lane] * lanes[indices[k, lane]]
    return out
