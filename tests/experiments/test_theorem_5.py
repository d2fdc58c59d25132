"""Algorithm 1 below C1: all histories, all rules, and a share that is too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.claim import ClaimResult
from simgap.experiments.theorems.theorem_5_elimination import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(exact_horizon=70, horizons=(1000,), runs=200)


@pytest.fixture(scope="module")
def found() -> ClaimResult:
    return measured(TINY, 0, silent)


def test_algorithm_1_loses_at_most_c1(found: ClaimResult) -> None:
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected
    assert len(found.checks) == 8


def test_histories_and_samples_agree_where_both_are_there() -> None:
    both = measured(replace(TINY, exact_horizon=60, horizons=(60,)), 1, silent)
    exact, sampled = (table.rows for table in both.tables)
    for row, other in zip(exact[:2], sampled[:2], strict=True):
        assert row[:2] == other[:2]
        assert float(row[3]) == pytest.approx(float(other[3]), rel=0.05)


def test_c1_of_two_sure_arms_is_that_of_theory_4_5(found: ClaimResult) -> None:
    """delta = 1.8 and D = 20/19; n0 = 13 for Chernoff and 6 for Bhattacharyya."""
    rows, D = found.tables[0].rows, 20 / 19
    for row, n0 in zip(rows, (13, 6), strict=False):
        assert row[4] == pytest.approx(n0 * (2 * D * 4 + 1) + D + 1, rel=1e-9)


def test_a_hundredth_of_c1_is_too_little() -> None:
    little = replace(TINY, exact_horizon=20, runs=20, share=0.01)
    assert measured(little, 0, silent).verdict is ClaimVerdict.REFUTED
