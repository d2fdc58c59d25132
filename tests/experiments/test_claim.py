"""Verdicts follow from intervals; growth exponents from points with noise."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.experiments.framework.claim import (
    Check,
    Claim,
    Verdict,
    exactly,
    verdict_of,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.intervals import Certified, Estimate


def estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2.0, low, high, 0.95)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (exactly(1.0), exactly(1.0), Verdict.HOLDS),
        (exactly(1.0), exactly(0.999), Verdict.REFUTED),
        (estimate(0.0, 1.0), exactly(1.0), Verdict.HOLDS),
        (estimate(0.0, 1.1), exactly(1.0), Verdict.UNDECIDED),
        (estimate(1.1, 1.2), estimate(0.5, 1.0), Verdict.REFUTED),
        (Certified(0.0, 2.0), Certified(1.0, 3.0), Verdict.UNDECIDED),
    ],
)
def test_a_check_holds_fails_or_does_not_say(
    left: Certified | Estimate, right: Certified | Estimate, verdict: Verdict
) -> None:
    assert Check("a check", left, right).verdict is verdict


def test_one_refutation_is_enough_and_nothing_is_undecided() -> None:
    holds, refuted, open_ = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
    assert verdict_of((holds, holds)) is holds
    assert verdict_of((holds, open_)) is open_
    assert verdict_of((open_, refuted)) is refuted
    assert verdict_of(()) is open_


def test_ends_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        exactly(float("nan"))


def test_a_claim_says_what_it_expects() -> None:
    with pytest.raises(InvalidArgument, match="undecided"):
        Claim("x", "x", "x", "x", Verdict.UNDECIDED, lambda *_: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_powers_are_found_exactly_without_noise(power: float) -> None:
    x = [10.0, 30.0, 100.0, 1000.0]
    found = growth_exponent(x, [3.0 * each**power for each in x])
    assert found.estimate == pytest.approx(power, abs=1e-12)
    assert found.upper - found.lower < 1e-9


def test_noisy_powers_are_inside_their_interval_at_the_stated_rate() -> None:
    rng = np.random.default_rng(0)
    x = [10.0, 100.0, 1000.0, 10000.0]
    inside = 0
    for _ in range(400):
        y = []
        for each in x:
            error = 0.05 * each**0.5
            middle = each**0.5 + error * rng.normal()
            y.append(Estimate(middle, middle - error, middle + error, 0.68, "", error))
        found = growth_exponent(x, y)
        inside += found.lower <= 0.5 <= found.upper
    assert inside >= 0.95 * 400 - 4.0 * np.sqrt(400 * 0.05 * 0.95)


def test_a_logarithm_is_no_power() -> None:
    x = [10.0**k for k in range(1, 9)]
    found = growth_exponent(x, [np.log(each) for each in x])
    assert found.upper < 0.25 and found.lower > 0.0


@pytest.mark.parametrize(
    ("x", "y"), [([1.0, 2.0], [1.0, 2.0]), ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])]
)
def test_points_without_a_slope_are_refused(x: list[float], y: list[float]) -> None:
    with pytest.raises(InvalidArgument):
        growth_exponent(x, y)


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    from simgap.records import encode

    record = {"a": np.float64(0.5), "b": [np.int64(3), np.bool_(True)], "c": np.inf}
    assert encode(record) == b'{"a":0.5,"b":[3,true],"c":"inf"}\n'
