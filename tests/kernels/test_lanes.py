"""The vector steps against plain loops, equal to the last bit on dyadic numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from simgap._kernels.solving.lanes import (
    LANES,
    gain_step,
    gathered_gain_step,
    gathered_policy_step,
    gathered_value_step,
    light_travel_step,
    ordered_travel_step,
    travel_step,
    value_step,
)
from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from tests.kernels.inputs import Pattern, patterns, whole
from tests.reference import lanes as twin

POWERS = np.array([0.25, 0.5, 1.0, 2.0])  # factors that keep dyadic numbers exact


@njit  # type: ignore[untyped-decorator]
def _travel(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    block: FloatArray, state: int, scale: FloatArray, out: FloatArray,
    low: FloatArray, high: FloatArray, peak: FloatArray,
) -> None:  # fmt: skip
    travel_step(
        indptr, indices, values, state * n_actions, n_actions, block, state, scale,
        out, low, high, peak,
    )  # fmt: skip


@njit  # type: ignore[untyped-decorator]
def _gain(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    block: FloatArray, state: int, rewards: FloatArray, out: FloatArray, step: float,
    shift: FloatArray, low: FloatArray, high: FloatArray, peak: FloatArray,
) -> None:  # fmt: skip
    gain_step(
        indptr, indices, values, state * n_actions, n_actions, block, state, rewards,
        out, step, shift, low, high, peak,
    )  # fmt: skip


@njit  # type: ignore[untyped-decorator]
def _light(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    block: FloatArray, state: int, out: FloatArray,
) -> None:  # fmt: skip
    light_travel_step(
        indptr, indices, values, state * n_actions, n_actions, block, state, out
    )


@njit  # type: ignore[untyped-decorator]
def _ordered(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    block: FloatArray, state: int, inverse: FloatArray,
) -> None:  # fmt: skip
    ordered_travel_step(
        indptr, indices, values, state * n_actions, n_actions, block, state, inverse
    )


@njit  # type: ignore[untyped-decorator]
def _value(
    indptr: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    block: FloatArray, state: int, rewards: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    value_step(
        indptr, indices, values, state * n_actions, n_actions, block, state, rewards,
        out,
    )  # fmt: skip


@njit  # type: ignore[untyped-decorator]
def _gathered_value(
    begins: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    lanes: FloatArray, block: int, rewards: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    gathered_value_step(
        begins, indices, values, block * n_actions, n_actions, lanes, block, rewards,
        out,
    )  # fmt: skip


@njit  # type: ignore[untyped-decorator]
def _gathered_gain(
    begins: OffsetArray, indices: IndexArray, values: FloatArray, n_actions: int,
    lanes: FloatArray, block: int, rewards: FloatArray, totals: FloatArray,
    out: FloatArray, low: FloatArray, high: FloatArray, peak: FloatArray,
) -> None:  # fmt: skip
    gathered_gain_step(
        begins, indices, values, block * n_actions, n_actions, lanes, block, rewards,
        totals, out, low, high, peak,
    )  # fmt: skip


@njit  # type: ignore[untyped-decorator]
def _gathered_policy(
    begins: OffsetArray, indices: IndexArray, values: FloatArray, lanes: FloatArray,
    block: int, rewards: FloatArray, step: float, out: FloatArray,
) -> None:  # fmt: skip
    gathered_policy_step(
        begins, indices, values, block, 1, lanes, block, rewards, step, out
    )


def test_there_are_as_many_lanes_here_as_in_the_twin() -> None:
    assert LANES == twin.LANES


def test_a_travel_step_is_its_twin_and_collects_the_changes() -> None:
    rng = np.random.default_rng(1)
    for kernel in patterns(11):
        block = whole(rng, kernel.n_states, LANES, low=0)
        scale = read_only(rng.choice(POWERS, LANES))
        out = np.full(block.shape, np.nan)
        low, high = np.full(LANES, np.inf), np.full(LANES, -np.inf)
        peak = np.zeros(LANES)
        wanted = []
        for s in range(kernel.n_states):
            _travel(
                *kernel.arrays, kernel.n_actions, block, s, scale, out, low, high, peak
            )
            wanted.append(
                twin.travel_step(kernel.arrays, kernel.n_actions, block, s, scale)
            )
        after, change, now = (np.array(part) for part in zip(*wanted, strict=True))
        assert (out == after).all()
        assert (low == change.min(axis=0)).all()
        assert (high == change.max(axis=0)).all()
        assert (peak == now.max(axis=0)).all()


def test_a_light_step_is_a_travel_step_without_scale() -> None:
    rng = np.random.default_rng(7)
    for kernel in patterns(17):
        block = whole(rng, kernel.n_states, LANES, low=0)
        out = np.full(block.shape, np.nan)
        for s in range(kernel.n_states):
            _light(*kernel.arrays, kernel.n_actions, block, s, out)
            after, _, _ = twin.travel_step(
                kernel.arrays, kernel.n_actions, block, s, np.ones(LANES)
            )
            assert (out[s] == after).all()
            assert np.isnan(out[s + 1 :]).all()


def test_a_travel_step_writes_only_its_own_state() -> None:
    rng = np.random.default_rng(2)
    kernel = patterns(12)[-1]
    block = whole(rng, kernel.n_states, LANES, low=0)
    out = np.full(block.shape, -7.0)
    ends = np.zeros((3, LANES))
    _travel(*kernel.arrays, kernel.n_actions, block, 3, np.ones(LANES), out, *ends)
    others = np.arange(kernel.n_states) != 3
    assert (out[others] == -7.0).all()
    assert (out[3] >= 1.0).all()


def test_an_ordered_step_is_its_twin_and_skips_actions_that_never_leave() -> None:
    rng = np.random.default_rng(3)
    skipped = 0
    for kernel in patterns(13):
        start = whole(rng, kernel.n_states, LANES, low=0)
        inverse = rng.choice(POWERS, kernel.indptr.size - 1)
        inverse[rng.random(inverse.size) < 0.2] = np.inf
        block, twins = np.array(start), np.array(start)
        for s in range(kernel.n_states):  # in place: later states see earlier ones
            _ordered(*kernel.arrays, kernel.n_actions, block, s, read_only(inverse))
            rows = slice(s * kernel.n_actions, (s + 1) * kernel.n_actions)
            twins[s] = twin.ordered_travel_step(
                kernel.arrays, kernel.n_actions, twins, s, inverse
            )
            assert (block == twins).all()
            if np.isinf(inverse[rows]).all():
                block[s] = twins[s] = start[s]  # 0 * inf is for no one to add up
            else:
                skipped += int(np.isinf(inverse[rows]).any())
    assert skipped > 10


def test_a_value_step_is_its_twin_with_another_model_in_every_lane() -> None:
    rng = np.random.default_rng(4)
    for kernel in patterns(14):
        lanes = rng.integers(0, 17, (kernel.values.size, LANES)) / 16.0
        lanes[rng.random(lanes.shape) < 0.3] = 0.0
        block = whole(rng, kernel.n_states, LANES)
        rewards = whole(rng, kernel.indptr.size - 1, LANES)
        out = np.full(block.shape, np.nan)
        for s in range(kernel.n_states):
            _value(
                kernel.indptr, kernel.indices, read_only(lanes), kernel.n_actions,
                block, s, rewards, out,
            )  # fmt: skip
            assert (
                out[s]
                == twin.value_step(
                    kernel.arrays, lanes, kernel.n_actions, block, s, rewards
                )
            ).all()


def test_a_gain_step_moves_part_of_the_way_to_a_value_step() -> None:
    rng = np.random.default_rng(8)
    for kernel in patterns(18):
        lanes = rng.integers(0, 17, (kernel.values.size, LANES)) / 16.0
        block = whole(rng, kernel.n_states, LANES)
        rewards = whole(rng, kernel.indptr.size - 1, LANES)
        shift = whole(rng, LANES)
        out = np.full(block.shape, np.nan)
        low, high = np.full(LANES, np.inf), np.full(LANES, -np.inf)
        peak = np.zeros(LANES)
        wanted = np.array(block)
        for s in range(kernel.n_states):
            _gain(
                kernel.indptr, kernel.indices, read_only(lanes), kernel.n_actions,
                block, s, rewards, out, 0.75, shift, low, high, peak,
            )  # fmt: skip
            wanted[s] = twin.value_step(
                kernel.arrays, lanes, kernel.n_actions, block, s, rewards
            )
        change = wanted - block
        assert (out == block + 0.75 * (change - shift)).all()
        assert (low == change.min(axis=0)).all()
        assert (high == change.max(axis=0)).all()
        assert (peak == np.abs(block).max(axis=0)).all()


def steps_of(kernel: Pattern, block: FloatArray) -> Any:
    """All three steps over all states, with numbers that do round."""
    n, A = kernel.n_states, kernel.n_actions
    rewards = np.zeros((kernel.indptr.size - 1, LANES))
    lanes = np.repeat(kernel.values[:, None], LANES, axis=1)
    travelled, valued, ordered = np.zeros((3, n, LANES))
    ends = np.zeros((3, LANES))
    for s in range(n):
        _travel(*kernel.arrays, A, block, s, np.ones(LANES), travelled, *ends)
        _value(kernel.indptr, kernel.indices, lanes, A, block, s, rewards, valued)
        copy = np.array(block)
        _ordered(*kernel.arrays, A, copy, s, np.ones(kernel.indptr.size - 1))
        ordered[s] = copy[s]
    return travelled, ordered, valued


def test_steps_on_any_numbers_differ_from_the_twin_by_rounding_only() -> None:
    """Nine positive terms and one more: relative error below 11 units of 2^-53."""
    rng = np.random.default_rng(5)
    for kernel in patterns(15, dyadic=False):
        block = rng.random((kernel.n_states, LANES)) * 100.0
        A = kernel.n_actions
        ones = np.ones(kernel.indptr.size - 1)
        zeros = np.zeros((ones.size, LANES))
        lanes = np.repeat(kernel.values[:, None], LANES, axis=1)
        travelled, ordered, valued = steps_of(kernel, block)
        for s in range(kernel.n_states):
            stored = kernel.arrays
            after, _, _ = twin.travel_step(stored, A, block, s, np.ones(LANES))
            close = pytest.approx(after, rel=2e-15, abs=0.0)
            assert travelled[s] == close
            assert ordered[s] == close
            assert twin.ordered_travel_step(stored, A, block, s, ones) == close
            best = twin.value_step(stored, lanes, A, block, s, zeros)
            assert valued[s] == pytest.approx(best, rel=2e-15, abs=0.0)


def test_ties_between_actions_do_not_matter() -> None:
    rng = np.random.default_rng(6)
    once = patterns(16)[0]
    twice = Pattern(
        read_only([0, 1, 2], np.int64),
        read_only([0, 0], np.int32),
        read_only(np.repeat(once.values, 2)),
        2,
    )
    block = whole(rng, 1, LANES, low=0)
    for one, two in zip(steps_of(once, block), steps_of(twice, block), strict=True):
        assert (one == two).all()


def test_gathered_steps_are_their_twins() -> None:
    """Each lane has successors of its own, in blocks of its own and of others."""
    rng = np.random.default_rng(9)
    for A, lengths in ((1, (1,)), (1, (2, 3)), (3, (1, 2, 3, 4, 5, 6)), (2, (7, 4))):
        blocks = 5
        widths = [lengths[row % len(lengths)] for row in range(blocks * A)]
        begins = read_only(np.concatenate([[0], np.cumsum(widths)]), np.int64)
        shape = int(begins[-1]), LANES
        indices = read_only(rng.integers(0, blocks * LANES, shape), np.int32)
        values = read_only(rng.integers(0, 17, shape) / 16.0)
        lanes = whole(rng, blocks * LANES)
        rewards = whole(rng, blocks * A, LANES)
        stored = begins, indices, values
        totals = twin.gathered_totals(*stored, lanes, rewards)
        tops = totals.reshape(blocks, A, LANES).max(axis=1).ravel()
        out, also, moved = np.full((3, lanes.size), np.nan)
        rows = np.full(rewards.shape, np.nan)
        low, high = np.full(LANES, np.inf), np.full(LANES, -np.inf)
        peak = np.zeros(LANES)
        for block in range(blocks):
            _gathered_value(*stored, A, lanes, block, rewards, out)
            _gathered_gain(
                *stored, A, lanes, block, rewards, rows, also, low, high, peak
            )
            if A == 1:
                _gathered_policy(*stored, lanes, block, rewards, 0.75, moved)
        assert (out == tops).all() and (also == tops).all() and (rows == totals).all()
        change = (tops - lanes).reshape(blocks, LANES)
        sizes = np.maximum(np.abs(tops), np.abs(lanes)).reshape(blocks, LANES)
        assert (low == change.min(axis=0)).all() and (high == change.max(axis=0)).all()
        assert (peak == sizes.max(axis=0)).all()
        if A == 1:
            assert (moved == lanes + 0.75 * (tops - lanes)).all()
