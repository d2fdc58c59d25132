"""Expected travel times: sweeps with a two-sided certificate.

For unit costs and any V > 0 off the target with V(target) = 0, let r = TV - V off the
target. Since T(cV) = cTV + 1 - c, we have V / (1 - min r) <= V* <= V / (1 - max r), the
second if max r < 1. Rescaling V by 1 / (1 - mid r) removes the slowest mode.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from simgap._kernels.lanes import LANES, ordered_travel_step, travel_step
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray

EPS = 2.0**-52

# How a block of targets ended
SOLVED, PRUNED, SLOW = 0, 1, 2


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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
    scale = np.ones(LANES)
    low = np.empty(LANES)
    high = np.empty(LANES)
    peak = np.empty(LANES)
    special = np.zeros(n_states, np.bool_)
    for lane in range(LANES):
        special[targets[lane]] = True
    rounding = (longest_row + 6) * EPS
    early = np.inf
    for sweep in range(1, 2 * patience + 2):
        for lane in range(LANES):
            low[lane] = np.inf
            high[lane] = -np.inf
            peak[lane] = 0.0
        for state in range(n_states):
            if special[state]:
                _travel_step_at_target(
                    indptr, indices, values, n_actions, targets, now, state, scale,
                    after, low, high, peak,
                )  # fmt: skip
            else:
                travel_step(
                    indptr, indices, values, state * n_actions, n_actions, now, state,
                    scale, after, low, high, peak,
                )  # fmt: skip
        width = 0.0
        hopeless = True
        for lane in range(LANES):
            noise = rounding * (peak[lane] + 2.0)
            below = 1.0 - low[lane] + noise
            above = 1.0 - high[lane] - noise
            bounds[0, lane] = scale[lane] / below
            bounds[1, lane] = scale[lane] / above if above > 0.0 else np.inf
            bounds[2, lane] = peak[lane] / scale[lane]
            ratio = below / above - 1.0 if above > 0.0 else np.inf
            width = max(width, ratio)
            if bounds[1, lane] * bounds[2, lane] >= prune_below:
                hopeless = False
        if width <= tolerance:
            if sweep % 2 == 0:
                after[:] = now  # hand the certified vectors back where they came from
            return SOLVED
        if hopeless:
            return PRUNED
        if sweep == patience // 4:
            early = width
        if sweep == patience // 2:
            if not early < np.inf or width >= early:
                return SLOW
            rate = np.log(width / early) / (patience // 2 - patience // 4)
            if np.log(tolerance / width) / rate > patience:
                return SLOW
        for lane in range(LANES):
            middle = 0.5 * (low[lane] + high[lane])
            scale[lane] = 1.0 / (1.0 - middle) if middle < 1.0 else 1.0
        now, after = after, now
    return SLOW


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _travel_step_at_target(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    targets: OffsetArray,
    now: FloatArray,
    state: int,
    scale: FloatArray,
    after: FloatArray,
    low: FloatArray,
    high: FloatArray,
    peak: FloatArray,
) -> None:
    for lane in range(LANES):
        if targets[lane] == state:
            after[state, lane] = 0.0
            continue
        best = np.inf
        for row in range(state * n_actions, (state + 1) * n_actions):
            total = 0.0
            for k in range(indptr[row], indptr[row + 1]):
                total += values[k] * now[indices[k], lane]
            best = min(best, total)
        here = scale[lane] * now[state, lane]
        after[state, lane] = 1.0 + scale[lane] * best
        change = after[state, lane] - here
        low[lane] = min(low[lane], change)
        high[lane] = max(high[lane], change)
        peak[lane] = max(peak[lane], here)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def ordered_travel_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
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

    The kernel given has no diagonal; `inverse` has 1 / (chance to leave) by row.
    `order` lists all states. On return bounds[0] * times <= V* <= bounds[1] * times;
    bounds[2] has the greatest entry of each column of times (S, 16).
    """
    n_states = times.shape[0]
    special = np.zeros(n_states, np.bool_)
    for lane in range(LANES):
        special[targets[lane]] = True
    early = np.inf
    early_sweep = 0
    gap = 4
    until = 4
    for sweep in range(1, 2 * patience + 2):
        for state in order:
            ordered_travel_step(
                indptr, indices, values, state * n_actions, n_actions, times, state,
                inverse,
            )  # fmt: skip
            if special[state]:
                for lane in range(LANES):
                    if targets[lane] == state:
                        times[state, lane] = 0.0
        if sweep < until:
            continue
        gap = min(gap + 2, 16)
        until = sweep + gap
        travel_certificate(
            indptr, indices, values, n_actions, order, targets, special,
            longest_row, times, bounds,
        )  # fmt: skip
        width = 0.0
        hopeless = True
        for lane in range(LANES):
            width = max(width, bounds[1, lane] / bounds[0, lane] - 1.0)
            if bounds[1, lane] * bounds[2, lane] >= prune_below:
                hopeless = False
        if width <= tolerance:
            return SOLVED
        if hopeless:
            return PRUNED
        if width < np.inf:
            middle = 0.5 * (bounds[0] + bounds[1])
            for state in range(n_states):
                for lane in range(LANES):
                    times[state, lane] *= middle[lane]
        if sweep >= patience // 4 and early_sweep == 0:
            early = width
            early_sweep = sweep
        elif early_sweep > 0 and sweep >= patience // 2:
            if not early < np.inf or width >= early:
                return SLOW
            rate = np.log(width / early) / (sweep - early_sweep)
            if np.log(tolerance / width) / rate > patience:
                return SLOW
    return SLOW


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def travel_certificate(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    order: OffsetArray,
    targets: OffsetArray,
    special: BoolArray,
    longest_row: int,
    times: FloatArray,
    bounds: FloatArray,
) -> None:
    """Write the multiples of `times` that bound V*, and its greatest entries.

    TV - V is summed as 1 + sum p (V(s') - V(s)), whose rounding error is that of
    the differences, not of V itself.
    """
    low = np.full(LANES, np.inf)
    high = np.full(LANES, -np.inf)
    peak = np.zeros(LANES)
    least = np.empty(LANES)
    change = np.empty(LANES)
    size = np.empty(LANES)
    widest = np.empty(LANES)
    for state in order:
        least[:] = np.inf
        widest[:] = 0.0
        for row in range(state * n_actions, (state + 1) * n_actions):
            change[:] = 1.0
            size[:] = 1.0
            for k in range(indptr[row], indptr[row + 1]):
                after = indices[k]
                weight = values[k]
                for lane in range(LANES):
                    term = weight * (times[after, lane] - times[state, lane])
                    change[lane] += term
                    size[lane] += abs(term)
            for lane in range(LANES):
                least[lane] = min(least[lane], change[lane])
                widest[lane] = max(widest[lane], size[lane])
        for lane in range(LANES):
            if not (special[state] and targets[lane] == state):
                noise = (longest_row + 4) * EPS * widest[lane]
                low[lane] = min(low[lane], least[lane] - noise)
                high[lane] = max(high[lane], least[lane] + noise)
                peak[lane] = max(peak[lane], times[state, lane])
    for lane in range(LANES):
        bounds[0, lane] = 1.0 / (1.0 - low[lane])
        bounds[1, lane] = 1.0 / (1.0 - high[lane]) if high[lane] < 1.0 else np.inf
        bounds[2, lane] = peak[lane]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def greedy_travel_policy(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    n_actions: int,
    target: int,
    times: FloatArray,
    policy: IndexArray,
) -> None:
    """Write the first action within rounding of the least 1 + P times, state by state."""
    for state in range(times.size):
        best = np.inf
        chosen = 0
        if state != target:
            for action in range(n_actions):
                row = state * n_actions + action
                total = 0.0
                for k in range(indptr[row], indptr[row + 1]):
                    if values[k] > 0.0:  # 0 * inf is not a number
                        total += values[k] * times[indices[k]]
                if total < best - 1e-12 * abs(total):
                    best = total
                    chosen = action
        policy[state] = chosen
