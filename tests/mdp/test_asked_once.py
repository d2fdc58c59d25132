"""What a frozen model always answers alike is computed once, and forgotten with it."""

from __future__ import annotations

import gc
import pickle
from weakref import ref

from simgap.instances import riverswim
from simgap.planning import optimal_values, solve_average_reward

SUCCESS = (0.3, 0.6)


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


def test_answers_are_not_written_with_a_model() -> None:
    worlds = riverswim(6, SUCCESS)
    before = pickle.dumps(worlds)
    solve_average_reward(worlds)
    assert pickle.dumps(worlds) == before
    assert pickle.loads(before).hash == worlds.hash
