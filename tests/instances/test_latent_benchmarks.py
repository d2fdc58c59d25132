"""The classes on which planning in latent MDPs is measured, against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.instances import (
    garnet_mixture,
    riverswim,
    windy_grid,
)
from simgap.mdp import SimulatorClass


def kernels(worlds: SimulatorClass) -> FloatArray:
    return np.stack([worlds.transitions.array(m) for m in range(len(worlds))])


def windy_by_hand(n: int, strengths: tuple[float, ...]) -> FloatArray:
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    cliff = set(range((n - 1) * n + 2, n * n - 2))
    found = np.zeros((4 * len(strengths), n * n, 4, n * n))

    def go(s: int, move: tuple[int, int]) -> int:
        row = min(max(s // n + move[0], 0), n - 1)
        return row * n + min(max(s % n + move[1], 0), n - 1)

    for m, s, a in itertools.product(range(len(found)), range(n * n), range(4)):
        if s == n * n - 1 or s in cliff:
            found[m, s, a, (n - 1) * n] = 1.0
        else:
            found[m, s, a, go(s, moves[a])] += 1.0 - strengths[m // 4]
            found[m, s, a, go(s, moves[m % 4])] += strengths[m // 4]
    return found


@pytest.mark.parametrize("size", [3, 4, 5, 10])
def test_the_windy_grid_is_the_one_of_a_plain_loop(size: int) -> None:
    worlds = windy_grid(size, (0.15, 0.45))
    np.testing.assert_allclose(
        kernels(worlds), windy_by_hand(size, (0.15, 0.45)), atol=1e-15
    )
    assert worlds.start.tolist() == [(size - 1) * size]
    paid = np.zeros((size * size, 4))
    paid[-1] = 1.0
    np.testing.assert_array_equal(worlds.rewards, paid[None])


def test_a_uniform_river_drifts_at_its_ends_as_in_the_middle() -> None:
    rivers = riverswim(4, (0.1, 0.6), left_reward=0.4, uniform=True)
    for at, up in enumerate((0.1, 0.6)):
        right = kernels(rivers)[at, :, 1]
        expected = [
            [1 - up, up, 0, 0],
            [0.05, 0.95 - up, up, 0],
            [0, 0.05, 0.95 - up, up],
            [0, 0, 0.05, 0.95],
        ]
        np.testing.assert_allclose(right, expected, atol=1e-15)
    assert riverswim().hash != riverswim(uniform=True).hash


def test_a_random_mixture_is_the_one_of_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    expected = np.zeros((4, 5, 2, 5))
    for s, a in itertools.product(range(5), range(2)):
        to, base = rng.choice(5, 3, replace=False), rng.dirichlet(np.ones(3))
        for m in range(4):
            expected[m, s, a, to] = 0.3 * base + 0.7 * rng.dirichlet(np.ones(3))
    worlds = garnet_mixture(5, 2, 3, 4, seed=3)
    np.testing.assert_allclose(kernels(worlds), expected, rtol=1e-12)
    paid = rng.random((5, 2)) * (rng.random((5, 2)) < 0.3)
    np.testing.assert_array_equal(worlds.rewards, paid[None])


def test_no_step_of_a_random_mixture_rules_a_model_out() -> None:
    for seed in range(5):
        possible = kernels(garnet_mixture(seed=seed)) > 0.0
        assert (possible == possible[0]).all()
        assert (possible.sum(axis=-1) == 3).all()
