from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.errors import InvalidArgument
from simgap.intervals import (
    Certified,
    Estimate,
    defect,
    greatest,
    least,
    row_defects,
    weighted_sum,
)
from tests.strategies import STEADY

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)

SIZES = (0.0, 1.0, -1.0, 0.1, 1e16, -3e-17, 5e-324, 1e300, 1e6 + 0.3)


def holds(ends: Certified, truth: Fraction) -> bool:
    low, high = ends.ends
    return Fraction(low) <= truth <= Fraction(high)


def test_sums_and_differences_enclose_the_truth_and_are_one_unit_wide_at_most() -> None:
    for one in SIZES:
        for two in SIZES:
            total = Certified(one, one) + Certified(two, two)
            rest = Certified(one, one) - Certified(two, two)
            for found, truth in (
                (total, Fraction(one) + Fraction(two)),
                (rest, Fraction(one) - Fraction(two)),
            ):
                assert holds(found, truth)
                low, high = found.ends
                assert high in (low, np.nextafter(low, inf))
                assert (low == high) == (Fraction(low) == truth)


def test_plain_floats_would_miss() -> None:
    """The control: without outward rounding most differences are not the truth."""
    rng = np.random.default_rng(1)
    pairs = rng.random((200, 2)).tolist()
    wrong = sum(Fraction(a - b / 3) != Fraction(a) - Fraction(b / 3) for a, b in pairs)
    assert wrong > 20
    for a, b in pairs:
        one, two = Certified(a, a), Certified(b / 3, b / 3)
        assert holds(one - two, Fraction(a) - Fraction(b / 3))


def test_weighted_sums_enclose_the_truth() -> None:
    rng = np.random.default_rng(2)
    for scale in (1.0, 1e-300, 1e8):
        for _ in range(100):
            weights = rng.dirichlet(np.ones(5)).tolist()
            numbers = (scale * rng.normal(size=5)).tolist()
            both = zip(map(Fraction, weights), map(Fraction, numbers), strict=True)
            truth = sum((w * x for w, x in both), Fraction(0))
            found = weighted_sum(weights, numbers, numbers)
            assert holds(found, truth)
            low, high = found.ends
            assert high - low <= 2e-15 * scale + 1e-320
    assert weighted_sum([0.5, 0.5], [0.0, 0.0], [0.0, inf]).ends == (0.0, inf)


def test_how_far_a_law_is_from_one() -> None:
    law = [0.1, 0.2, 0.7]
    off = abs(sum(map(Fraction, law), Fraction(-1)))
    assert 0 < off <= Fraction(defect(law)) <= 2 * off
    assert defect([0.25, 0.75]) == 0.0
    rows = row_defects(np.array([0, 3, 4]), np.array([[*law, 1.0]]))
    assert Fraction(float(rows[0])) >= off


def test_two_brackets_of_one_number_are_one() -> None:
    assert Certified(0.0, 2.0).meet(Certified(1.0, 3.0)) == Certified(1.0, 2.0)
    with pytest.raises(AssertionError, match="apart"):
        Certified(0.0, 1.0).meet(Certified(2.0, 3.0))


@pytest.mark.parametrize(("lower", "upper"), [(2.0, 1.0), (nan, 1.0), (0.0, nan)])
def test_ends_are_numbers_in_order(lower: float, upper: float) -> None:
    with pytest.raises(InvalidArgument):
        Certified(lower, upper)


@STEADY
@given(st.lists(NUMBERS, min_size=4, max_size=4))
def test_every_number_within_the_ends_stays_within(four: list[float]) -> None:
    a, b, c, d = sorted(four[:2]) + sorted(four[2:])
    one, other = Certified(a, b), Certified(c, d)
    for x in (a, b, (a + b) / 2.0):
        assert holds(abs(one), abs(Fraction(x)))
        for y in (c, d, (c + d) / 2.0):
            assert holds(one * other, Fraction(x) * Fraction(y))
            assert holds(one * y, Fraction(x) * Fraction(y))
            assert holds(one - other, Fraction(x) - Fraction(y))
            assert holds(one + y, Fraction(x) + Fraction(y))
            assert holds(y - one, Fraction(y) - Fraction(x))
            if c > 0.0:
                assert holds(one / other, Fraction(x) / Fraction(y))
                assert holds(x / other, Fraction(x) / Fraction(y))


def test_the_greatest_and_the_least_have_both_ends_and_count_confidence() -> None:
    several = [Certified(0.0, 3.0), Certified(1.0, 2.0)]
    assert greatest(several) == Certified(1.0, 3.0)
    assert least(several) == Certified(0.0, 2.0)
    assert greatest([0.5, *several]) == Certified(1.0, 3.0)
    one, two = Estimate(1.0, 0.5, 1.5, 0.99), Estimate(4.0, 3.0, 5.0, 0.98)
    part = greatest([one / 1.0, two / 8.0, Certified(0.0, 6.0) / 4.0])
    assert isinstance(part, Estimate)
    assert (part.lower, part.estimate, part.upper) == (0.5, 1.0, 1.5)
    assert part.confidence == pytest.approx(0.97)
    low = least([one, two])
    assert isinstance(low, Estimate)
    assert (low.lower, low.estimate, low.upper) == (0.5, 1.0, 1.5)
