"""Sixteen states side by side: the same rows, and the same numbers to the bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from simgap._kernels.solving import (
    LANES,
    StateLanes,
    backward_steps,
)
from simgap._kernels.solving.state_lanes import choose_rows, greedy_lanes
from simgap.mdp import Transitions
from simgap.planning.lane_blocks import state_lanes, wide_rewards
from tests.kernels.inputs import Pattern, pattern, patterns, whole
from tests.reference.kernel_rows import backup

STEPS = (0, 1, 2, 3, 4)  # sixteenths to the fourth power times small numbers are exact
SHAPES = ((1, 1), (15, 2), (16, 3), (17, 2), (70, 4))
LENGTHS = ((3,), (1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 1, 1, 1, 1, 40), (9, 7, 5))


def models(seed: int, *, dyadic: bool = True) -> list[Pattern]:
    """Patterns, and others of several blocks."""
    rng = np.random.default_rng(seed)
    others = [
        pattern(rng, S, A, lengths, dyadic=dyadic)
        for S, A in SHAPES
        for lengths in LENGTHS
    ]
    return [*patterns(seed, dyadic=dyadic), *others]


def laid_out(kernel: Pattern) -> StateLanes:
    values = kernel.values[None]
    n_states, n_actions = kernel.n_states, kernel.n_actions
    stored = Transitions(n_states, n_actions, kernel.indptr, kernel.indices, values)
    return state_lanes(stored, 0)


def rows_of(wide: StateLanes, wide_row: int, i: int) -> list[tuple[int, float]]:
    """The entries of one lane, by successors, without the zeros behind them."""
    found = [
        (int(wide.state[wide.indices[k, i]]), float(wide.values[k, i]))
        for k in range(wide.begins[wide_row], wide.begins[wide_row + 1])
    ]
    while found and found[-1][1] == 0.0:
        found.pop()
    return found


def every_row(kernel: Pattern, wide: StateLanes) -> Iterator[tuple[int, int, int]]:
    """Yield row, wide row and lane of all states and actions."""
    for s in range(kernel.n_states):
        block, i = divmod(int(wide.lane[s]), LANES)
        for a in range(kernel.n_actions):
            yield s * kernel.n_actions + a, block * kernel.n_actions + a, i


@pytest.mark.parametrize("steps", STEPS)
def test_backward_steps_are_repeated_backups(steps: int) -> None:
    rng = np.random.default_rng(73)
    for kernel in models(74):
        first = whole(rng, kernel.n_states)
        rewards = whole(rng, kernel.indptr.size - 1)
        wanted = np.array(first)
        for _ in range(steps):
            rows = range(rewards.size)
            after = [backup(kernel.arrays, r, rewards[r], wanted) for r in rows]
            wanted = np.array(after).reshape(kernel.n_states, -1).max(axis=1)
        wide = laid_out(kernel)
        now, spare = first[wide.state], np.full(wide.state.size, np.nan)
        by_lane = wide_rewards(wide, rewards, kernel.n_actions)
        backward_steps(wide, by_lane, kernel.n_actions, steps, now, spare)
        assert (now[wide.lane] == wanted).all()
        assert (now == wanted[wide.state]).all()


def test_greedy_actions_are_the_first_within_the_slack() -> None:
    rng = np.random.default_rng(7)
    for kernel in models(8):
        wide, n, A = laid_out(kernel), kernel.n_states, kernel.n_actions
        table = whole(rng, n, A, low=30)
        totals = wide_rewards(wide, table.ravel(), A)
        best = table.max(axis=1)[wide.state]
        for slack in (0.0, 3.0, 1e9):
            policy = np.full(wide.state.size, -1, np.int32)
            near = table >= table.max(axis=1)[:, None] - slack
            wanted = near.argmax(axis=1)
            assert greedy_lanes(totals, best, n, A, slack, policy) == n
            assert (policy == wanted[wide.state]).all()
            assert greedy_lanes(totals, best, n, A, slack, policy) == 0
            policy[wide.lane[0]] = A
            assert greedy_lanes(totals, best, n, A, slack, policy) == 1


def test_rows_of_a_policy_are_chosen_however_little_of_it_changes() -> None:
    rng = np.random.default_rng(9)
    for kernel in models(10):
        wide, A = laid_out(kernel), kernel.n_actions
        n_lanes, shape = wide.state.size, wide.values.shape
        followed = np.full(n_lanes, -1, np.int32)
        chosen = StateLanes(
            wide.state, wide.lane, np.zeros(n_lanes // LANES + 1, np.int64),
            np.full(shape, -1, np.int32), np.full(shape, np.nan),
        )  # fmt: skip
        actions = np.zeros(kernel.n_states, np.int32)
        for changes in (0, kernel.n_states, 1, 1, 0, 3):
            at = rng.integers(kernel.n_states, size=changes)
            actions[at] = rng.integers(A, size=changes)
            choose_rows(wide, A, actions[wide.state], chosen, followed)
            for row, wide_row, i in every_row(kernel, wide):
                if row % A == actions[row // A]:
                    block = wide_row // A
                    whole_row = rows_of(wide, wide_row, i)
                    assert rows_of(chosen, block, i) == whole_row
