"""The printed infinite lemma falls on Proposition 2's class; the corrected stands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.experiments.framework.second_arm import UntilFailure
from simgap.experiments.lemmas import lemma_1_infinite_corrected as corrected
from simgap.experiments.printed import lemma_1_infinite_literal as literal
from simgap.gap import gaps
from simgap.instances import linear_bandit
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent


@pytest.mark.parametrize(
    ("horizon", "members", "claimed", "true"),
    [(5, 25, 0.494949, 2.0), (20, 85, 0.4985, 9.5), (80, 325, 0.4996, 39.5)],
)
def test_e9_the_printed_lemma_promises_a_half_for_a_linear_gap(
    horizon: int, members: int, claimed: float, true: float
) -> None:
    """Theory 4.1b: H = 20, M = 85: 0.4985 for 9.5; H = 80, M = 325: 0.4996 for 39.5."""
    found = literal.measured(literal.Settings(horizons=(horizon,)), 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is literal.CLAIM.expected
    (row,) = found.tables[0].rows
    assert row[:2] == (horizon, members)
    promise, gap = row[4], row[5]
    assert promise == pytest.approx(claimed, abs=5e-5)
    assert gap == pytest.approx(true, abs=1e-9)
    p = np.linspace(0.25, 0.5, members + 1)[1:-1]
    q = 0.5 - p
    closed = float((p * (1.0 - q ** (horizon - 1)) / (1.0 - q)).max())
    check = found.checks[0]
    assert check.left.lower is not None
    assert check.right.lower is not None and check.right.upper is not None
    assert check.right.lower - 1e-9 <= closed <= check.right.upper + 1e-9
    assert check.right.upper - check.right.lower < 1e-5  # L = 0 up to rounding
    assert check.left.lower > check.right.upper + 1.4


def test_with_two_models_the_oracle_explores_and_print_is_right() -> None:
    """The control: the same sentence, on a class on which it is true."""
    few = literal.Settings(horizons=(5, 20), members=2)
    assert literal.measured(few, 0, silent).verdict is ClaimVerdict.HOLDS


@pytest.mark.parametrize("horizon", [2, 5, 20])
def test_the_second_arm_until_it_fails_has_its_closed_gap(horizon: int) -> None:
    """Theory row 24: p (1 - q^n)/(1 - q) for a bad arm, 0 for one that always wins."""
    members = 9
    found = gaps(linear_bandit(members), UntilFailure(), horizon)
    p = np.linspace(0.25, 0.5, members + 1)[1:-1]
    q = 0.5 - p
    closed = [*(p * (1.0 - q ** (horizon - 1)) / (1.0 - q)), 0.0]
    for bracket, exact in zip(found, closed, strict=True):
        assert bracket.lower is not None and bracket.upper is not None
        assert bracket.lower <= exact + 1e-15 and exact <= bracket.upper + 1e-15


TINY = corrected.Settings(
    arms=((2, 2), (20, 20), (500, 500), (6, 1)),
    large_horizons=(4, 6, 8, 12),
    random_classes=4,
    horizon=4,
)


def test_the_corrected_lemma_holds_in_every_ball() -> None:
    found = corrected.measured(TINY, 2, silent)
    assert found.verdict is ClaimVerdict.HOLDS is corrected.CLAIM.expected


def test_a_part_of_the_constant_promises_too_little() -> None:
    """A third of L_gap on infinite classes, a twentieth of the universal constant."""
    third = corrected.measured(replace(TINY, share=1 / 3), 2, silent).checks
    told = [check.verdict for check in third[: len(TINY.arms)]]
    assert told[1:3] == [ClaimVerdict.REFUTED] * 2
    twentieth = corrected.measured(replace(TINY, share=0.05), 2, silent)
    assert twentieth.checks[len(TINY.arms)].verdict is ClaimVerdict.REFUTED


def test_the_gap_of_proposition_2_has_the_constant_of_its_nearest_rival() -> None:
    """L_gap = ((H-1)/2) / (2 (1/2 + p_1)): the winner's nearest rival has p_1."""
    horizon = 12
    found = corrected.measured(TINY, 0, silent)
    (row,) = (
        r for r in found.tables[0].rows if r[0] == f"Proposition 2, H = {horizon}"
    )
    members = 4 * horizon + 5
    nearest = float(np.linspace(0.25, 0.5, members + 1)[1])
    assert row[3] == pytest.approx((horizon - 1) / 2 / (2.0 * (0.5 + nearest)))
