"""Masses of pairs, who may fire and who has, beside matrices of numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from simgap._kernels.agents.importance import (
    Pairs,
    add_visits,
    find_near,
    find_suspects,
    look,
    may_fire,
    no_pairs,
    of_pair,
    suspect_fired,
)
from simgap._kernels.agents.known_class import Plans, best_alive
from simgap._kernels.agents.least_squares import (
    find_alive,
    merge,
    no_models,
)
from simgap.arrays import BoolArray, FloatArray, OffsetArray


@dataclass(frozen=True)
class Case:
    """Models with data in Z, and what they predict while one of them is played."""

    pairs: Pairs
    mean: FloatArray  # (S, M)
    squares: FloatArray  # (S, P), slowly
    reachable: BoolArray
    visits: OffsetArray
    ridge: float
    left: int


def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    members, n_states = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    mean = rng.random((n_states, members))
    mean[:, -1] = mean[:, 0]  # one pair that never fires
    pairs = no_pairs(members, n_states)
    pairs.settled[:] = rng.random(pairs.settled.size) * 3.0
    if seed % 2:
        pairs.carried[:] = pairs.settled * rng.random(pairs.settled.size)
    reachable = rng.random(n_states) < 0.7
    reachable[0] = True
    visits = np.where(reachable, rng.integers(0, 12, n_states), 0)
    one, other = np.triu_indices(members, 1)
    squares = (mean[:, one] - mean[:, other]) ** 2
    return Case(pairs, mean, squares, reachable, visits, 0.7, int(rng.integers(2, 40)))


@pytest.mark.parametrize("seed", range(40))
def test_near_pairs_are_those_that_can_reach_their_limit(seed: int) -> None:
    c = case(seed)
    near, steepest = find_near(c.pairs, c.mean, c.reachable, c.ridge, c.left, False)
    most = c.squares[c.reachable].max(axis=0)
    limit = c.pairs.settled + c.ridge
    wanted = np.flatnonzero(c.pairs.carried + c.left * most >= limit)
    assert near == wanted.size
    np.testing.assert_array_equal(c.pairs.limit[:near], limit[wanted])
    np.testing.assert_array_equal(c.pairs.base[:near], c.pairs.carried[wanted])
    np.testing.assert_array_equal(c.pairs.apart[:, :near], c.squares[:, wanted])
    shares = most[wanted] / (limit - c.pairs.carried)[wanted]
    assert steepest == pytest.approx(shares.max(initial=0.0), rel=1e-14)
    everyone, _ = find_near(c.pairs, c.mean, c.reachable, c.ridge, c.left, True)
    assert everyone == limit.size


@pytest.mark.parametrize("seed", range(40))
def test_looks_see_who_has_fired_and_who_still_can(seed: int) -> None:
    c = case(seed)
    near, _ = find_near(c.pairs, c.mean, c.reachable, c.ridge, 10**6, True)
    fired, gone = look(c.pairs, near, c.visits)
    mass = c.pairs.carried + (c.visits[:, None] * c.squares).sum(axis=0)
    limit = c.pairs.settled + c.ridge
    np.testing.assert_allclose(c.pairs.mass, mass, rtol=1e-13)
    assert fired == (mass >= limit).any()
    share = (mass - c.pairs.carried) / (limit - c.pairs.carried)
    assert gone == pytest.approx(share.max(), rel=1e-12)
    suspects = find_suspects(c.pairs, near)
    who = c.pairs.suspects[:suspects]
    np.testing.assert_array_equal(who, np.flatnonzero(mass >= limit))
    half = c.visits // 2
    before = c.pairs.carried + (half[:, None] * c.squares).sum(axis=0)
    assert suspect_fired(c.pairs, suspects, half) == (before >= limit)[who].any()
    most = c.squares[c.reachable].max(axis=0)
    for left in (0, 1, c.left, 1_000):
        assert may_fire(c.pairs, near, left) == (mass + left * most >= limit).any()
    add_visits(c.pairs, c.mean, c.visits)
    np.testing.assert_allclose(c.pairs.fresh, mass, rtol=1e-13)


def test_masses_never_fall_in_floating_point() -> None:
    """The ground of looking late: one more visit anywhere lowers no computed mass."""
    rng = np.random.default_rng(0)
    pairs, mean = (
        no_pairs(6, 5),
        rng.random((5, 6)) * 10.0 ** rng.integers(-6, 6, (5, 6)),
    )
    visits = np.zeros(5, np.int64)
    near, _ = find_near(pairs, mean, np.ones(5, np.bool_), 1.0, 1, True)
    look(pairs, near, visits)
    last = pairs.mass.copy()
    for _ in range(2_000):
        visits[rng.integers(5)] += int(10 ** rng.integers(0, 9))
        look(pairs, near, visits)
        assert (pairs.mass >= last).all()
        last = pairs.mass.copy()


@pytest.mark.parametrize("literal", [False, True])
def test_merging_empties_the_fresh_data_unless_literal(literal: bool) -> None:
    rng = np.random.default_rng(1)
    pairs, models = no_pairs(4, 2), no_models(4)
    for part in (pairs.settled, pairs.fresh, models.loss, models.fresh):
        part[:] = rng.random(part.size)
    wanted = pairs.settled + pairs.fresh
    merge(pairs, models, literal)
    np.testing.assert_array_equal(pairs.settled, wanted)
    np.testing.assert_array_equal(pairs.carried, pairs.fresh if literal else 0.0)
    np.testing.assert_array_equal(models.carried, models.fresh if literal else 0.0)


def test_the_confidence_set_is_around_the_first_of_the_best_fits() -> None:
    pairs, models = no_pairs(4, 1), no_models(4)
    models.loss[:] = [2.0, 1.0, 1.0, 3.0]
    pairs.settled[:] = [0.2, 9.0, 9.0, 0.5, 0.51, 9.0]  # 01 02 03 12 13 23
    matrix = np.zeros((4, 4))
    matrix[np.triu_indices(4, 1)] = pairs.settled
    for i in range(4):
        for j in range(4):
            found = of_pair(pairs.settled, 4, i, j)
            assert found == max(matrix[i, j], matrix[j, i])
    assert find_alive(pairs.settled, models, 0.5) == 3
    np.testing.assert_array_equal(models.alive, [True, True, True, False])
    order = np.array([3, 2, 0, 1], np.int32)
    plans = Plans(order, np.zeros((4, 1), np.int32), np.zeros(4, np.int64))
    assert best_alive(plans, models.alive) == 2
