"""Sixteen states side by side: the same rows, and the same numbers to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.solving.state_lanes import StateLanes, backward_steps, greedy_lanes
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
