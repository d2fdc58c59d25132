"""Eluder dimension: rows of the paper, every sequence tried, witnesses checked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.complexity import (
    FunctionClass,
    UpperBound,
    covering_number,
    eluder_dimension,
    function_class,
    function_class_from_matrix,
)
from simgap.complexity.eluder import longest_sequence, witnesses
from simgap.errors import InvalidArgument
from simgap.instances import bandit, garnet, linear_bandit, needle
from simgap.planning import diameter
from tests.reference import complexity as twin
from tests.reference.average_reward import bias_is_unique, optimal_gain_and_bias
from tests.reference.rational import dense_model, sparse_model
from tests.strategies import as_class

SIX_POINTS = np.array(
    [
        (0.0, 1.01, 0.505, 0.505),
        (0.505, 0.505, 0.0, 1.01),
        (0.0, 0.67, 1.01, 0.34),
        (0.0, 1.01, 1.01, 1.01),
        (0.0, 0.0, 0.0, 1.01),
        (0.0, 0.0, 1.01, 0.0),
    ]
).T


def exact_values(functions: FunctionClass) -> list[list[Fraction]]:
    return twin.fractions(functions.values.T.tolist())


def check(matrix: FloatArray, epsilon: float) -> None:
    """Search, greed and witness against every sequence at every scale."""
    functions = function_class_from_matrix(matrix)
    expected = twin.eluder_dimension(twin.fractions(matrix), Fraction(epsilon))
    found = eluder_dimension(functions, epsilon)
    assert found.lower == found.upper == expected
    assert found.points.size == expected
    assert found.scale_squared >= Fraction(epsilon) ** 2
    values = exact_values(functions)
    assert twin.is_eluder_sequence(values, found.points.tolist(), found.scale_squared)
    searched = longest_sequence(functions.values, epsilon, 0.0, work=10**7)
    assert searched.complete and len(searched.points) == expected
    greedy = eluder_dimension(functions, epsilon, work=0)
    assert greedy.lower <= expected <= greedy.upper
    points = greedy.points.tolist()
    assert twin.is_eluder_sequence(values, points, greedy.scale_squared)


def random_matrix(rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Half of them with many ties, half without; scales from nothing to everything."""
    functions, points = (int(n) for n in rng.integers((1, 1), (5, 6)))
    if rng.random() < 0.5:
        matrix = rng.integers(0, 6, (functions, points)) / 4.0
        return matrix, float(rng.integers(0, 5)) / 4.0
    return rng.random((functions, points)), float(rng.choice([0.0, 0.05, 0.2, 0.5]))


def test_four_functions_can_have_six_points() -> None:
    """Theory row 27, errata E7: d_e <= M is false; M(M-1)/2 is reached."""
    found = eluder_dimension(function_class_from_matrix(SIX_POINTS), 1.0)
    assert found.lower == found.upper == 6
    assert {tuple(pair) for pair in found.pairs.tolist()} == {
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    }  # fmt: skip
    exact = twin.fractions(SIX_POINTS.tolist())
    assert twin.eluder_dimension(exact, Fraction(1)) == 6


def test_four_simulators_can_have_six_points() -> None:
    """Theory row 27 as a class of bandits of diameter at most 2."""
    four = bandit((SIX_POINTS / 1.01).tolist())
    found = eluder_dimension(function_class(four), 1.0 / 1.01 - 1e-6)
    assert found.lower == found.upper == 6
    assert diameter(four).upper <= 2.0 + 1e-9


def test_three_functions_with_three_points() -> None:
    """Theory row 28."""
    matrix = np.array([(0.0, 0.0, 0.0), (1.01, 1.01, 0.0), (0.505, 1.01, 1.01)])
    check(matrix, 0.5)
    assert eluder_dimension(function_class_from_matrix(matrix), 0.5).lower == 3


@pytest.mark.parametrize("horizon", [5, 20, 80])
def test_the_large_class_has_dimension_one(horizon: int) -> None:
    """Theory row 25: one informative arm, whatever the number of models."""
    functions = function_class(linear_bandit(4 * horizon + 5))
    found = eluder_dimension(functions, 1.0 / horizon)
    assert found.lower == found.upper == 1


def test_the_large_class_has_diameter_two() -> None:
    """Theory row 25."""
    assert diameter(linear_bandit(25)).upper == pytest.approx(2.0)


@pytest.mark.parametrize("members", [2, 3, 5])
def test_needles_have_one_less_than_their_number(members: int) -> None:
    """Each arm rules out one model; the last is known without a pull."""
    found = eluder_dimension(function_class(needle(members)), 0.5)
    assert found.lower == found.upper == members - 1


def test_sequences_are_those_of_trying_all() -> None:
    rng = np.random.default_rng(31)
    for _ in range(60):
        check(*random_matrix(rng))


