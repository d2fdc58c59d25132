"""Covering numbers: rows of the paper, all subsets tried, covers that cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.complexity import (
    covering_number,
    function_class,
    function_class_from_matrix,
    linear_covering_bound,
)
from simgap.errors import InvalidArgument
from simgap.instances import linear_bandit
from tests.reference import complexity as twin


def random_matrix(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Sixteenths with many ties, and a scale that is often one of the distances."""
    functions, points = (int(n) for n in rng.integers((1, 1), (8, 6)))
    matrix = rng.integers(0, 9, (functions, points)) / 16.0
    return matrix, float(rng.integers(0, 8)) / 16.0


def check(matrix: FloatArray, epsilon: float) -> None:
    found = covering_number(function_class_from_matrix(matrix), epsilon)
    expected = twin.covering_number(twin.fractions(matrix), Fraction(epsilon))
    assert found.lower == found.upper == expected


@pytest.mark.parametrize(("horizon", "balls"), [(5, 2), (20, 4), (80, 11)])
def test_the_large_class_has_small_covers(horizon: int, balls: int) -> None:
    """Theory row 25: N(F, 1/H) of Proposition 2."""
    functions = function_class(linear_bandit(4 * horizon + 5))
    found = covering_number(functions, 1.0 / horizon)
    assert found.lower == found.upper == balls


def test_covers_are_those_of_trying_all_sets() -> None:
    rng = np.random.default_rng(21)
    for _ in range(150):
        check(*random_matrix(rng))


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_a_linear_class_has_no_more_balls_than_its_dimension_allows(rank: int) -> None:
    """Section 5.3: log N = O(r log(1/eps)), for any members of the linear space."""
    rng = np.random.default_rng(60 + rank)
    for _ in range(20):
        theta = rng.standard_normal((60, rank)) * rng.choice([1.0, 3.0], (60, 1))
        phi = rng.standard_normal((rank, 6))
        functions = function_class_from_matrix(theta @ phi)
        epsilon = float(rng.choice([0.05, 0.3, 1.0]))
        ratio = float(functions.distance.max(initial=0.0)) / epsilon
        assert covering_number(functions, epsilon).lower <= linear_covering_bound(
            rank, ratio
        )


def test_one_dimension_is_no_bound_for_two() -> None:
    """The control: a square has more balls than its side."""
    side = np.linspace(0.0, 1.0, 9)
    square = np.array([[x, y] for x in side for y in side])
    found = covering_number(function_class_from_matrix(square), 0.11)
    assert linear_covering_bound(1, 1.0 / 0.11) < found.lower
    assert found.lower <= linear_covering_bound(2, 1.0 / 0.11)


def test_covers_of_linear_classes_grow_with_the_logarithm() -> None:
    logs = [np.log(linear_covering_bound(3, 10.0**k)) for k in (2, 4, 6)]
    assert np.diff(logs) == pytest.approx(np.full(2, 6.0 * np.log(10.0)), rel=1e-2)
    assert linear_covering_bound(4, 0.5) == 1.0
    assert linear_covering_bound(500, 1e9) == np.inf
    with pytest.raises(InvalidArgument, match="linear class"):
        linear_covering_bound(-1, 2.0)


@pytest.mark.parametrize("nodes", [0, 5_000])
def test_bounds_hold_and_the_cover_covers(nodes: int) -> None:
    """On classes too large to try all sets; without a search as well."""
    rng = np.random.default_rng(23)
    for functions, points, epsilon in ((40, 2, 0.2), (60, 3, 0.3), (60, 6, 0.5)):
        matrix = rng.random((functions, points))
        found = covering_number(
            function_class_from_matrix(matrix), epsilon, most_nodes=nodes
        )
        to_centre = np.abs(matrix[:, None] - matrix[found.cover][None]).max(axis=2)
        assert (to_centre.min(axis=1) <= epsilon).all()
        assert found.upper == found.cover.size
        between = np.abs(matrix[found.apart][:, None] - matrix[None]).max(axis=2)
        assert ((between <= epsilon).sum(axis=0) <= 1).all()  # no ball holds two
        assert found.apart.size <= found.lower <= found.upper


def test_the_search_beats_or_meets_greed() -> None:
    """A ring of six: greed may take three balls where two do."""
    ring = np.array([[np.cos(t), np.sin(t)] for t in np.arange(6) * np.pi / 3.0])
    rng = np.random.default_rng(24)
    closed = 0
    for _ in range(30):
        matrix = np.vstack([ring, rng.standard_normal((12, 2))])
        functions = function_class_from_matrix(matrix)
        quick = covering_number(functions, 0.8, most_nodes=0)
        full = covering_number(functions, 0.8)
        assert quick.lower <= full.lower <= full.upper <= quick.upper
        assert full.exact
        closed += full.upper < quick.upper or full.lower > quick.lower
    assert closed > 0  # otherwise this test says nothing about the search


def test_a_smaller_scale_needs_no_fewer_balls() -> None:
    rng = np.random.default_rng(25)
    functions = function_class_from_matrix(rng.random((25, 3)))
    counts = [covering_number(functions, e).upper for e in (0.6, 0.4, 0.3, 0.2, 0.1)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), None])
def test_scales_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="scale"):
        covering_number(function_class_from_matrix([[0.0]]), bad)
