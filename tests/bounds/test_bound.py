"""Records of bounds and the search for the horizon at which they begin to speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, inf, log, sqrt

import pytest
from hypothesis import given, strategies as st

from simgap.bounds import Chernoff, Kind, Quantity, elimination_gap
from simgap.bounds.bound import (
    LITERAL,
    first_above_zero,
    first_below,
    first_fit,
    upper_bound,
)
from simgap.errors import InvalidArgument
from tests.strategies import STEADY


def scan(condition: Callable[[int], bool], most: int) -> float:
    return next((h for h in range(1, most) if condition(h)), inf)


@STEADY
@given(
    st.floats(0.0, 12.0),
    st.floats(0.0, 6.0),
    st.floats(0.0, 5.0),
    st.integers(1, 5),
)
def test_the_first_horizon_is_that_of_a_scan(
    root: float, logarithm: float, constant: float, steps: int
) -> None:
    """Jumps of a rounded logarithm included: only monotony is needed."""

    def bound(h: int) -> float:
        return root * sqrt(h) + steps * ceil(logarithm * log(h + 1)) + constant

    assert first_below(bound) == scan(lambda h: bound(h) < h, 20_000)
    assert first_fit(bound) == scan(lambda h: bound(h) <= h, 20_000)


def test_a_bound_that_never_speaks_says_so() -> None:
    assert first_below(lambda h: 2.0 * h) == inf
    assert first_below(lambda h: inf) == inf
    assert first_fit(lambda h: 1.5 * h) == inf
    assert first_below(lambda h: 0.0) == 1
    assert first_below(lambda h: 1e14) == 10**14 + 1  # found without a scan


@STEADY
@given(st.floats(0.01, 3.0), st.floats(0.0, 40.0), st.floats(0.01, 0.5))
def test_a_concave_bound_is_first_positive_where_a_scan_says(
    slope: float, begin: float, bend: float
) -> None:
    def bound(h: int) -> float:
        return slope * h - begin - bend * h * sqrt(h)

    assert first_above_zero(bound) == scan(lambda h: bound(h) > 0.0, 100_000)


def test_a_bound_is_asked_at_other_horizons() -> None:
    bound = elimination_gap(Chernoff(0.5), horizon=10, members=3, diameter=2.0)
    for horizon in (1, 10, 1000):
        again = elimination_gap(Chernoff(0.5), horizon=horizon, members=3, diameter=2.0)
        assert bound.at(horizon) == again.value
        assert bound.non_vacuous_from == again.non_vacuous_from
    with pytest.raises(InvalidArgument, match="horizon is 0"):
        bound.at(0)


def test_vacuous_and_holding() -> None:
    made = upper_bound("x", Quantity.BASE_GAP, lambda h: 10.0, 10)
    assert made.vacuous
    assert not upper_bound("x", Quantity.BASE_GAP, lambda h: 9.9, 10).vacuous
    assert made.holds
    assert not replace(made, unmet=("more",)).holds
    assert not replace(made, label=LITERAL).holds
    below = replace(made, kind=Kind.LOWER, value=0.0)
    assert below.vacuous
    assert not replace(below, value=1e-9).vacuous
