"""Estimated means: which label, what room, where they are cut."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.intervals import Estimate, common_label, greatest_of
from simgap.statistics import Part, estimated_mean


@pytest.mark.usefixtures("only_approximate")
def test_samples_that_are_alike_leave_room_on_both_sides() -> None:
    """n samples miss an event of chance log(2 / 0.05) / n, and it may be anything."""
    found = estimated_mean([Part(np.full(100, 3.0), -1.0, 4.0)], 0.95)
    missed = log(40.0) / 100
    assert found.label == "approximate"
    assert found.lower == pytest.approx(3.0 - missed * 4.0)
    assert found.upper == pytest.approx(3.0 + missed * 1.0)


@pytest.mark.usefixtures("only_approximate")
def test_few_samples_that_differ_tell_little_of_what_may_come() -> None:
    """With one of a hundred that differs, room is for all the range."""
    values = np.zeros(100)
    values[7] = 0.01
    one = estimated_mean([Part(values, -1.0, 1.0)], 0.95)
    assert one.upper > log(40.0) / 100 * 0.9
    values[::2] = 0.01
    many = estimated_mean([Part(values, -1.0, 1.0)], 0.95)
    assert many.upper - many.lower < 0.01


@pytest.mark.usefixtures("only_approximate")
@pytest.mark.parametrize(
    ("confidence", "quantile"), [(0.9, 1.648682), (0.95, 1.965927), (0.99, 2.588207)]
)
def test_each_end_fails_with_half_of_the_chance(
    confidence: float, quantile: float
) -> None:
    """Student's t with 399 degrees of freedom, and room for an event of two steps.

    What samples may be too small by moves the upper end, and only that.
    """
    values = 5.0 + np.tile([-1.0, 1.0], 200)
    found = estimated_mean([Part(values, -1e9, 1e9)], confidence)
    room = log(2.0 / (1.0 - confidence)) / 400 * (2.0 + (30.0 / 400) ** 3)
    half = quantile / sqrt(399) + room
    assert found.label == "approximate"
    assert found.upper - 5.0 == pytest.approx(half, rel=1e-6)
    assert 5.0 - found.lower == pytest.approx(half, rel=1e-6)
    short = Part(values, -1e9, 1e9, short=np.tile([0.0, 0.6], 200))
    cut = estimated_mean([short], confidence)
    assert cut.lower == found.lower
    assert cut.upper == pytest.approx(found.upper + 0.3)


def test_guaranteed_intervals_are_taken_where_they_are_affordable() -> None:
    rng = np.random.default_rng(0)
    coins = Part((rng.random(400) < 0.3).astype(float), 0.0, 1.0)
    assert estimated_mean([coins], 0.95).label == "guaranteed"
    still = Part(1e-4 * rng.random(400), 0.0, 1.0)
    cheap = estimated_mean([still], 0.95)
    asked = estimated_mean([still], 0.95, guaranteed=True)
    assert (cheap.label, asked.label) == ("approximate", "guaranteed")
    assert asked.upper - asked.lower > 100.0 * (cheap.upper - cheap.lower)
    large = Part(5.0 + 1e-4 * rng.random(400), 5.0, 6.0)  # small against the estimate
    assert estimated_mean([large], 0.95).label == "guaranteed"


def test_intervals_end_at_what_is_certain() -> None:
    values = np.random.default_rng(1).random(30)
    found = estimated_mean([Part(values, 0.0, 1.0)], 0.95, least=0.45, greatest=0.5)
    assert 0.45 <= found.lower <= found.estimate <= found.upper <= 0.5


def test_weights_of_nothing_are_left_out_and_bad_settings_refused() -> None:
    one = Part(np.arange(10.0), 0.0, 9.0)
    none = Part(np.zeros(0), 0.0, 9.0, weight=0.0)
    assert estimated_mean([one, none], 0.95) == estimated_mean([one], 0.95)
    for parts, confidence in (([], 0.95), ([one], 1.0), ([none], 0.95)):
        with pytest.raises(InvalidArgument):
            estimated_mean(parts, confidence)
    several = Part(np.arange(10.0), 0.0, 9.0, one_law=False)
    with pytest.raises(InvalidArgument, match="several laws"):
        estimated_mean([several], 0.95, stopped=True)


def test_a_seed_gives_the_same_interval() -> None:
    made = [
        estimated_mean([Part(np.random.default_rng(5).random(50), 0.0, 1.0)], 0.9)
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_an_estimate_lies_within_what_is_certified() -> None:
    found = Estimate(0.0237, 0.0185, 0.0289, 0.95)
    assert found.within(0.0243, 0.0253) == Estimate(0.0243, 0.0243, 0.0253, 0.95)
    assert found.within(None, None) == found
    assert found.within(0.02, None).lower == 0.02
    missed = found.within(0.5, 0.6)  # nothing is left: the interval missed
    assert (missed.lower, missed.estimate, missed.upper) == (0.5, 0.5, 0.6)
    beyond = found.within(0.5, None)
    assert beyond.lower == beyond.estimate == 0.5
    assert beyond.upper == pytest.approx(0.5 + 0.0104)
    below = found.within(None, -1.0)
    assert below.upper == below.estimate == -1.0
    with pytest.raises(InvalidArgument):
        found.within(2.0, 1.0)


def test_an_estimate_is_scaled_and_mirrored() -> None:
    found = Estimate(2.0, 1.0, 4.0, 0.95, "how", 0.5, "guaranteed")
    assert found.changed(-2.0, 1.0) == Estimate(
        -3.0, -7.0, -1.0, 0.95, "how", 1.0, "guaranteed"
    )


def test_the_greatest_of_several_is_as_sure_as_the_least_sure() -> None:
    one = Estimate(2.0, 1.0, 4.0, 0.99, label="guaranteed")
    other = Estimate(1.5, 1.4, 5.0, 0.99)
    found = greatest_of([one, other], 0.98)
    assert (found.estimate, found.lower, found.upper) == (2.0, 1.4, 5.0)
    assert (found.confidence, found.label) == (0.98, "approximate")
    assert common_label([one, one]) == "guaranteed"


@pytest.mark.usefixtures("only_approximate")
def test_what_was_met_in_one_part_says_nothing_of_another() -> None:
    """A part whose samples are all alike keeps its room beside one that is noisy."""
    rng = np.random.default_rng(2)
    noisy = Part(0.01 * rng.random(400), 0.0, 1.0, weight=0.5)
    still = Part(np.zeros(400), 0.0, 1.0, weight=0.5)
    found = estimated_mean([noisy, still], 0.95)
    assert found.upper - found.estimate > log(40.0) / 400 * 0.5
    small = [Part(0.01 * rng.random(8), 0.0, 1.0, weight=0.02) for _ in range(50)]
    together = estimated_mean(small, 0.95)  # too few to speak for themselves
    assert together.upper - together.lower < 0.01


def test_without_a_range_nothing_is_guaranteed_and_room_has_an_end() -> None:
    """One of twenty is far away: room is for three times that, not for infinity."""
    values = np.zeros(20)
    values[3] = -8.0
    found = estimated_mean([Part(values, -inf, inf)], 0.95, guaranteed=True)
    half = 2.093024 * 8.0 / 20  # Student's t with 19 degrees of freedom
    room = log(40.0) / 20 * 3.0 * 8.0
    assert found.label == "approximate"
    assert found.lower == pytest.approx(-0.4 - half - room, rel=1e-5)
    assert found.upper == pytest.approx(-0.4 + half + room, rel=1e-5)


def test_equal_numbers_without_a_range_leave_no_room() -> None:
    found = estimated_mean([Part(np.full(5, 3.0), -inf, inf)], 0.95)
    assert (found.lower, found.upper, found.label) == (3.0, 3.0, "approximate")


def test_one_number_without_a_range_has_no_interval() -> None:
    with pytest.raises(InvalidArgument, match="no range"):
        estimated_mean([Part(np.ones(1), -inf, inf)], 0.95)


@pytest.mark.parametrize("size", [1e-200, 1e-60, 1e60, 1e200])
@pytest.mark.parametrize("guaranteed", [False, True])
def test_an_interval_is_the_same_in_every_unit(size: float, guaranteed: bool) -> None:
    """Neither squares nor fourth powers of the samples have to be floats."""
    unit = 2.0 ** round(log(size, 2.0))
    rng = np.random.default_rng(5)
    samples = rng.integers(0, 9, (2, 60)) / 8.0

    def found(factor: float) -> Estimate:
        parts = [
            Part(factor * each, 0.0, factor, weight=0.5, short=0.01 * factor * each)
            for each in samples
        ]
        return estimated_mean(parts, 0.95, guaranteed=guaranteed)

    plain, scaled = found(1.0), found(unit)
    assert scaled.label == plain.label
    assert scaled.lower == pytest.approx(unit * plain.lower, rel=1e-9, abs=0.0)
    assert scaled.upper == pytest.approx(unit * plain.upper, rel=1e-9, abs=0.0)
    assert plain.standard_error is not None and scaled.standard_error is not None
    assert scaled.standard_error == pytest.approx(unit * plain.standard_error, abs=0.0)


def test_samples_that_vary_little_in_a_range_without_squares_keep_their_error() -> None:
    rng = np.random.default_rng(6)
    values = rng.random(400)
    wide = estimated_mean([Part(values, -1e160, 1e160)], 0.95)
    plain = estimated_mean([Part(values, -inf, inf)], 0.95)
    assert wide.standard_error == plain.standard_error == pytest.approx(0.0145, rel=0.1)
    assert wide.upper - wide.lower >= plain.upper - plain.lower > 0.05
