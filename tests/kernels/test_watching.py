"""Walks that stop early against steps one by one, and reach against a closure."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.walking.walk import (
    Run,
    World,
    begin,
    new_run,
)
from simgap._kernels.walking.watching import play_within, reach
from simgap.instances import riverswim
from simgap.simulation.observed import observed_class
from simgap.simulation.stepwise import keys_of
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import random_class
from tests.kernels.inputs import course_of
from tests.reference.walking import played_within, reached


def walker(world: World, n_states: int, key: int) -> Run:
    run = new_run(world)
    begin(world, np.uint64(key), run)
    return run


@pytest.mark.parametrize("horizon", [300, 3000])  # all steps late, and most of them not
@pytest.mark.parametrize("seed", range(3))
def test_a_walk_within_a_budget_is_that_of_single_steps(
    seed: int, horizon: int
) -> None:
    rng = np.random.default_rng(seed)
    worlds = random_class(rng)
    world = real_models(observed_class(worlds), worlds, horizon).world(0)
    policy = rng.integers(0, 2, 4).astype(np.int32)
    course = course_of(world, policy)
    (key,) = keys_of(seed, 0, 0, 1)
    fast, slow = walker(world, 4, key), walker(world, 4, key)
    grid = np.array([3, 50, 51, 52, 290], np.int64)
    traces = np.zeros((2, grid.size))
    stops = 0
    while fast.clock[0] < horizon:
        price = np.where(rng.random(world.next_state.size) < 0.3, 0.0, rng.random())
        price[int(rng.integers(price.size))] = np.inf
        steps = min(int(rng.integers(1, 400)), horizon - int(fast.clock[0]))
        budget = float(rng.uniform(0.0, 60.0))
        args = (course, steps, price, budget, grid)
        edge = play_within(world, fast, *args, traces[0])
        assert edge == played_within(world, slow, *args, traces[1])
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_array_equal(one, other)
        stops += 1
    np.testing.assert_array_equal(traces[0], traces[1])
    assert stops >= 3


@pytest.mark.parametrize("seed", range(5))
def test_reach_is_the_closure_of_the_chain(seed: int) -> None:
    worlds = random_class(np.random.default_rng(seed), states=7)
    policy = np.ones(7, np.int32)  # action 1 has zeros
    if seed == 4:  # to the left, where nothing leads to the right
        worlds, policy = riverswim(7, (0.1, 0.2, 0.3)), np.zeros(7, np.int32)
    observed = observed_class(worlds)
    for member in range(3):
        world = real_models(observed, worlds, 10).world(member)
        course = course_of(world, policy)
        chain = worlds[member].transitions.array(0)[np.arange(7), policy]
        for first in range(7):
            states = np.zeros(7, np.bool_)
            edges = np.zeros(observed.n_edges, np.bool_)
            reach(course, world.shift, np.int64(first), states, edges)
            expected = reached(chain, first)
            assert set(np.flatnonzero(states).tolist()) == expected
            possible = observed.chances[member] > 0.0
            from_there = np.isin(observed.row // 2, sorted(expected))
            on_course = observed.row % 2 == policy[0]
            np.testing.assert_array_equal(edges, possible & from_there & on_course)
            assert seed != 4 or len(expected) == first + 1
