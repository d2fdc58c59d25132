"""Upper bounds of the eluder dimension: above the truth, and below one another."""

from __future__ import annotations

from math import e, log

import numpy as np
import pytest

from simgap.complexity import (
    UpperBound,
    eluder_dimension,
    function_class,
    function_class_from_matrix,
    linear_eluder_bound,
)
from simgap.complexity.eluder_bounds import counting_bound, linear_bound
from simgap.errors import InvalidArgument
from simgap.instances import riverswim

FAR = 10**9


def test_counting_is_by_pairs_and_by_points() -> None:
    wide = function_class_from_matrix(np.eye(3, 10)[:, ::-1] + np.arange(3)[:, None])
    assert counting_bound(wide, 0.5).value == 3
    assert counting_bound(wide, 0.5).reason is UpperBound.PAIRS
    tall = function_class_from_matrix(np.arange(20.0)[:, None] * [[1.0, 0.01]])
    assert counting_bound(tall, 0.5).value == 1  # the second never shows half a unit
    assert counting_bound(tall, 0.5).reason is UpperBound.POINTS
    assert counting_bound(tall, 100.0).value == 0


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_linear_bound_is_above_the_dimension(rank: int) -> None:
    """Random classes of low rank, searched through."""
    rng = np.random.default_rng(40 + rank)
    for _ in range(25):
        theta = rng.standard_normal((5, rank)) * rng.choice([1.0, 4.0], (5, 1))
        phi = rng.standard_normal((rank, 7)) * rng.choice([0.1, 1.0, 5.0], 7)
        functions = function_class_from_matrix(theta @ phi)
        epsilon = float(rng.choice([0.05, 0.3, 1.0]))
        found = eluder_dimension(functions, epsilon, work=10**8)
        assert found.exact
        ratio = float(functions.distance.max()) / epsilon
        assert linear_eluder_bound(rank, ratio) >= found.upper
        assert linear_bound(functions, epsilon, FAR) >= found.upper


def test_the_linear_bound_sees_a_low_rank_through_noise() -> None:
    """Forty functions in two dimensions, up to 1e-10: far fewer than 780 pairs."""
    rng = np.random.default_rng(44)
    plane = rng.random((40, 2)) @ rng.random((2, 900))
    noisy = plane + 1e-10 * rng.standard_normal(plane.shape)
    clean = linear_bound(function_class_from_matrix(plane), 0.01, FAR)
    found = linear_bound(function_class_from_matrix(noisy), 0.01, FAR)
    assert clean <= found <= clean + 1 < 80
    rough = plane + 0.1 * rng.standard_normal(plane.shape)  # not a plane any more
    assert linear_bound(function_class_from_matrix(rough), 0.01, FAR) > 400


def test_one_parameter_gives_a_bound_that_grows_with_the_logarithm() -> None:
    """Forty RiverSwims are one line: 780 pairs, but at most 2 + 2 log2(R / eps)."""
    functions = function_class(riverswim(6, tuple(np.linspace(0.2, 0.5, 40))))
    largest = float(functions.distance.max())
    for epsilon in (0.1, 0.01, 0.001):
        found = eluder_dimension(functions, epsilon, work=0)
        assert found.reason is UpperBound.LINEAR
        assert found.lower <= found.upper <= 2 + 2 * np.log2(largest / epsilon)


@pytest.mark.parametrize("dimension", [1, 2, 5, 50])
@pytest.mark.parametrize("ratio", [1.5, 10.0, 1e3, 1e6])
def test_the_closed_form_is_below_that_of_the_literature(
    dimension: int, ratio: float
) -> None:
    """3 d e/(e-1) ln(3 + 3 x^2) + 1, with x^2 the same product of lengths over eps^2.

    Stated for parameters of length S and features of length 1, where x = 2 S / eps;
    in the coordinates of John's theorem x^2 = d (R / eps)^2.
    """
    published = 3 * dimension * e / (e - 1) * log(3 + 3 * dimension * ratio**2) + 1
    assert 1 <= linear_eluder_bound(dimension, ratio) <= published


def test_the_closed_form_grows_with_dimension_and_ratio() -> None:
    for ratios in ((2.0, 20.0, 200.0),):
        bounds = [linear_eluder_bound(3, ratio) for ratio in ratios]
        assert bounds == sorted(bounds)
    assert linear_eluder_bound(4, 10.0) > linear_eluder_bound(2, 10.0)
    assert linear_eluder_bound(3, 1.0) == 0 == linear_eluder_bound(0, 7.0)


@pytest.mark.parametrize(("dimension", "ratio"), [(-1, 2.0), (2, -1.0), (2, np.inf)])
def test_impossible_linear_classes_are_refused(dimension: int, ratio: float) -> None:
    with pytest.raises(InvalidArgument, match="linear class"):
        linear_eluder_bound(dimension, ratio)
