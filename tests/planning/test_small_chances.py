"""Probabilities and rewards of all accepted sizes: enclosed, or refused by name.

The truth is computed in Fractions from the stored floats.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from simgap.errors import NotSolved
from simgap.mdp import IndexOrder, TabularMDP, mdp_from_arrays
from simgap.planning import (
    diameter,
    solve_average_reward,
    travel_times,
)
from tests.reference.average_reward import optimal_gain
from tests.reference.rational import stored
from tests.reference.travel import (
    Time,
    communicating,
    diameter as exact_diameter,
    hitting_times,
)

TINY = (1e-16, 1e-17, 1e-40, 1e-60)


def encloses(lower: float, upper: float, truth: Time) -> bool:
    if truth == inf:
        return upper == inf
    return Fraction(lower) <= truth and (upper == inf or truth <= Fraction(upper))


def one(rows: list[list[list[float]]], rewards: list[list[float]]) -> TabularMDP:
    return mdp_from_arrays(rows, rewards, order=IndexOrder.STATE_ACTION)


def slow_walk(states: int, chance: float) -> TabularMDP:
    """Left and right with the same small chance; nothing else happens."""
    rows = np.zeros((states, 1, states))
    for s in range(states):
        for t in {max(s - 1, 0), min(s + 1, states - 1)} - {s}:
            rows[s, 0, t] = chance
        rows[s, 0, s] = 1.0 - rows[s].sum()
    return one(rows.tolist(), [[float(s == 0)] for s in range(states)])


def random_model(seed: int) -> TabularMDP:
    """A model whose chances and rewards are of any size that is accepted."""
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    least = float(rng.choice([10, 20, 40, 59]))
    few = 10.0 ** -rng.uniform(0.0, least, int(rng.integers(1, 4)))
    rows = np.zeros((S, A, S))
    for s, a in np.ndindex(S, A):
        for t in rng.choice(S, min(S, int(rng.integers(1, 4))), replace=False):
            free = 10.0 ** -rng.uniform(0.0, least)
            known = float(rng.choice(few)) * int(rng.integers(1, 4))
            rows[s, a, t] = free if seed % 3 == 0 else known
        moves = rows[s, a].sum() - rows[s, a, s]
        if moves >= 1.0:
            rows[s, a] /= rows[s, a].sum()
        else:
            rows[s, a, s] = 1.0 - moves
    size = 10.0 ** float(rng.choice([0.0, 0.0, -27.0, -15.0, 14.0]))
    rewards = size * rng.choice([0.0, 1.0, -1.0, 0.5, 0.3], (S, A))
    return one(rows.tolist(), rewards.tolist())


def check(model: TabularMDP) -> int:
    """Check all that can be asked of a model; return how often it was refused."""
    exact, refused = stored(model), 0
    truth = exact_diameter(exact.transitions)
    try:
        far = diameter(model)
        assert encloses(far.lower, far.upper, truth)
    except NotSolved as error:
        assert isinstance(error.result, tuple)
        low, high = error.result
        assert encloses(low, high, truth)
        refused += 1
    for target in range(model.n_states):
        try:
            found = travel_times(model, target)
        except NotSolved:
            refused += 1
            continue
        times = hitting_times(exact.transitions, target)
        for low, high, time in zip(found.lower[0], found.upper[0], times, strict=True):
            assert encloses(float(low), float(high), time)
    if communicating(exact.transitions):
        gain = optimal_gain(exact.transitions, exact.rewards)
        try:
            plan = solve_average_reward(model)
            ends = float(plan.gain_lower[0]), float(plan.gain_upper[0])
        except NotSolved as error:
            assert isinstance(error.result, tuple)
            ends = error.result
            refused += 1
        assert encloses(*ends, gain)
    return refused


@pytest.mark.parametrize("chance", TINY)
@pytest.mark.parametrize("states", [2, 3, 5])
def test_a_walk_at_any_speed_is_solved(states: int, chance: float) -> None:
    assert check(slow_walk(states, chance)) == 0


@pytest.mark.parametrize("seed", range(24))
def test_chances_of_all_sizes_are_enclosed_or_refused(seed: int) -> None:
    check(random_model(seed))


@pytest.mark.slow
def test_chances_of_all_sizes_are_enclosed_or_refused_many_times() -> None:
    refused = sum(check(random_model(seed)) > 0 for seed in range(24, 2000))
    assert refused < 900


@pytest.mark.parametrize("size", [1.0, 1e15, 1e-28])
def test_rewards_of_all_sizes_have_their_gain(size: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        rows = rng.dirichlet([0.5] * 4, (4, 2))
        rewards = size * rng.integers(0, 9, (4, 2)) / 8.0
        rewards[0, 0] = size
        assert check(one(rows.tolist(), rewards.tolist())) == 0


def test_a_bias_that_cannot_be_squared_is_refused() -> None:
    """Three unlikely steps in a row lead to the rewards, and three away from them."""
    rows = np.zeros((6, 1, 6))
    for s in range(6):
        rows[s, 0, s // 3 * 3] = 1.0
        rows[s, 0, (s + 1) % 6] += 1e-40
    with pytest.raises(NotSolved):
        solve_average_reward(one(rows.tolist(), [[float(s > 2)] for s in range(6)]))
