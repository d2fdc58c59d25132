"""The matrix of F: values, equal functions, points that may go, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.complexity import Point, function_class, function_class_from_matrix
from simgap.errors import InvalidArgument, NotCommunicating
from simgap.instances import (
    absorbing_doors,
    bandit,
    garnet,
    linear_bandit,
    windy_grid,
)
from simgap.planning import solve_average_reward
from tests.reference import complexity as twin
from tests.reference.average_reward import optimal_gain_and_bias
from tests.reference.rational import dense_model, sparse_model
from tests.strategies import as_class


def test_values_are_expected_biases() -> None:
    """Every stored point against sum P l, computed from whole arrays."""
    some = windy_grid(size=4, strength=(0.0, 0.3, 0.7))
    plan = solve_average_reward(some, tolerance=1e-12)
    found = function_class(some, plan=plan)
    assert found.n_points > 10
    for x in range(found.n_points):
        at = found.point(x)
        for member in range(len(some)):
            row = some.transitions.array(member)[at.state, at.action]
            expected = float(row @ plan.bias[at.bias])
            value = found.values[x, found.function[member]]
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("family", [dense_model, sparse_model])
def test_sup_distances_are_those_of_exact_biases(family: object) -> None:
    assert callable(family)
    rng = np.random.default_rng(3)
    for _ in range(10):
        models = [family(rng, 3, 2, 12) for _ in range(3)]
        biases = [optimal_gain_and_bias(m.transitions, m.rewards)[1] for m in models]
        rows = twin.function_matrix([m.transitions for m in models], biases)
        found = function_class(as_class(models))
        for i, f in enumerate(rows):
            for j, g in enumerate(rows):
                exact = max(abs(x - y) for x, y in zip(f, g, strict=True))
                pair = found.function[i], found.function[j]
                assert found.distance[pair] == pytest.approx(float(exact), abs=1e-11)


def test_rounding_of_biases_makes_no_points() -> None:
    """All members of Proposition 2 have the bias (0, 1): one point is left."""
    found = function_class(linear_bandit(85))
    assert (found.n_functions, found.n_points, found.biases.size) == (85, 1, 1)
    assert found.domain_size == 4
    assert found.point(0) == Point(0, 1, 0)


def test_models_that_differ_where_no_bias_sees_it_are_one_function() -> None:
    """Moves between two states of equal bias change nothing."""
    three = bandit([[0.5, 0.2], [0.5, 0.2], [0.5, 0.4]])
    found = function_class(three)
    assert found.function.tolist() == [0, 0, 1]
    assert found.n_functions == 2


def test_a_class_that_is_not_communicating_has_no_biases() -> None:
    with pytest.raises(NotCommunicating, match="components"):
        function_class(absorbing_doors(3))


def test_small_changes_of_the_solver_do_not_change_the_class() -> None:
    some = garnet(states=70, actions=2, members=6, seed=2)
    loose = function_class(some, plan=solve_average_reward(some))
    tight = function_class(some, plan=solve_average_reward(some, tolerance=1e-13))
    assert loose.n_points == tight.n_points
    assert loose.distance == pytest.approx(tight.distance, abs=1e-7)


@pytest.mark.parametrize("bad", [[], [1.0, 2.0], [[1.0, np.nan]], np.zeros((0, 3))])
def test_matrices_that_are_none_are_refused(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="matrix"):
        function_class_from_matrix(bad)  # type: ignore[arg-type]
