"""Gain and bias by sweeps: value iteration whose inner sweeps follow one policy.

For any h, min (Th - h) <= rho* <= max (Th - h) over states in a communicating model:
that is the certificate. The step h += tau (Th - h) with tau < 1 makes every chain
aperiodic. Between two sweeps over all actions, several follow the greedy policy only,
at a fraction of the cost.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from simgap.arrays import FloatArray, IndexArray, OffsetArray

EPS = 2.0**-52
SOLVED, SLOW = 0, 2
STEP = 0.9  # tau
FIRST_INNER, LAST_INNER = 4, 32  # sweeps along one policy, growing


@njit(cache=True, nogil=True, fastmath={"contract", "nnan"})  # type: ignore[untyped-decorator]
def improvement_sweep(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    bias: FloatArray,
    best: FloatArray,
    bracket: FloatArray,
) -> None:
    """Write Th, the bracket of the gain, and in bracket[2] the greatest |Th| or |h|."""
    low = np.inf
    high = -np.inf
    size = 0.0
    for state in range(bias.size):
        here = bias[state]
        top = -np.inf
        for row in range(state * n_actions, (state + 1) * n_actions):
            total = rewards[row]
            odd = 0.0
            k = indptr[row]
            end = indptr[row + 1]
            while k + 1 < end:  # two sums: the processor need not wait for either
                total += values[k] * bias[indices[k]]
                odd += values[k + 1] * bias[indices[k + 1]]
                k += 2
            if k < end:
                total += values[k] * bias[indices[k]]
            top = max(top, total + odd)
        best[state] = top
        change = top - here
        low = min(low, change)
        high = max(high, change)
        size = max(size, max(abs(here), abs(top)))
    bracket[0] = low
    bracket[1] = high
    bracket[2] = size


@njit(cache=True, nogil=True, fastmath={"contract", "nnan"})  # type: ignore[untyped-decorator]
def greedy_actions(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    bias: FloatArray,
    best: FloatArray,
    slack: float,
    policy: IndexArray,
) -> None:
    """Write the first action whose R + P h is within `slack` of the best one."""
    for state in range(bias.size):
        for action in range(n_actions):
            row = state * n_actions + action
            total = rewards[row]
            odd = 0.0
            k = indptr[row]
            end = indptr[row + 1]
            while k + 1 < end:  # two sums: the processor need not wait for either
                total += values[k] * bias[indices[k]]
                odd += values[k + 1] * bias[indices[k + 1]]
                k += 2
            if k < end:
                total += values[k] * bias[indices[k]]
            if total + odd >= best[state] - slack:
                policy[state] = action
                break


@njit(cache=True, nogil=True, fastmath={"contract", "nnan"})  # type: ignore[untyped-decorator]
def gain_sweeps(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    longest_row: int,
    tolerance: float,
    polish: float,
    patience: int,
    bias: FloatArray,
    bracket: FloatArray,
) -> int:
    """Sweep until the bracket of the gain is `tolerance` wide, then on to `polish`.

    `patience` counts full-sweep equivalents; SLOW means that the rate seen predicts
    more. `bias` ends as the vector the bracket was computed from; bracket = lower,
    upper (rounding included), rounding.
    """
    n_states = bias.size
    best = np.empty(n_states)
    other = np.empty(n_states)
    begins = np.empty(n_states + 1, np.int64)
    chosen_indices = np.empty(n_states * longest_row, indices.dtype)
    chosen_values = np.empty(n_states * longest_row, np.float64)
    chosen_rewards = np.empty(n_states, np.float64)
    policy = np.zeros(n_states, np.int32)
    spent = 0.0
    inner = FIRST_INNER
    early = np.inf
    early_spent = 0.0
    previous = np.inf
    while True:
        improvement_sweep(
            indptr, indices, values, rewards, n_actions, bias, best, bracket
        )
        spent += 1.0
        noise = (longest_row + 4) * EPS * bracket[2]
        bracket[0] -= noise
        bracket[1] += noise
        bracket[2] = noise
        width = bracket[1] - bracket[0]
        if width <= polish or width <= 3.0 * noise:
            return SOLVED if width <= tolerance else SLOW
        if width <= tolerance and width > 0.5 * previous:
            return SOLVED
        previous = width
        if spent > 2.0 * patience:
            return SOLVED if width <= tolerance else SLOW
        if early_spent == 0.0:
            if spent >= patience / 4.0:
                early = width
                early_spent = spent
        elif spent >= patience / 2.0 and width > tolerance:
            if width >= early:
                return SLOW
            rate = np.log(width / early) / (spent - early_spent)
            if np.log(tolerance / width) / rate > patience:
                return SLOW
        middle = 0.5 * (bracket[0] + bracket[1])
        if n_actions > 1:
            greedy_actions(
                indptr, indices, values, rewards, n_actions, bias, best, 0.0, policy
            )
        for state in range(n_states):
            bias[state] += STEP * (best[state] - bias[state] - middle)
        if n_actions == 1:
            continue
        count = 0
        begins[0] = 0
        for state in range(n_states):
            row = state * n_actions + policy[state]
            chosen_rewards[state] = rewards[row] - middle
            for k in range(indptr[row], indptr[row + 1]):
                chosen_indices[count] = indices[k]
                chosen_values[count] = values[k]
                count += 1
            begins[state + 1] = count
        for _ in range(inner // 2):
            _policy_sweep(
                begins, chosen_indices, chosen_values, chosen_rewards, bias, other
            )
            _policy_sweep(
                begins, chosen_indices, chosen_values, chosen_rewards, other, bias
            )
        spent += inner / n_actions + 0.5
        inner = min(inner + 4, LAST_INNER)


@njit(cache=True, nogil=True, fastmath={"contract", "nnan"})  # type: ignore[untyped-decorator]
def _policy_sweep(
    begins: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    bias: FloatArray,
    out: FloatArray,
) -> None:
    for state in range(bias.size):
        total = rewards[state]
        odd = 0.0
        k = begins[state]
        end = begins[state + 1]
        while k + 1 < end:  # two sums: the processor need not wait for either
            total += values[k] * bias[indices[k]]
            odd += values[k + 1] * bias[indices[k + 1]]
            k += 2
        if k < end:
            total += values[k] * bias[indices[k]]
        out[state] = bias[state] + STEP * (total + odd - bias[state])
