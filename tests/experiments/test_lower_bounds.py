"""Theorem 3 and its bandit: rows of the theory, two oracles, controls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.two_switches import two_switches
from simgap.experiments.theorems import (
    bandit_lower_bound as bandit,
    theorem_3_lower_bound as tree,
)
from simgap.instances import switch_tree
from simgap.intervals import Estimate
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

ARMS = bandit.Settings(
    pulls=((2, (8, 16, 32)), (3, (4, 8, 12))), fixed=(bandit.ROW_19, bandit.ROW_20)
)
TREES = tree.Settings(
    horizons=(32, 64, 128),
    diameters=(2.5, 5.0, 10.0, 20.0),
    far_horizon=128,
    pulls=(2, 3, 4),
    wide_horizon=16,
    trees=(tree.ROW_21, tree.ROW_21B),
    members=(100,),
    actions=(10,),
    farther=(1.0,),
    longer=(1.0,),
)


def test_no_oracle_is_below_the_bandit_bound() -> None:
    found = bandit.measured(ARMS, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is bandit.CLAIM.expected
    exponent = found.key_number.value
    assert isinstance(exponent, Estimate)
    assert 0.45 <= exponent.lower <= exponent.upper <= 0.55


def test_rows_19_and_20() -> None:
    rows = bandit.measured(ARMS, 0, silent).tables[0].rows
    fifty, ten = rows[-2][3:], rows[-1][3:]
    assert fifty == pytest.approx((26.48079394, 1.019206, 0.623429), abs=5e-7)
    assert ten == pytest.approx((5.65876998, 0.459264, 0.275917), abs=5e-7)


def test_twice_the_bandit_bound_is_too_much() -> None:
    assert bandit.measured(replace(ARMS, raised=2.0), 0, silent).verdict is (
        ClaimVerdict.REFUTED
    )


def test_no_oracle_is_below_the_formula_of_theorem_3() -> None:
    """Theory rows 21 and 21b, and exponent about 1/2."""
    found = tree.measured(TREES, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is tree.CLAIM.expected
    row_21, row_21b = found.tables[0].rows[-2:]
    assert row_21[7:9] == pytest.approx((10.01643589, 0.678009), abs=5e-7)
    assert row_21b[7:] == pytest.approx((251.0533914, 1.4081236, 0.1781441), abs=5e-7)
    exponent = found.key_number.value
    assert isinstance(exponent, Estimate)
    assert 0.4 < exponent.lower <= exponent.upper < 0.6


def test_the_gap_of_oracles_grows_with_the_roots_of_h_d_and_m() -> None:
    """With e as hard as it can be; an e that is too small for that is the control."""
    found = tree.measured(TREES, 0, silent)
    words = ("H^", "D^", "M^")
    grows = [check for check in found.checks if any(w in check.name for w in words)]
    assert len(grows) == 6
    assert {check.verdict for check in grows} == {ClaimVerdict.HOLDS}
    easy = tree.measured(replace(TREES, power=1.0), 0, silent)
    refuted = {
        check.name[-5:-3]
        for check in easy.checks
        if check.verdict is ClaimVerdict.REFUTED
    }
    assert refuted == set(words)


def test_eight_times_the_formula_is_too_much() -> None:
    """The gap is 7.9 times the formula in theory row 21b."""
    few = replace(TREES, trees=(tree.ROW_21B,), raised=8.0)
    assert tree.measured(few, 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize("horizon", [1, 2, 7, 20])
@pytest.mark.parametrize(("delta", "e"), [(0.25, 0.1), (0.4, 0.01), (0.1, 0.5)])
def test_the_table_of_two_switches_is_the_oracle(
    horizon: int, delta: float, e: float
) -> None:
    """Against the tree of beliefs, which has the idle actions as well."""
    _, gap = two_switches(horizon, delta, e)
    oracle = exact_oracle(switch_tree(1, 2, e, 2, delta=delta), horizon)
    assert gap.middle == pytest.approx(oracle.average_gap.middle, abs=1e-12)
    low, high = gap.ends
    assert low - 1e-12 <= oracle.average_gap.middle <= high + 1e-12


def test_the_formula_says_something_from_one_horizon_on() -> None:
    """Theory row 21b has the scaled e at H = 500: 0.1781441."""
    begin = tree.first_positive()
    assert tree.formula(begin) > 0.0
    assert all(tree.formula(h) <= 0.0 for h in range(1, begin))
    assert all(tree.formula(h) > 0.0 for h in range(begin, 3 * begin))
    assert tree.scaled_e(500) == pytest.approx(0.01)
    assert tree.formula(500) == pytest.approx(0.1781441, abs=5e-7)
