"""Separated classes: bounds, logarithmic growth, and a share that is too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.claim import ClaimResult
from simgap.experiments.theorems.theorem_1_separated import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(
    horizons=(100, 3000, 10**4, 10**5, 10**6),
    arms_oracle=(32, 48, 64),
    rivers_oracle=(32,),
    runs=400,
    lengths=(4, 8, 16, 32),
    members=(4, 8, 16, 24),
    corridor_horizon=10**5,
    corridor_runs=10,
)


@pytest.fixture(scope="module")
def found() -> ClaimResult:
    return measured(TINY, 0, silent)


def test_a_separated_class_costs_a_logarithm(found: ClaimResult) -> None:
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected
    low, high = found.key_number.value.ends
    assert 0.05 < low < high < 0.2


def test_the_powers_of_d_and_m_are_those_of_c1(found: ClaimResult) -> None:
    """Every sample costs the way: the gap of Algorithm 1 is linear in D."""
    powers = {check.name[-3:]: check for check in found.checks[-2:]}
    assert set(powers) == {"D^1", "M^2"}
    assert all(check.verdict is ClaimVerdict.HOLDS for check in powers.values())
    assert powers["D^1"].left.ends[0] > 0.8
    assert powers["M^2"].left.ends[0] > 0.8


def test_stage_one_does_not_fit_into_a_hundred_steps_of_a_river(
    found: ClaimResult,
) -> None:
    rows = found.tables[0].rows
    fits = {(row[0], row[1]): row[4] for row in rows}
    assert fits["three rivers", 100] == "no"
    assert fits["three rivers", 10**6] == "yes"
    # n0 = ceil(8 log(2 H) / 1.2^2) = 81 at H = 10^6, D = 5/4: theory 4.5
    bound = {(row[0], row[1]): row[3] for row in rows}["two arms", 10**6]
    assert bound == pytest.approx(81 * (2 * 1.25 * 4 + 1) + 1.25 + 1, rel=1e-9)


def test_a_thousandth_of_the_bounds_is_too_little() -> None:
    little = replace(
        TINY, arms_oracle=(8, 10, 12), rivers_oracle=(8,), runs=20, share=1e-3
    )
    checks = measured(little, 0, silent).checks
    assert all(check.verdict is ClaimVerdict.REFUTED for check in checks[-2:])
