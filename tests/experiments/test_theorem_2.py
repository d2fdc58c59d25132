"""Finite classes: a square root at the worst difference, below every bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.claim import ClaimResult
from simgap.experiments.theorems.theorem_2_finite import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(
    oracle_pulls=(16, 24, 32, 48),
    oracle_scales=(1.0, 1.25),
    arm_horizons=(10**3, 10**4, 10**5),
    arm_scales=(1.25,),
    tree_horizons=(10**5, 2 * 10**5, 4 * 10**5),
    tree_scales=(6.0,),
    runs=60,
    diameters=(3, 6, 12),
    members=(2, 4, 8),
    wide_horizon=10**4,
    wide_scales=(2.0,),
)


@pytest.fixture(scope="module")
def found() -> ClaimResult:
    return measured(TINY, 0, silent)


def test_the_worst_difference_costs_a_square_root(found: ClaimResult) -> None:
    """So small settings leave exponents undecided between 0.45 and 0.55."""
    assert ClaimVerdict.REFUTED not in {check.verdict for check in found.checks}
    assert CLAIM.expected is ClaimVerdict.HOLDS
    ratios = [check for check in found.checks if "greatest ratio" in check.name]
    assert {check.verdict for check in ratios} == {ClaimVerdict.HOLDS}
    assert len(ratios) == 6
    low, high = found.key_number.value.ends
    assert 0.45 < low < high < 0.6


def test_algorithm_3_comes_near_its_own_bound(found: ClaimResult) -> None:
    trees = [row for row in found.tables[0].rows if "tree" in str(row[0])]
    assert len(trees) == 3
    for row in trees:
        assert 0.8 < float(row[3]) / float(row[4]) < 1.0


def test_row_20_is_one_of_the_classes() -> None:
    """W* of two arms, n = 10, e = .25 sqrt(2/10): the gap is 0.459264."""
    settings = replace(
        TINY,
        oracle_pulls=(10, 12, 14),
        oracle_scales=(0.125**0.5,),
        arm_horizons=(300, 600, 1000),
        tree_horizons=(1000, 2000, 3000),
        runs=5,
    )
    rows = measured(settings, 0, silent).tables[0].rows
    assert rows[0][:2] == ("oracle, two arms", 11)
    assert rows[0][2] == pytest.approx(0.25 * (2 / 10) ** 0.5)
    assert rows[0][3] == pytest.approx(0.459264, abs=5e-7)


def test_a_tenth_of_the_bounds_is_too_little() -> None:
    little = replace(
        TINY,
        oracle_pulls=(8, 10, 12),
        arm_horizons=(300, 600, 1000),
        tree_horizons=(1000, 2000, 3000),
        runs=20,
        share=0.1,
    )
    assert measured(little, 0, silent).verdict is ClaimVerdict.REFUTED
