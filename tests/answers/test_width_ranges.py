"""Which ranges of a parameter are offered, and which models are in them."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.answers.width.ranges import (
    MOST_WIDTHS,
    asked_ranges,
    middle_value,
    offered_ranges,
    parameter_values,
)
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import catalogue
from simgap.mdp import LatentMDP
from tests.answers.width_cases import coins, two_parameters


def values_of(*numbers: float) -> tuple[FloatArray, FloatArray]:
    return np.array(numbers), np.full(len(numbers), 1.0 / len(numbers))


def test_offered_widths_are_those_that_change_the_set() -> None:
    values, prior = values_of(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    found, possible = offered_ranges(values, prior, 0.6)
    assert [each.width for each in found] == [0.0, 0.2, 0.4, 0.6]  # to the last digit
    assert [int(each.kept.sum()) for each in found] == [1, 3, 5, 7]
    assert [(each.low, each.high) for each in found][1] == (0.5, 0.7)
    assert possible == 4


def test_an_edge_is_inside_whatever_decimals_do() -> None:
    """0.1 + 0.2 is not 0.3 in floats; a range that should end there holds both."""
    values, prior = values_of(0.1, 0.2, 0.1 + 0.2, 0.4)
    (found,) = asked_ranges(values, prior, 0.2, [0.2])
    assert found.kept.tolist() == [True, True, True, False]
    (less,) = asked_ranges(values, prior, 0.2, [0.1999])
    assert less.kept.tolist() == [False, True, False, False]


def test_of_many_widths_some_are_offered_evenly() -> None:
    values, prior = values_of(*np.linspace(0.0, 1.0, 61))
    found, possible = offered_ranges(values, prior, 0.5)
    assert possible == 31
    assert len(found) == MOST_WIDTHS
    assert found[0].kept.sum() == 1
    assert found[-1].kept.all()
    steps = np.diff([int(each.kept.sum()) for each in found])
    assert steps.min() >= 4
    assert steps.max() <= 6


def test_a_nominal_value_between_models_starts_with_the_nearest() -> None:
    values, prior = values_of(0.0, 1.0, 2.0)
    found, _ = offered_ranges(values, prior, 0.75)
    assert [each.width for each in found] == [0.0, 1.0, 2.0]
    with pytest.raises(InvalidArgument, match=r"within 0\.1") as caught:
        asked_ranges(values, prior, 0.75, [0.2])
    assert "width of 0.5 or more" in caught.value.hint


def test_the_nominal_value_is_the_median_under_the_prior() -> None:
    values = np.array([3.0, 1.0, 2.0])
    assert middle_value(values, np.array([0.2, 0.2, 0.6])) == 2.0
    assert middle_value(values, np.array([0.6, 0.2, 0.2])) == 3.0
    assert middle_value(values, np.array([0.0, 0.5, 0.5])) == 1.0
    assert middle_value(values, np.full(3, 1.0 / 3.0)) == 2.0


def test_parameters_are_found_or_the_way_out_is_told() -> None:
    latent = two_parameters()
    assert parameter_values(latent, "success")[1].tolist() == [0.3, 0.3, 0.7, 0.7]
    with pytest.raises(InvalidArgument, match="no parameter is given, and 2") as caught:
        parameter_values(latent, None)
    assert "success" in caught.value.hint
    with pytest.raises(InvalidArgument, match="no parameter 'sucess'") as caught:
        parameter_values(latent, "sucess")
    assert caught.value.hint == "did you mean success?"
    with pytest.raises(InvalidArgument, match="no parameter 'zzz'") as caught:
        parameter_values(latent, "zzz")
    assert "success" in caught.value.hint
    assert parameter_values(coins(0.1, 0.2), None)[0] == "p"
    with pytest.raises(InvalidArgument, match=r"'p' is 0\.5 in every model"):
        parameter_values(coins(0.5), "p")
    with pytest.raises(InvalidArgument, match="have no parameters"):
        parameter_values(
            LatentMDP.uniform(catalogue.build_instance("absorbing_doors")), None
        )
