"""Backward induction kernels against plain loops, to the last bit on dyadic numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap._kernels.solving.episodic import (
    action_values,
    follow_actions,
    follow_mixture,
    greedy_backward_step,
    greedy_backward_steps,
    wide_backward_steps,
)
from simgap._kernels.solving.lanes import LANES
from simgap.arrays import FloatArray, read_only
from tests.kernels.inputs import Pattern, patterns, whole
from tests.reference.kernel_rows import backup

STEPS = (0, 1, 2, 3, 4)  # sixteenths to the fourth power times small numbers are exact


def table_of(kernel: Pattern, rewards: FloatArray, after: FloatArray) -> FloatArray:
    totals = [
        backup(kernel.arrays, row, rewards[row], after) for row in range(rewards.size)
    ]
    return np.array(totals).reshape(kernel.n_states, kernel.n_actions)


def test_action_values_are_rewards_and_what_follows() -> None:
    rng = np.random.default_rng(71)
    for kernel in patterns(72):
        after = whole(rng, kernel.n_states)
        rewards = whole(rng, kernel.indptr.size - 1)
        out = np.full(rewards.size, np.nan)
        action_values(*kernel.arrays, rewards, after, out)
        assert (out == table_of(kernel, rewards, after).ravel()).all()


@pytest.mark.parametrize("steps", STEPS)
def test_wide_backward_steps_are_those_of_each_model(steps: int) -> None:
    rng = np.random.default_rng(75)
    for kernel in patterns(76)[::2]:
        lanes = rng.integers(0, 17, (kernel.values.size, LANES)) / 16.0
        lanes[rng.random(lanes.shape) < 0.3] = 0.0
        rewards = whole(rng, kernel.indptr.size - 1, LANES)
        first = whole(rng, kernel.n_states, LANES)
        now, spare = np.array(first), np.full(first.shape, np.nan)
        wide_backward_steps(
            kernel.indptr, kernel.indices, read_only(lanes), rewards,
            kernel.n_actions, steps, now, spare,
        )  # fmt: skip
        for lane in (0, 1, 7, 8, 15):
            alone = replace(kernel, values=lanes[:, lane])
            wanted = np.array(first[:, lane])
            for _ in range(steps):
                wanted = table_of(alone, rewards[:, lane], wanted).max(axis=1)
            assert (now[:, lane] == wanted).all()


def test_one_greedy_step_has_the_best_value_and_the_first_near_action() -> None:
    rng = np.random.default_rng(77)
    for kernel in patterns(78):
        after = whole(rng, kernel.n_states)
        rewards = whole(rng, kernel.indptr.size - 1)
        table = table_of(kernel, rewards, after)
        for slack in (0.0, 8.0, 1e9):
            now = np.full(kernel.n_states, np.nan)
            policy = np.full(kernel.n_states, -1, np.int32)
            greedy_backward_step(
                *kernel.arrays, rewards, kernel.n_actions, slack, after, now, policy
            )
            assert (now == table.max(axis=1)).all()
            near = table >= now[:, None] - slack
            assert (policy == near.argmax(axis=1)).all()


@pytest.mark.parametrize("cut", STEPS)
def test_a_plan_is_filled_in_step_by_step_from_its_end(cut: int) -> None:
    """In two pieces; values after the last step stay as they are."""
    rng, steps = np.random.default_rng(83), STEPS[-1]
    for kernel in patterns(84):
        n, slack = kernel.n_states, 0.25
        rewards, end = whole(rng, kernel.indptr.size - 1), whole(rng, n)
        table, policy = (
            np.full((steps + 1, n), np.nan),
            np.full((steps, n), -1, np.int32),
        )
        table[steps] = end
        for first, last in ((cut, steps), (0, cut)):
            greedy_backward_steps(
                *kernel.arrays, rewards, kernel.n_actions, slack, first, last, table,
                policy,
            )  # fmt: skip
        assert (table[steps] == end).all()
        for step in range(steps):
            wanted = table_of(kernel, rewards, table[step + 1])
            near = wanted >= wanted.max(axis=1)[:, None] - slack * (steps - step)
            assert (table[step] == wanted.max(axis=1)).all()
            assert (policy[step] == near.argmax(axis=1)).all()


@pytest.mark.parametrize("steps", STEPS[:4])
def test_following_actions_or_chances_averages_the_backups(steps: int) -> None:
    rng = np.random.default_rng(79)
    for kernel in patterns(80):
        n, A = kernel.n_states, kernel.n_actions
        rewards, first = whole(rng, kernel.indptr.size - 1), whole(rng, n)
        actions = read_only(rng.integers(0, A, n), np.int32)
        mixed = np.zeros((n, A))
        for _ in range(4):  # chances in quarters, some of them 0
            mixed[np.arange(n), rng.integers(0, A, n)] += 0.25
        followed, averaged = np.array(first), np.array(first)
        for _ in range(steps):
            followed = table_of(kernel, rewards, followed)[np.arange(n), actions]
            averaged = (mixed * table_of(kernel, rewards, averaged)).sum(axis=1)
        now, spare = np.array(first), np.full(n, np.nan)
        follow_actions(*kernel.arrays, rewards, A, actions, steps, now, spare)
        assert (now == followed).all()
        now, spare = np.array(first), np.full(n, np.nan)
        follow_mixture(*kernel.arrays, rewards, A, read_only(mixed), steps, now, spare)
        assert (now == averaged).all()
        certain = np.zeros((n, A))
        certain[np.arange(n), actions] = 1.0
        now, spare = np.array(first), np.full(n, np.nan)
        follow_mixture(*kernel.arrays, rewards, A, certain, steps, now, spare)
        assert (now == followed).all()