def check_simulators(rng: np.random.Generator) -> int:
    """From kernels and solved biases, against exact biases; 0 if too large."""
    family = (dense_model, sparse_model)[int(rng.integers(2))]
    S, A, M = (int(n) for n in rng.integers((2, 1, 2), (4, 3, 4)))
    models = [family(rng, S, A, 8) for _ in range(M)]
    biases = []
    for model in models:
        gain, bias = optimal_gain_and_bias(model.transitions, model.rewards)
        if not bias_is_unique(model.transitions, model.rewards, gain, bias):
            return 0
        biases.append(bias)
    rows = twin.function_matrix([m.transitions for m in models], biases)
    if len(set(zip(*rows, strict=True))) > 9:
        return 0
    some = function_class(as_class(models))
    epsilon = Fraction(int(rng.integers(0, 9)), 64)
    found = eluder_dimension(some, float(epsilon))
    assert found.lower == found.upper == twin.eluder_dimension(rows, epsilon)
    assert some.n_functions == len({tuple(row) for row in rows})
    cover = covering_number(some, float(epsilon))
    assert cover.lower == cover.upper == twin.covering_number(rows, epsilon)
    return 1


def test_simulators_are_as_complex_as_with_exact_biases() -> None:
    """Biases are rounded; dimensions and covers are not: equal numbers stay equal."""
    rng = np.random.default_rng(33)
    assert sum(check_simulators(rng) for _ in range(60)) >= 20


def test_a_witness_of_a_large_class_holds_by_definition() -> None:
    functions = function_class(garnet(states=30, actions=3, members=12, seed=4))
    found = eluder_dimension(functions, 0.01)
    assert 5 <= found.lower <= found.upper <= 66
    values = exact_values(functions)
    assert twin.is_eluder_sequence(values, found.points.tolist(), found.scale_squared)
    for k, (i, j) in enumerate(found.pairs.tolist()):
        before = functions.values[found.points[:k]]
        assert np.sqrt(((before[:, i] - before[:, j]) ** 2).sum()) <= found.scale
        here = functions.values[found.points[k]]
        assert abs(here[i] - here[j]) > found.scale


def test_a_false_witness_is_noticed() -> None:
    """The check must be able to fail: repeats and wrong scales are refused."""
    functions = function_class_from_matrix(SIX_POINTS)
    good = eluder_dimension(functions, 1.0)
    repeated = [*good.points.tolist(), int(good.points[0])]
    with pytest.raises(AssertionError, match="dependent"):
        witnesses(functions, repeated, good.scale_squared)
    with pytest.raises(AssertionError, match="dependent"):
        witnesses(functions, good.points.tolist(), Fraction(102, 100) ** 2)


def test_a_search_cut_short_still_bounds() -> None:
    rng = np.random.default_rng(35)
    functions = function_class_from_matrix(rng.random((5, 9)))
    whole = eluder_dimension(functions, 0.1, work=10**8)
    assert whole.exact and whole.reason is UpperBound.SEARCH
    for work in (0, 10, 1_000, 20_000):
        found = longest_sequence(functions.values, 0.1, 0.0, work=work)
        assert len(found.points) <= whole.lower
        assert found.complete <= (len(found.points) == whole.lower)
        part = eluder_dimension(functions, 0.1, work=work)
        assert part.lower <= whole.lower <= part.upper


def test_the_dimension_does_not_depend_on_how_the_class_is_written() -> None:
    """Order, shifts of a point, its sign, and scaling everything by a power of two."""
    rng = np.random.default_rng(36)
    for _ in range(10):
        matrix = rng.integers(0, 9, (4, 5)) / 8.0
        plain = eluder_dimension(function_class_from_matrix(matrix), 0.25).upper
        shuffled = matrix[rng.permutation(4)][:, rng.permutation(5)]
        moved = matrix * rng.choice([-1.0, 1.0], 5) + rng.integers(0, 5, 5)
        for other, epsilon in ((shuffled, 0.25), (moved, 0.25), (4.0 * matrix, 1.0)):
            found = eluder_dimension(function_class_from_matrix(other), epsilon)
            assert found.exact and found.upper == plain


def test_coarser_scales_and_smaller_classes_have_no_more_dimensions() -> None:
    rng = np.random.default_rng(37)
    matrix = rng.random((4, 6))
    dims = [
        eluder_dimension(function_class_from_matrix(matrix), e).upper
        for e in (0.0, 0.1, 0.2, 0.4, 0.8, 1.0)
    ]
    assert dims == sorted(dims, reverse=True) and dims[-1] == 0
    whole = eluder_dimension(function_class_from_matrix(matrix), 0.1).upper
    fewer = eluder_dimension(function_class_from_matrix(matrix[:3]), 0.1).upper
    narrow = eluder_dimension(function_class_from_matrix(matrix[:, :4]), 0.1).upper
    assert fewer <= whole and narrow <= whole


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_scales_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="scale"):
        eluder_dimension(function_class_from_matrix([[0.0]]), bad)
