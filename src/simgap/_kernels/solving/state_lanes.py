"""Sixteen states of one model side by side, in the lanes of vector registers.

States are sorted so that those side by side have rows about as long. A wide row is what
one action does in 16 states, row `block * n_actions + action`; its entries are 16
successors and 16 chances. Rows that are shorter than the longest of their 16 end in
zeros, and lanes behind the last state repeat it: sums are equal to those of the stored
rows, to the bit.
"""

from __future__ import annotations

from typing import NamedTuple

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.solving.lanes import LANES, gathered_value_step
from simgap.arrays import AnyArray, FloatArray, IndexArray, OffsetArray


class StateLanes(NamedTuple):
    """One model with its states side by side; B blocks of 16."""

    state: OffsetArray  # (16 B,), of each lane
    lane: IndexArray  # (S,), of each state
    begins: OffsetArray  # (B A + 1,), of the entries of each wide row
    indices: IndexArray  # (entries, 16), the lanes of successors
    values: FloatArray  # (entries, 16)


@kernel
def longest_rows(indptr: OffsetArray, n_actions: int, longest: OffsetArray) -> None:
    """Write how many entries the longest row of each state has."""
    for state in range(longest.size):
        most = 0
        for row in range(state * n_actions, (state + 1) * n_actions):
            most = max(most, indptr[row + 1] - indptr[row])
        longest[state] = most


@kernel
def count_wide_entries(
    indptr: OffsetArray, n_actions: int, state: OffsetArray, begins: OffsetArray
) -> None:
    """Write where the entries of each wide row begin."""
    begins[0] = 0
    for wide_row in range(begins.size - 1):
        first, action = wide_row // n_actions * LANES, wide_row % n_actions
        width = 0
        for i in range(first, first + LANES):
            row = state[i] * n_actions + action
            width = max(width, indptr[row + 1] - indptr[row])
        begins[wide_row + 1] = begins[wide_row] + width


@kernel
def fill_wide_rows(
    indptr: OffsetArray,
    indices: AnyArray,  # int32 or uint32
    values: FloatArray,
    n_actions: int,
    wide: StateLanes,
) -> None:
    """Write the entries of all wide rows."""
    for wide_row in range(wide.begins.size - 1):
        first, action = wide_row // n_actions * LANES, wide_row % n_actions
        begin, end = wide.begins[wide_row], wide.begins[wide_row + 1]
        lanes, chances = wide.indices[begin:end], wide.values[begin:end]
        for i in range(LANES):
            row = wide.state[first + i] * n_actions + action
            after = indices[indptr[row] : indptr[row + 1]]
            weights = values[indptr[row] : indptr[row + 1]]
            for k in range(after.size):
                lanes[k, i] = wide.lane[after[k]]
                chances[k, i] = weights[k]
            for k in range(after.size, end - begin):
                lanes[k, i] = 0
                chances[k, i] = 0.0


@kernel
def fill_wide_rewards(
    wide: StateLanes, rewards: FloatArray, n_actions: int, out: FloatArray
) -> None:
    """Write rewards (S A,) by wide row, (B A, 16)."""
    for lane in range(wide.state.size):
        block, i = lane // LANES, lane % LANES
        for action in range(n_actions):
            reward = rewards[wide.state[lane] * n_actions + action]
            out[block * n_actions + action, i] = reward


@kernel
def backward_steps(
    wide: StateLanes,
    rewards: FloatArray,
    n_actions: int,
    steps: int,
    now: FloatArray,
    spare: FloatArray,
) -> None:
    """Apply V <- max_a R + P V `steps` times to `now`, in place."""
    source = now
    goal = spare
    for _ in range(steps):
        for block in range(now.size // LANES):
            gathered_value_step(
                wide.begins, wide.indices, wide.values, block * n_actions, n_actions,
                source, block, rewards, goal,
            )  # fmt: skip
        source, goal = goal, source
    if steps % 2 == 1:
        copy_vector(spare, now)


@kernel
def greedy_lanes(
    totals: FloatArray,
    best: FloatArray,
    n_states: int,
    n_actions: int,
    slack: float,
    policy: IndexArray,
) -> int:
    """Write the first action whose R + P h is within `slack` of the best one.

    Returns in how many states that is a change.
    """
    changes = 0
    for lane in range(best.size):
        block, i = lane // LANES, lane % LANES
        chosen = n_actions - 1
        enough = best[lane] - slack
        for action in range(n_actions - 2, -1, -1):
            if totals[block * n_actions + action, i] >= enough:
                chosen = action
        changes += lane < n_states and policy[lane] != chosen
        policy[lane] = chosen
    return changes


@kernel
def choose_rows(
    wide: StateLanes,
    n_actions: int,
    policy: IndexArray,
    chosen: StateLanes,
    followed: IndexArray,
) -> None:
    """Write the rows that a policy chooses; those that are `followed` are there."""
    moved = False
    for block in range(chosen.begins.size - 1):
        width, changed = 0, moved
        for i in range(LANES):
            lane = block * LANES + i
            row = block * n_actions + policy[lane]
            width = max(width, wide.begins[row + 1] - wide.begins[row])
            changed |= policy[lane] != followed[lane]
        begin, end = chosen.begins[block], chosen.begins[block] + width
        moved |= chosen.begins[block + 1] != end
        chosen.begins[block + 1] = end
        if not changed:
            continue
        lanes, chances = chosen.indices[begin:end], chosen.values[begin:end]
        for i in range(LANES):
            followed[block * LANES + i] = policy[block * LANES + i]
            row = block * n_actions + policy[block * LANES + i]
            after = wide.indices[wide.begins[row] : wide.begins[row + 1]]
            weights = wide.values[wide.begins[row] : wide.begins[row + 1]]
            for k in range(after.shape[0]):
                lanes[k, i] = after[k, i]
                chances[k, i] = weights[k, i]
            for k in range(after.shape[0], width):
                lanes[k, i] = 0
                chances[k, i] = 0.0
