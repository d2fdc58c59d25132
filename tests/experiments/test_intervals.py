"""Arithmetic with ends holds the exact result; exponents know their brackets."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given, strategies as st

from simgap.errors import InvalidArgument
from simgap.experiments.framework.intervals import (
    around,
    bracketed_exponent,
    curve,
    ends,
    greatest,
    least,
    middle,
    minus,
    plus,
    ratio,
    size,
    times,
)
from simgap.intervals import Certified, Estimate
from tests.strategies import STEADY

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def holds(found: Certified, exact: Fraction) -> bool:
    low, high = ends(found)
    return Fraction(low) <= exact <= Fraction(high)


@STEADY
@given(NUMBERS, NUMBERS)
def test_sums_products_and_ratios_hold_the_exact_number(a: float, b: float) -> None:
    x, y = Fraction(a), Fraction(b)
    assert holds(plus(a, b), x + y)
    assert holds(minus(a, b), x - y)
    assert holds(times(a, b), x * y)
    assert holds(size(minus(a, b)), abs(x - y))
    if b > 0.0:
        assert holds(ratio(a, b), x / y)


@STEADY
@given(st.lists(NUMBERS, min_size=4, max_size=4))
def test_every_number_within_the_ends_stays_within(four: list[float]) -> None:
    a, b, c, d = sorted(four[:2]) + sorted(four[2:])
    one, other = Certified(a, b), Certified(c, d)
    for x in (a, b, (a + b) / 2.0):
        for y in (c, d, (c + d) / 2.0):
            assert holds(times(one, other), Fraction(x) * Fraction(y))
            assert holds(minus(one, other), Fraction(x) - Fraction(y))


def test_a_ratio_to_what_may_be_zero_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="certainly positive"):
        ratio(1.0, Certified(0.0, 1.0))


def test_the_greatest_and_the_least_have_both_ends() -> None:
    several = [Certified(0.0, 3.0), Certified(1.0, 2.0)]
    assert greatest(several) == Certified(1.0, 3.0)
    assert least(several) == Certified(0.0, 2.0)


def test_what_rounding_cannot_tell_from_zero_is_printed_as_zero() -> None:
    assert middle(Certified(0.0, 1e-13)) == 0.0
    assert middle(around(0.0, 1e-11)) == 0.0
    assert middle(Certified(0.0, 1.0)) == 0.5
    assert middle(Certified(1e-13, 3e-13)) == pytest.approx(2e-13)
    assert middle(Estimate(0.3, 0.0, 1.0, 0.95)) == 0.3


def test_what_is_not_finite_is_not_drawn() -> None:
    drawn = curve("line", [1.0, 2.0, 3.0], [1.0, inf, Certified(2.0, 4.0)])
    assert [(p.x, p.y, p.lower, p.upper) for p in drawn.points] == [
        (1.0, 1.0, 1.0, 1.0),
        (3.0, 3.0, 2.0, 4.0),
    ]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_law_has_its_exponent(power: float) -> None:
    x = [4.0, 8.0, 32.0, 100.0]
    found = bracketed_exponent(x, [3.0 * each**power for each in x])
    assert found.estimate == pytest.approx(power)
    assert found.upper - found.lower < 1e-9


def test_an_exponent_allows_for_every_number_within_the_brackets() -> None:
    """The steepest and the flattest curve through the brackets are within."""
    x = [1.0, 10.0, 100.0]
    brackets = [Certified(1.0, 2.0), Certified(10.0, 20.0), Certified(100.0, 200.0)]
    found = bracketed_exponent(x, brackets)
    for chosen in ([2.0, 10.0, 100.0], [1.0, 20.0, 200.0]):
        inside = bracketed_exponent(x, chosen)
        assert found.lower <= inside.estimate <= found.upper
    sharp = bracketed_exponent(x, [1.0, 10.0, 100.0])
    assert found.upper - found.lower > sharp.upper - sharp.lower + 0.25
