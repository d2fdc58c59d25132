"""Estimated means: both intervals, the warning, where they are cut."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate, Guaranteed, greatest, greatest_of
from simgap.statistics import Part, estimated_mean


@pytest.mark.parametrize(
    ("confidence", "quantile"), [(0.9, 1.648682), (0.95, 1.965927), (0.99, 2.588207)]
)
def test_each_end_fails_with_half_of_the_chance(
    confidence: float, quantile: float
) -> None:
    """Student's t with 399 degrees of freedom.

    What samples may be too small by moves the upper end, and only that.
    """
    values = 5.0 + np.tile([-1.0, 1.0], 200)
    found = estimated_mean([Part(values, -1e9, 1e9)], confidence)
    half = quantile / sqrt(399)
    assert found.upper - 5.0 == pytest.approx(half, rel=1e-6)
    assert 5.0 - found.lower == pytest.approx(half, rel=1e-6)
    short = Part(values, -1e9, 1e9, short=np.tile([0.0, 0.6], 200))
    cut = estimated_mean([short], confidence)
    assert cut.lower == found.lower
    assert cut.upper == pytest.approx(found.upper + 0.3)


def test_strata_have_the_degrees_of_freedom_of_satterthwaite() -> None:
    """The stratum of 3 samples has 9/10 of the variance: 1 / (.81/2 + .01/29)."""
    few = np.array([-1.0, 0.0, 1.0])
    many = np.tile([-1.0, 1.0], 15) * sqrt(29 / 30)  # its variance is 1
    parts = [Part(few, -inf, inf, 0.75), Part(many, -inf, inf, 0.75 * sqrt(10 / 9))]
    found = estimated_mean(parts, 0.95)
    error = 0.75 * sqrt(1 / 3 + 1 / 27)
    assert found.standard_error == pytest.approx(error)
    freedom = 1.0 / (0.81 / 2.0 + 0.01 / 29.0)
    half = float(student.ppf(0.975, freedom)) * error
    assert found.upper - found.estimate == pytest.approx(half)


def test_both_intervals_are_there_whatever_was_sampled() -> None:
    rng = np.random.default_rng(0)
    coins = estimated_mean([Part((rng.random(400) < 0.3).astype(float), 0, 1)], 0.95)
    still = estimated_mean([Part(1e-4 * rng.random(400), 0.0, 1.0)], 0.95)
    for found in (coins, still):
        assert found.guaranteed is not None
        assert found.guaranteed.lower <= found.estimate <= found.guaranteed.upper
    assert coins.guaranteed is not None and still.guaranteed is not None
    wide = still.guaranteed.upper - still.guaranteed.lower
    assert wide > 100.0 * (still.upper - still.lower)


def test_few_samples_that_carry_the_spread_are_a_warning() -> None:
    """It stands beside the interval, which does not change."""
    values = np.zeros(100)
    assert estimated_mean([Part(values, -1.0, 1.0)], 0.95).warning == "all-alike"
    assert estimated_mean([Part(values, 0.0, 0.0)], 0.95).warning is None
    values[7:9] = 0.01
    found = estimated_mean([Part(values, -1.0, 1.0)], 0.95)
    assert found.warning == "rare-events"
    assert found.upper < 0.001
    assert found.guaranteed is not None and found.guaranteed.upper > 0.02
    values[::2] = 0.01
    assert estimated_mean([Part(values, -1.0, 1.0)], 0.95).warning is None


def test_a_single_sample_has_the_interval_of_the_theorem() -> None:
    found = estimated_mean([Part(np.array([0.25]), 0.0, 1.0)], 0.95)
    assert found.guaranteed is not None
    assert (found.lower, found.upper) == found.guaranteed.ends


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
    found = Estimate(2.0, 1.0, 4.0, 0.95, "how", 0.5, Guaranteed(0.0, 5.0))
    assert found.changed(-2.0, 1.0) == Estimate(
        -3.0, -7.0, -1.0, 0.95, "how", 1.0, Guaranteed(-9.0, 1.0)
    )


def test_the_greatest_of_several_is_as_sure_as_the_least_sure() -> None:
    one = Estimate.proved(2.0, 1.0, 4.0, 0.99, "")
    other = Estimate(1.5, 1.4, 5.0, 0.99)
    found = greatest_of([one, other], 0.98)
    assert (found.estimate, found.lower, found.upper) == (2.0, 1.4, 5.0)
    assert (found.confidence, found.guaranteed) == (0.98, None)
    assert greatest_of([one, one], 0.98).guaranteed == Guaranteed(1.0, 4.0)
    assert greatest([one, Certified(3.0, 3.5)]) == Estimate(
        3.25, 3.0, 4.0, 0.99, "greatest of 2, all intervals together",
        guaranteed=Guaranteed(3.0, 4.0),
    )  # fmt: skip


def test_without_a_range_nothing_is_guaranteed() -> None:
    values = np.zeros(20)
    values[3] = -8.0
    found = estimated_mean([Part(values, -inf, inf)], 0.95)
    half = 2.093024 * 8.0 / 20  # Student's t with 19 degrees of freedom
    assert (found.guaranteed, found.warning) == (None, "rare-events")
    assert found.lower == pytest.approx(-0.4 - half, rel=1e-5)
    assert found.upper == pytest.approx(-0.4 + half, rel=1e-5)


def test_one_number_without_a_range_has_no_interval() -> None:
    with pytest.raises(InvalidArgument, match="no range"):
        estimated_mean([Part(np.ones(1), -inf, inf)], 0.95)


@pytest.mark.parametrize("size", [1e-200, 1e-60, 1e60, 1e200])
def test_an_interval_is_the_same_in_every_unit(size: float) -> None:
    """Neither squares nor fourth powers of the samples have to be floats."""
    unit = 2.0 ** round(log(size, 2.0))
    rng = np.random.default_rng(5)
    samples = rng.integers(0, 9, (2, 60)) / 8.0

    def found(factor: float) -> Estimate:
        parts = [
            Part(factor * each, 0.0, factor, weight=0.5, short=0.01 * factor * each)
            for each in samples
        ]
        return estimated_mean(parts, 0.95)

    plain, scaled = found(1.0), found(unit)
    assert plain.guaranteed is not None and scaled.guaranteed is not None
    for one, other in ((plain, scaled), (plain.guaranteed, scaled.guaranteed)):
        for low, high in zip(one.ends, other.ends, strict=True):
            assert high == pytest.approx(unit * low, rel=1e-9, abs=0.0)
    assert plain.standard_error is not None and scaled.standard_error is not None
    assert scaled.standard_error == pytest.approx(unit * plain.standard_error, abs=0.0)


def test_samples_that_vary_little_in_a_range_without_squares_keep_their_error() -> None:
    rng = np.random.default_rng(6)
    values = rng.random(400)
    wide = estimated_mean([Part(values, -1e160, 1e160)], 0.95)
    plain = estimated_mean([Part(values, -inf, inf)], 0.95)
    assert wide.standard_error == plain.standard_error == pytest.approx(0.0145, rel=0.1)
    assert wide.upper - wide.lower >= plain.upper - plain.lower > 0.05
