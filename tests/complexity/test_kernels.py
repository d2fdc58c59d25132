"""The kernels of this room beside their slow twins."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from simgap._kernels.solving.eluder import first_fit, least_harm
from simgap._kernels.solving.function_pairs import equal_points, sup_distances
from simgap.arrays import FloatArray, read_only
from tests.reference import complexity as twin


def values_of(rng: np.random.Generator, points: int, functions: int) -> FloatArray:
    """Distinct differences, away from the scales below: no comparison is close."""
    numbers: FloatArray = read_only(rng.integers(0, 64, (points, functions)) / 64.0)
    return numbers


@pytest.mark.parametrize("careful", [False, True])
def test_greedy_sequences_are_those_of_the_twin(careful: bool) -> None:
    rng = np.random.default_rng(61)
    rule = least_harm if careful else first_fit
    for _ in range(40):
        points, functions = (int(n) for n in rng.integers((1, 1), (12, 6)))
        values = values_of(rng, points, functions)
        order = rng.permutation(points).astype(np.int64)
        scale = float(rng.choice([0.013, 0.11, 0.302, 0.755]))
        chosen = np.empty(points, np.int64)
        count = rule(values, order, scale, 0.0, chosen)
        expected = twin.greedy_sequence(
            values.tolist(), order.tolist(), scale, careful=careful
        )
        assert chosen[:count].tolist() == expected


def test_sup_distances_are_maxima() -> None:
    rng = np.random.default_rng(62)
    values = values_of(rng, 30, 7).copy()
    out = np.zeros((7, 7))
    sup_distances(values, out)
    for i, j in combinations(range(7), 2):
        assert out[i, j] == np.abs(values[:, i] - values[:, j]).max()


@pytest.mark.parametrize("signs", [(1.0,), (1.0, -1.0)])
def test_points_follow_the_first_that_shows_the_same(signs: tuple[float, ...]) -> None:
    rng = np.random.default_rng(63)
    some = rng.random((9, 4))
    picked = rng.integers(0, 9, 60)
    flips = rng.choice(signs, 60)[:, None]
    values = some[picked] * flips + rng.random((60, 1))
    base = values[:, 0].copy()
    keys = np.abs((values - base[:, None]) @ rng.random(4))
    order = np.argsort(keys, kind="stable").astype(np.int64)
    leader = np.empty(60, np.int64)
    equal_points(values, base, order, keys, 1e-9, 1e-12, leader)
    for x in range(60):
        assert picked[leader[x]] == picked[x]
    assert np.unique(leader).size == np.unique(picked).size
