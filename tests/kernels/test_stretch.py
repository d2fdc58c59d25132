"""Going back and walking again gives the same steps; reachable states are those."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.walking.stretch import (
    begin_stretch,
    count_visits,
    find_reachable,
    no_stretch,
    restore,
    save,
)
from simgap._kernels.walking.walk import (
    begin,
    new_run,
    play,
)
from simgap.arrays import BoolArray
from simgap.mdp import class_from_arrays
from simgap.simulation.observed import observed_class
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import random_class
from tests.kernels.inputs import course_of

NO_GRID = np.zeros(0, np.int64)


def closure(follows: BoolArray, first: int) -> BoolArray:
    found = np.arange(len(follows)) == first
    for _ in follows:
        found = found | follows[found].any(axis=0)
    return np.asarray(found)


@pytest.mark.parametrize("seed", range(10))
def test_reachable_states_are_those_with_a_path_of_positive_chances(seed: int) -> None:
    """Action 0 goes round, action 1 to few states; another member allows others."""
    rng = np.random.default_rng(seed)
    kernel = np.zeros((2, 6, 2, 6))
    kernel[:, np.arange(6), 0, (np.arange(6) + 1) % 6] = 1.0
    for m in range(2):
        for s in range(6):
            few = rng.choice(6, size=rng.integers(1, 3), replace=False)
            kernel[m, s, 1, few] = rng.dirichlet(np.ones(few.size))
    worlds = class_from_arrays(kernel, np.zeros((6, 2)))
    world = real_models(observed_class(worlds), worlds, 10).world(0)
    kernel, reached = kernel[0], set[int]()
    for _ in range(20):
        policy = np.where(rng.random(6) < 0.2, 0, 1).astype(np.int32)
        follows = kernel[np.arange(6), policy] > 0.0
        reachable = np.zeros(6, np.bool_)
        for first in range(6):
            find_reachable(course_of(world, policy), world.shift, first, reachable)
            np.testing.assert_array_equal(reachable, closure(follows, first))
            reached.add(int(reachable.sum()))
    assert len(reached) > 2


@pytest.mark.parametrize("horizon", [60, 2_090])
def test_a_leap_that_is_undone_leaves_no_trace(horizon: int) -> None:
    worlds = random_class(np.random.default_rng(0), members=1, states=5)
    observed = observed_class(worlds)
    world = real_models(observed, worlds, horizon).world(0)
    course = course_of(world, np.array([0, 1, 1, 0, 1], np.int32))
    runs = []
    for detour in (False, True):
        run = new_run(world)
        begin(world, np.uint64(7), run)
        play(world, run, course, 30, NO_GRID, np.zeros(0))
        stretch = no_stretch(5, observed.n_edges)
        begin_stretch(run, stretch)
        assert (stretch.visits == 0).all()
        if detour:
            save(run, stretch)
            play(world, run, course, 25, NO_GRID, np.zeros(0))
            restore(run, stretch)
        play(world, run, course, 28, NO_GRID, np.zeros(0))
        count_visits(
            world.indptr, course.rows, run.counts, stretch.before, stretch.visits
        )
        assert stretch.visits.sum() == 28
        runs.append((run, stretch.visits))
    (one, seen), (other, again) = runs
    for field, same in zip(one, other, strict=True):
        np.testing.assert_array_equal(field, same)
    np.testing.assert_array_equal(seen, again)
