"""Verdicts follow from intervals, tables from rows, exponents from noisy points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Scale,
    Tell,
    check,
    table,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.intervals import Certified, Estimate, Number
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent


def estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2.0, low, high, 0.95)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (1.0, 1.0, ClaimVerdict.HOLDS),
        (1.0, 0.999, ClaimVerdict.REFUTED),
        (estimate(0.0, 1.0), 1.0, ClaimVerdict.HOLDS),
        (estimate(0.0, 1.1), 1.0, ClaimVerdict.UNDECIDED),
        (estimate(1.1, 1.2), estimate(0.5, 1.0), ClaimVerdict.REFUTED),
        (Certified(0.0, 2.0), Certified(1.0, 3.0), ClaimVerdict.UNDECIDED),
    ],
)
def test_a_check_holds_fails_or_does_not_say(
    left: Number, right: Number, verdict: ClaimVerdict
) -> None:
    assert check("a check", left, right).verdict is verdict


def test_one_refutation_is_enough_and_nothing_is_undecided() -> None:
    yes, no = check("yes", 1.0, 1.0), check("no", 2.0, 1.0)
    perhaps = check("perhaps", Certified(0.0, 2.0), 1.0)
    for checks, verdict in (
        ((yes, yes), ClaimVerdict.HOLDS),
        ((yes, perhaps), ClaimVerdict.UNDECIDED),
        ((perhaps, no), ClaimVerdict.REFUTED),
        ((), ClaimVerdict.UNDECIDED),
    ):
        assert ClaimResult(checks, ("none", 0.0), "").verdict is verdict


def test_what_is_not_a_number_cannot_be_checked() -> None:
    with pytest.raises(InvalidArgument):
        check("wrong", float("nan"), 1.0)


def measured(settings: int, seed: int, tell: Tell) -> ClaimResult:
    return ClaimResult((), ("settings and seed", float(settings + seed)), "")


def test_a_claim_is_measured_with_the_settings_of_its_scale() -> None:
    claim = Claim("x", "x", "x", "x", measured, quick=1, full=100)
    assert claim.run(Scale.QUICK, 3, silent).key[1] == 4.0
    assert claim.run(Scale.FULL, 3, silent).key[1] == 103.0
    assert claim.expected is ClaimVerdict.HOLDS
    with pytest.raises(InvalidArgument, match="undecided"):
        Claim("x", "x", "x", "x", measured, 1, 2, expected=ClaimVerdict.UNDECIDED)


@dataclass(frozen=True)
class Inner:
    members: Annotated[int, "M"]


@dataclass(frozen=True)
class Row:
    name: Annotated[str, "class"]
    inner: Inner
    gap: Annotated[Number, "gap"]
    whole: Annotated[float, "d_e", "certified"]
    hidden: float = 0.0


def test_a_row_with_headings_is_a_line_of_a_table() -> None:
    rows = [Row("a", Inner(2), Certified(0.0, 1e-12), 3.0), Row("b", Inner(3), 0.5, 4)]
    found = table("rows", rows)
    assert found.columns == ("class", "M", "gap", "d_e")
    assert found.rows == (("a", 2, 0.0, 3.0), ("b", 3, 0.5, 4))
    assert found.certainty == ("exact", "exact", "certified", "certified")
    sampled = table("rows", [Row("a", Inner(2), estimate(0.0, 1.0), 3.0)])
    assert sampled.certainty[2] == "estimated"
    assert sampled.rows[0][2] == 0.5


def test_a_number_without_a_heading_is_no_column() -> None:
    @dataclass(frozen=True)
    class Both:
        shown: Annotated[Estimate, "shown"]
        left_out: Estimate

    found = table("rows", [Both(estimate(0.0, 1.0), estimate(2.0, 3.0))])
    assert found.columns == ("shown",) and found.rows == ((0.5,),)


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


def test_an_exponent_allows_for_every_number_within_the_brackets() -> None:
    """The steepest and the flattest curve through the brackets are within."""
    x = [1.0, 10.0, 100.0]
    brackets = [Certified(1.0, 2.0), Certified(10.0, 20.0), Certified(100.0, 200.0)]
    found = growth_exponent(x, brackets)
    for chosen in ([2.0, 10.0, 100.0], [1.0, 20.0, 200.0]):
        inside = growth_exponent(x, chosen)
        assert found.lower <= inside.estimate <= found.upper
    sharp = growth_exponent(x, [1.0, 10.0, 100.0])
    assert found.upper - found.lower > sharp.upper - sharp.lower + 0.25


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, 2.0], [1.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0]),
        ([1.0, 2.0, 3.0], [1.0, Certified(0.0, 1.0), 2.0]),
    ],
)
def test_points_without_a_slope_are_refused(x: list[float], y: list[Number]) -> None:
    with pytest.raises(InvalidArgument):
        growth_exponent(x, y)
