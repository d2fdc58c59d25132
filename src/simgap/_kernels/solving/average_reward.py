"""Gain and bias by sweeps: value iteration whose inner sweeps follow one policy.

For any h, min (Th - h) <= rho* <= max (Th - h) over states in a communicating model:
that is the certificate. The step h += tau (Th - h) with tau < 1 makes every chain
aperiodic. Between two sweeps over all actions, several follow the greedy policy only,
at a fraction of the cost.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_table
from simgap._kernels.solving.lanes import (
    LANES,
    gain_step,
    gathered_gain_step,
    gathered_policy_step,
)
from simgap._kernels.solving.state_lanes import (
    StateLanes,
    choose_rows,
    fill_wide_rewards,
    greedy_lanes,
)
from simgap._kernels.solving.travel import too_slow
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray
from simgap.intervals import EPS

SOLVED, SLOW, RUNNING = 0, 2, 3
STEP = 0.9  # tau
FIRST_INNER, LAST_INNER = 2, 32  # sweeps along one policy


CONTRACTED = frozenset({"contract", "nnan"})  # a b + c is rounded once; no NaN comes


@kernel(fastmath=CONTRACTED)
def row_sum(
    values: FloatArray,
    indices: AnyArray,
    vector: FloatArray,
    begin: int,
    end: int,
    start: float,
) -> float:
    """Return start + values @ vector[indices] over one row."""
    total, odd = start, 0.0
    k = begin
    while k + 1 < end:  # two sums: the processor need not wait for either
        total += values[k] * vector[indices[k]]
        odd += values[k + 1] * vector[indices[k + 1]]
        k += 2
    if k < end:
        total += values[k] * vector[indices[k]]
    return total + odd


@kernel(fastmath=CONTRACTED)
def improvement_sweep(
    indptr: OffsetArray,
    indices: AnyArray,  # int32 or uint32
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    bias: FloatArray,
    totals: FloatArray,
    best: FloatArray,
    bracket: FloatArray,
) -> None:
    """Write R + P h by row, Th, and min, max of Th - h and the greatest |Th| or |h|."""
    low = np.inf
    high = -np.inf
    size = 0.0
    for state in range(bias.size):
        here = bias[state]
        top = -np.inf
        for row in range(state * n_actions, (state + 1) * n_actions):
            begin, end = indptr[row], indptr[row + 1]
            total = row_sum(values, indices, bias, begin, end, rewards[row])
            totals[row] = total
            top = max(top, total)
        best[state] = top
        change = top - here
        low = min(low, change)
        high = max(high, change)
        size = max(size, abs(here), abs(top))
    bracket[0] = low
    bracket[1] = high
    bracket[2] = size


@kernel
def greedy_actions(
    totals: FloatArray,
    best: FloatArray,
    n_actions: int,
    slack: float,
    policy: IndexArray,
) -> int:
    """Write the first action whose R + P h is within `slack` of the best one.

    Returns in how many states that is a change.
    """
    changes = 0
    for state in range(best.size):
        chosen = n_actions - 1
        enough = best[state] - slack
        for action in range(n_actions - 2, -1, -1):
            if totals[state * n_actions + action] >= enough:
                chosen = action
        changes += policy[state] != chosen
        policy[state] = chosen
    return changes


@kernel
def lower_to_zero(bias: FloatArray) -> float:
    """Take the least entry from all, in place; return the greatest that is left."""
    least, greatest = bias[0], bias[0]
    for state in range(bias.size):
        least = min(least, bias[state])
        greatest = max(greatest, bias[state])
    for state in range(bias.size):
        bias[state] -= least
    return float(greatest - least)


@kernel(allocates=True, fastmath=CONTRACTED)
def gain_sweeps(
    wide: StateLanes,
    rewards: FloatArray,
    n_actions: int,
    longest_row: int,
    tolerance: float,
    polish: float,
    patience: int,
    bias: FloatArray,
    policy: IndexArray,
    bracket: FloatArray,
) -> int:
    """Sweep until the bracket of the gain is `tolerance` wide, then on to `polish`.

    `patience` counts full-sweep equivalents; SLOW means that the rate seen predicts
    more. `bias` ends as the vector the bracket was computed from, `policy` as the first
    actions within `polish` of its best; bracket = lower, upper (rounding included),
    rounding.
    """
    n_states, n_lanes, n_blocks = bias.size, wide.state.size, wide.state.size // LANES
    wide_rewards = np.empty((n_blocks * n_actions, LANES))
    fill_wide_rewards(wide, rewards, n_actions, wide_rewards)
    now, other, best = np.empty(n_lanes), np.empty(n_lanes), np.empty(n_lanes)
    for lane in range(n_lanes):
        now[lane] = bias[wide.state[lane]]
    totals, ends = np.empty(wide_rewards.shape), np.empty((3, LANES))
    actions = np.zeros(n_lanes, np.int32)
    followed = np.full(n_lanes, -1, np.int32)
    chosen_rewards = np.empty((n_blocks, LANES))
    chosen = StateLanes(
        wide.state,
        wide.lane,
        np.zeros(n_blocks + 1, np.int64),
        np.empty(wide.indices.shape, np.int32),  # more than any policy has
        np.empty(wide.values.shape),
    )
    spent = 0.0
    inner = FIRST_INNER
    taken = 1
    early = np.inf
    early_spent = 0.0
    previous = np.inf
    outcome = RUNNING
    while True:
        _improvement_sweep(
            wide, wide_rewards, n_actions, now, totals, best, ends, bracket
        )
        spent += 1.0
        noise = (longest_row + 4) * EPS * bracket[2]
        bracket[0] -= noise
        bracket[1] += noise
        bracket[2] = noise
        width = bracket[1] - bracket[0]
        if width <= polish or width <= 3.0 * noise or spent > 2.0 * patience:
            outcome = SOLVED if width <= tolerance else SLOW
        elif width <= tolerance and width > 0.5 * previous:
            outcome = SOLVED
        elif early_spent == 0.0:
            if spent >= patience / 4.0:
                early = width
                early_spent = spent
        elif (
            spent >= patience / 2.0
            and width > tolerance
            and too_slow(early, width, spent - early_spent, tolerance, patience)
        ):
            outcome = SLOW
        if outcome != RUNNING:
            break
        middle = 0.5 * (bracket[0] + bracket[1])
        changes = greedy_lanes(totals, best, n_states, n_actions, 0.0, actions)
        for lane in range(n_lanes):
            now[lane] += STEP * (best[lane] - now[lane] - middle)
        if n_actions == 1:
            previous = width
            continue
        choose_rows(wide, n_actions, actions, chosen, followed)
        for lane in range(n_lanes):
            block, i = lane // LANES, lane % LANES
            row = block * n_actions + actions[lane]
            chosen_rewards[block, i] = wide_rewards[row, i] - middle
        if 100 * changes > n_states:
            inner = FIRST_INNER  # following a policy that will change is wasted
        elif width < previous:
            per_sweep = np.log(width / previous) / taken
            wanted = int(np.log(polish / width) / per_sweep)
            inner = max(FIRST_INNER, min(wanted + wanted % 2, LAST_INNER))
        previous = width
        taken = inner + 1
        for _ in range(inner):
            _policy_sweep(chosen, chosen_rewards, now, other)
            now, other = other, now
        spent += inner / n_actions + 0.5
    greedy_lanes(totals, best, n_states, n_actions, polish, actions)
    for state in range(n_states):
        bias[state] = now[wide.lane[state]]
        policy[state] = actions[wide.lane[state]]
    return outcome


@kernel
def _improvement_sweep(
    wide: StateLanes,
    rewards: FloatArray,
    n_actions: int,
    bias: FloatArray,
    totals: FloatArray,
    best: FloatArray,
    ends: FloatArray,
    bracket: FloatArray,
) -> None:
    """Do an improvement sweep over states side by side."""
    low, high, peak = ends[0], ends[1], ends[2]
    low[:] = np.inf
    high[:] = -np.inf
    peak[:] = 0.0
    for block in range(bias.size // LANES):
        gathered_gain_step(
            wide.begins, wide.indices, wide.values, block * n_actions, n_actions, bias,
            block, rewards, totals, best, low, high, peak,
        )  # fmt: skip
    bracket[0] = np.inf
    bracket[1] = -np.inf
    bracket[2] = 0.0
    for lane in range(LANES):
        bracket[0] = min(bracket[0], low[lane])
        bracket[1] = max(bracket[1], high[lane])
        bracket[2] = max(bracket[2], peak[lane])


@kernel
def _policy_sweep(
    chosen: StateLanes, rewards: FloatArray, bias: FloatArray, out: FloatArray
) -> None:
    for block in range(bias.size // LANES):
        gathered_policy_step(
            chosen.begins, chosen.indices, chosen.values, block, 1, bias, block,
            rewards, STEP, out,
        )  # fmt: skip


@kernel(allocates=True)
def wide_gain_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    longest_row: int,
    polish: float,
    patience: int,
    bias: FloatArray,
    brackets: FloatArray,
) -> None:
    """Plain value iteration of 16 models at once: values (nnz, 16), bias (S, 16).

    Stops when all brackets (3, 16) are `polish` wide, or after `patience` sweeps; the
    caller looks at each bracket. `bias` ends as what the brackets were computed from.
    """
    n_states = bias.shape[0]
    now = bias
    after = np.empty((n_states, LANES))
    shift = np.zeros(LANES)
    low = np.empty(LANES)
    high = np.empty(LANES)
    peak = np.empty(LANES)
    for sweep in range(1, patience + 1):
        low[:] = np.inf
        high[:] = -np.inf
        peak[:] = 0.0
        for state in range(n_states):
            gain_step(
                indptr, indices, values, state * n_actions, n_actions, now, state,
                rewards, after, STEP, shift, low, high, peak,
            )  # fmt: skip
        width = 0.0
        for lane in range(LANES):
            size = peak[lane] + max(abs(low[lane]), abs(high[lane]))
            noise = (longest_row + 4) * EPS * size
            brackets[0, lane] = low[lane] - noise
            brackets[1, lane] = high[lane] + noise
            brackets[2, lane] = noise
            width = max(width, high[lane] - low[lane] - noise)
        if width <= polish or sweep == patience:
            break
        shift = 0.5 * (low + high)
        now, after = after, now
    if sweep % 2 == 0:
        copy_table(now, bias)


@kernel(allocates=True)
def return_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    leave: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    order: OffsetArray,
    reference: int,
    tolerance: float,
    polish: float,
    patience: int,
    bias: FloatArray,
    bracket: FloatArray,
) -> int:
    """Newton's method on the gain through returns to a reference state.

    For a gain g the bias solves a shortest path to the reference with rewards R - g;
    Gauss-Seidel sweeps outwards from it improve the bias and, along the actions they
    choose, the waiting time w = -d bias / d g. What a return to the reference earns
    above g, over the length of the return, corrects g. The kernel has no diagonal.
    Fast where optimal play passes the reference often; elsewhere it returns SLOW.
    """
    n_states = bias.size
    waiting = np.zeros(n_states)
    gain = 0.5 * (bracket[0] + bracket[1])
    origin = bias[reference]
    for state in range(n_states):
        bias[state] -= origin
    early = np.inf
    early_sweep = 0
    for sweep in range(1, 2 * patience + 2):
        for state in order:
            if state == reference:
                continue
            top = -np.inf
            wait = 0.0
            for row in range(state * n_actions, (state + 1) * n_actions):
                if leave[row] > 0.0:
                    total = rewards[row] - gain
                    steps = 1.0
                    for k in range(indptr[row], indptr[row + 1]):
                        total += values[k] * bias[indices[k]]
                        steps += values[k] * waiting[indices[k]]
                    total /= leave[row]
                    if total > top:
                        top = total
                        wait = steps / leave[row]
            bias[state] = top
            waiting[state] = wait
        best = -np.inf
        length = 1.0
        for row in range(reference * n_actions, (reference + 1) * n_actions):
            total = rewards[row] - gain
            steps = 1.0
            for k in range(indptr[row], indptr[row + 1]):
                total += values[k] * bias[indices[k]]
                steps += values[k] * waiting[indices[k]]
            if total > best:
                best = total
                length = steps
        shift = best / length
        gain += shift
        for state in range(n_states):
            bias[state] -= shift * waiting[state]
        if sweep % 8 != 0:
            continue
        difference_bracket(indptr, indices, values, rewards, n_actions, bias, bracket)
        width = bracket[1] - bracket[0]
        if not width < np.inf:
            return SLOW
        if width <= polish or (width <= tolerance and width <= 4.0 * bracket[2]):
            return SOLVED
        if sweep >= patience // 4 and early_sweep == 0:
            early = width
            early_sweep = sweep
        elif (
            early_sweep > 0
            and sweep >= patience // 2
            and width > tolerance
            and too_slow(early, width, sweep - early_sweep, tolerance, patience)
        ):
            return SLOW
    return SOLVED if bracket[1] - bracket[0] <= tolerance else SLOW


@kernel
def difference_bracket(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    bias: FloatArray,
    bracket: FloatArray,
) -> None:
    """Write the certified bracket of the gain and its rounding, kernel off-diagonal.

    Th - h is summed as R + sum p (h(s') - h(s)): its rounding error is that of the
    differences along the edges, not of h itself.
    """
    low = np.inf
    high = -np.inf
    worst = 0.0
    for state in range(bias.size):
        here = bias[state]
        top = -np.inf
        noise = 0.0
        for row in range(state * n_actions, (state + 1) * n_actions):
            total = rewards[row]
            size = abs(total)
            for k in range(indptr[row], indptr[row + 1]):
                term = values[k] * (bias[indices[k]] - here)
                total += term
                size += abs(term)
            top = max(top, total)
            noise = max(noise, (indptr[row + 1] - indptr[row] + 4) * EPS * size)
        low = min(low, top - noise)
        high = max(high, top + noise)
        worst = max(worst, noise)
    bracket[0] = low
    bracket[1] = high
    bracket[2] = worst
