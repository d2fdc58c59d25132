"""Propositions 1 and 2: closed forms, exponents, and classes on which they fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.propositions import (
    proposition_1_no_diameter as doors,
    proposition_2_large_class as large,
)
from simgap.instances import linear_bandit, needle
from simgap.intervals import Estimate
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

DOORS = doors.Settings(members=(2, 3, 4), horizons=(6, 8, 32, 128))
LARGE = large.Settings(horizons=(5, 20, 40))


def test_every_oracle_of_the_doors_loses_a_fixed_share() -> None:
    found = doors.measured(DOORS, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is doors.CLAIM.expected
    exponent = found.key_number.value
    assert isinstance(exponent, Estimate)
    assert exponent.lower <= 1.0 <= exponent.upper
    assert exponent.estimate == pytest.approx(1.0, abs=1e-9)


def test_row_22() -> None:
    """(M, H) = (2, 6), (3, 8), (4, 8): average 2, 4, 4.5; interval [0, H - 2]."""
    rows = {row[:2]: row[2:] for row in doors.measured(DOORS, 0, silent).tables[0].rows}
    for case, average in {(2, 6): 2.0, (3, 8): 4.0, (4, 8): 4.5}.items():
        mean, formula, low, high, drawn = rows[case]
        assert mean == pytest.approx(average)
        assert formula == pytest.approx(average)
        assert (low, high) == pytest.approx((0.0, case[1] - 2.0))
        assert drawn == pytest.approx(average)


def test_needles_can_be_found_and_refute_the_sentence() -> None:
    """The control: one good arm per model, but a wrong choice can be undone."""
    control = replace(DOORS, build=needle)
    assert doors.measured(control, 0, silent).verdict is ClaimVerdict.REFUTED


def test_the_oracle_of_the_large_class_never_explores() -> None:
    found = large.measured(LARGE, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is large.CLAIM.expected
    exponent = found.key_number.value
    assert isinstance(exponent, Estimate)
    assert exponent.estimate == pytest.approx(1.0, abs=1e-9)


def test_rows_23_to_25() -> None:
    """W* = gap = (H-1)/2; base 0.494949, 0.498525; D = 2; d_e = 1; N = 2, 4."""
    printed = replace(LARGE, classes=(large.PRINTED,))
    found = large.measured(printed, 0, silent).tables[0]
    rows = {row[0]: row[1:] for row in found.rows}
    for horizon, base, cover in ((5, 0.494949, 2), (20, 0.498525, 4)):
        members, _, value, last, others, lost, far, eluder, balls = rows[horizon]
        assert members == 4 * horizon + 5
        assert value == pytest.approx((horizon - 1) / 2, abs=1e-9)
        assert last == pytest.approx((horizon - 1) / 2, abs=1e-9)
        assert others == pytest.approx(0.0, abs=1e-9)
        assert lost == pytest.approx(base, abs=5e-7)
        assert far == pytest.approx(2.0)
        assert (eluder, balls) == (1.0, cover)


def test_e33_as_many_models_as_steps_are_enough_with_a_smaller_prize() -> None:
    """Proposition 2 as it is stated, M >= H: gap (H - 1)/4, diameter 2."""
    stated = replace(LARGE, classes=(large.SMALLEST,))
    found = large.measured(stated, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS
    for horizon, members, _, value, last, others, _, far, eluder, _ in found.tables[
        0
    ].rows:
        assert members == horizon
        assert isinstance(horizon, int)
        assert value == pytest.approx((horizon - 1) / 2, abs=1e-9)
        assert last == pytest.approx((horizon - 1) / 4, abs=1e-9)
        assert others == pytest.approx(0.0, abs=1e-9)
        assert far == pytest.approx(2.0)
        assert eluder == 1.0


def test_e33_the_printed_instance_explores_with_as_many_models_as_steps() -> None:
    """Theory row 26: W* = 4.567112 > 4.5 for M = H = 10; the sentence fails there."""
    control = large.Settings((8, 10, 12), classes=(large.Class(1, 0, 0.5),))
    assert large.measured(control, 0, silent).verdict is ClaimVerdict.REFUTED
    value = exact_oracle(linear_bandit(10), 10).value
    assert value.middle == pytest.approx(4.567112, abs=5e-7)
    assert value.ends[0] > 4.5
