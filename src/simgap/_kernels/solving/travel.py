"""Expected travel times: sweeps with a two-sided certificate.

For unit costs and any V > 0 off the target with V(target) = 0, let r = TV - V off the
target. Since T(cV) = cTV + 1 - c, we have V / (1 - min r) <= V* <= V / (1 - max r), the
second if max r < 1. Rescaling V by 1 / (1 - mid r) removes the slowest mode.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_table, copy_vector
from simgap._kernels.solving.lanes import (
    LANES,
    light_travel_step,
    ordered_travel_step,
    travel_step,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.intervals import EPS

# How a block of targets ended
SOLVED, PRUNED, SLOW = 0, 1, 2


@kernel(allocates=True)
def wide_travel_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    targets: OffsetArray,
    tolerance: float,
    patience: int,
    prune_below: float,
    longest_row: int,
    now: FloatArray,
    after: FloatArray,
    bounds: FloatArray,
) -> int:
    """Scaled Jacobi sweeps for 16 targets at once; return SOLVED, PRUNED or SLOW.

    `now` (S, 16) holds a positive start and, at the end, the vectors whose multiples
    bounds[0] * now <= V* <= bounds[1] * now are certified, rounding included.
    bounds[2] has the greatest entry of each column.
    """
    n_states = now.shape[0]
    scale = np.empty(LANES)
    scale[:] = 1.0
    low = np.empty(LANES)
    high = np.empty(LANES)
    peak = np.empty(LANES)
    special = np.zeros(n_states, np.bool_)
    for lane in range(LANES):
        special[targets[lane]] = True
    factor = np.empty(LANES)
    early = np.inf
    early_sweep = 0
    for sweep in range(1, 2 * patience + 2):
        if sweep % 4 != 0:
            for state in range(n_states):
                light_travel_step(
                    indptr, indices, values, state * n_actions, n_actions, now, state,
                    after,
                )  # fmt: skip
            for lane in range(LANES):
                after[targets[lane], lane] = 0.0
            now, after = after, now
            continue
        _jacobi_sweep(
            indptr, indices, values, n_actions, targets, special, now, scale, after,
            low, high, peak,
        )  # fmt: skip
        width, hopeless = _certificate(
            longest_row, scale, low, high, peak, prune_below, bounds
        )
        if width <= tolerance:
            if sweep % 2 == 0:
                copy_table(now, after)  # certified vectors go where they came from
            return SOLVED
        if hopeless:
            return PRUNED
        if early_sweep == 0 and sweep >= patience // 12:
            early = width
            early_sweep = sweep
        elif (
            early_sweep > 0
            and sweep >= patience // 6
            and too_slow(early, width, sweep - early_sweep, tolerance, patience)
        ):
            return SLOW
        for lane in range(LANES):
            middle = 0.5 * (low[lane] + high[lane])
            factor[lane] = 1.0 / (1.0 - middle) if middle < 1.0 else 1.0
        for state in range(n_states):
            for lane in range(LANES):
                after[state, lane] *= factor[lane]
        now, after = after, now
    return SLOW


@kernel
def too_slow(
    early: float, width: float, sweeps: float, tolerance: float, patience: float
) -> bool:
    """Return whether more than `patience` sweeps are left to reach the tolerance.

    The width was `early` so many sweeps ago, and is taken to fall at that rate.
    """
    if not early < np.inf or width >= early:
        return True
    rate = np.log(width / early) / sweeps
    return bool(np.log(tolerance / width) / rate > patience)


@kernel(allocates=True)
def ordered_travel_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    off_indptr: OffsetArray,
    off_indices: IndexArray,
    off_values: FloatArray,
    inverse: FloatArray,
    n_actions: int,
    order: OffsetArray,
    targets: OffsetArray,
    tolerance: float,
    patience: int,
    prune_below: float,
    longest_row: int,
    times: FloatArray,
    bounds: FloatArray,
) -> int:
    """Gauss-Seidel sweeps for 16 targets, nearest states first, self-loops removed.

    `off_*` is the kernel without its diagonal, `inverse` 1 / (chance to leave) by row.
    Every eighth sweep is followed by one over the whole kernel for the certificate;
    rescaling here would undo more than it gains. Result as in `wide_travel_sweeps`.
    """
    n_states = times.shape[0]
    special = np.zeros(n_states, np.bool_)
    for lane in range(LANES):
        special[targets[lane]] = True
    scale = np.empty(LANES)
    scale[:] = 1.0
    after = np.zeros((n_states, LANES))
    low = np.empty(LANES)
    high = np.empty(LANES)
    peak = np.empty(LANES)
    early = np.inf
    early_sweep = 0
    for sweep in range(1, 2 * patience + 2):
        for state in order:
            ordered_travel_step(
                off_indptr, off_indices, off_values, state * n_actions, n_actions,
                times, state, inverse,
            )  # fmt: skip
            if special[state]:
                for lane in range(LANES):
                    if targets[lane] == state:
                        times[state, lane] = 0.0
        if sweep % 8 != 0:
            continue
        _jacobi_sweep(
            indptr, indices, values, n_actions, targets, special, times, scale, after,
            low, high, peak,
        )  # fmt: skip
        width, hopeless = _certificate(
            longest_row, scale, low, high, peak, prune_below, bounds
        )
        if width <= tolerance:
            return SOLVED
        if hopeless:
            return PRUNED
        if sweep >= patience // 4 and early_sweep == 0:
            early = width
            early_sweep = sweep
        elif (
            early_sweep > 0
            and sweep >= patience // 2
            and too_slow(early, width, sweep - early_sweep, tolerance, patience)
        ):
            return SLOW
    return SLOW


@kernel(allocates=True)
def _jacobi_sweep(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    targets: OffsetArray,
    special: BoolArray,
    now: FloatArray,
    scale: FloatArray,
    after: FloatArray,
    low: FloatArray,
    high: FloatArray,
    peak: FloatArray,
) -> None:
    """Write T(scale * now) to `after` and what the certificate needs."""
    for lane in range(LANES):
        low[lane] = np.inf
        high[lane] = -np.inf
        peak[lane] = 0.0
    kept = np.empty((3, LANES))
    for state in range(now.shape[0]):
        if special[state]:
            copy_vector(low, kept[0])
            copy_vector(high, kept[1])
            copy_vector(peak, kept[2])
        travel_step(
            indptr, indices, values, state * n_actions, n_actions, now, state, scale,
            after, low, high, peak,
        )  # fmt: skip
        if special[state]:
            for lane in range(LANES):
                if targets[lane] == state:  # a target stays 0 and counts for nothing
                    after[state, lane] = 0.0
                    low[lane] = kept[0, lane]
                    high[lane] = kept[1, lane]
                    peak[lane] = kept[2, lane]


@kernel
def _certificate(
    longest_row: int,
    scale: FloatArray,
    low: FloatArray,
    high: FloatArray,
    peak: FloatArray,
    prune_below: float,
    bounds: FloatArray,
) -> tuple[float, bool]:
    """Write the certified factors; return the relative width and "all are easy"."""
    width = 0.0
    hopeless = True
    for lane in range(LANES):
        noise = (longest_row + 6) * EPS * (peak[lane] + 2.0)
        below = 1.0 - low[lane] + noise
        above = 1.0 - high[lane] - noise
        bounds[0, lane] = scale[lane] / below
        bounds[1, lane] = scale[lane] / above if above > 0.0 else np.inf
        bounds[2, lane] = peak[lane] / scale[lane]
        width = max(width, below / above - 1.0 if above > 0.0 else np.inf)
        if not bounds[1, lane] * bounds[2, lane] < prune_below:  # NaN too
            hopeless = False
    return width, hopeless


@kernel
def greedy_travel_policy(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    target: int,
    times: FloatArray,
    policy: IndexArray,
) -> None:
    """Write in every state the first action within 1e-9 steps of the fastest.

    Actions are compared by sum p (V(s') - V(s)): their difference may be one step out
    of very many.
    """
    for state in range(times.size):
        here = times[state]
        best = np.inf
        chosen = 0
        if state != target and here < np.inf:
            for action in range(n_actions):
                row = state * n_actions + action
                total = 0.0
                for k in range(indptr[row], indptr[row + 1]):
                    if values[k] > 0.0:  # 0 * inf is not a number
                        total += values[k] * (times[indices[k]] - here)
                if total < best - 1e-9:
                    best = total
                    chosen = action
        policy[state] = chosen
