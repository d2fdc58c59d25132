"""What a frozen model always answers alike is computed once, and forgotten with it."""

from __future__ import annotations

import copy
import gc
import pickle
from weakref import ref

import numpy as np
import pytest

from simgap.instances import riverswim
from simgap.intervals import row_defects
from simgap.mdp import Transitions, asked_once
from simgap.planning import communicating, optimal_values, solve_average_reward

SUCCESS = (0.3, 0.6)


def test_each_record_is_asked_once() -> None:
    asked = []

    @asked_once
    def used(kernel: Transitions, member: int) -> int:
        asked.append((id(kernel), member))
        return int(np.count_nonzero(kernel.values[member]))

    kernel = riverswim(6, SUCCESS).transitions
    other = copy.copy(kernel)
    for _ in range(2):
        assert used(kernel, 0) == used(kernel, 1) == used(other, 0)
    assert asked == [(id(kernel), 0), (id(kernel), 1), (id(other), 0)]


def test_what_was_asked_does_not_keep_a_model_alive() -> None:
    worlds = riverswim(70, SUCCESS)
    world = worlds[1]
    for each in (worlds, world):
        optimal_values(each, 5)
        solve_average_reward(each)
    records: list[ref[object]] = [ref(worlds), ref(world), ref(world.as_class())]
    records += [ref(worlds.transitions), ref(world.transitions)]
    assert all(each() is not None for each in records)
    del worlds, world, each
    gc.collect()
    assert all(each() is None for each in records)


def test_answers_are_frozen_and_those_of_the_arrays() -> None:
    worlds = riverswim(6, SUCCESS)
    kernel = worlds.transitions
    assert kernel.longest_row == np.diff(kernel.indptr).max()
    assert (kernel.row_defects == row_defects(kernel.indptr, kernel.values)).all()
    rewards = np.broadcast_to(worlds.rewards, (2, *worlds.rewards.shape[1:]))
    ends = rewards.min(axis=(1, 2)), rewards.max(axis=(1, 2))
    assert (worlds.reward_ends == ends).all()
    for answer in (kernel.row_defects, worlds.reward_ends, communicating(worlds)):
        with pytest.raises(ValueError, match="read-only"):
            answer[...] = 0


def test_models_of_a_class_share_what_is_known_of_them() -> None:
    worlds = riverswim(6, SUCCESS)
    assert worlds[1].transitions is worlds[1].transitions
    assert worlds[1].as_class().transitions is worlds[1].transitions
    assert (worlds[1].transitions.values[0] == worlds.transitions.values[1]).all()


def test_answers_are_not_written_with_a_model() -> None:
    worlds = riverswim(6, SUCCESS)
    before = pickle.dumps(worlds)
    solve_average_reward(worlds)
    assert pickle.dumps(worlds) == before
    assert pickle.loads(before).hash == worlds.hash
