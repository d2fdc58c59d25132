"""Infinite classes: the printed promise fails, the corrected one holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments import theorem_4_corrected as corrected
from simgap.experiments import theorem_4_printed as printed
from simgap.experiments.claim import Verdict
from simgap.experiments.intervals import ends
from simgap.experiments.rare_winner import RADIUS, rare_winner
from tests.experiments.silence import silent

PRINTED = printed.Settings(horizons=(50, 400, 3000), large_horizons=(5,))
CORRECTED = corrected.Settings((50, 5000), (5,), currents=4, river_horizon=16, runs=100)


@pytest.mark.parametrize("horizon", [10, 400])
def test_the_oracle_never_looks_for_a_rare_winner(horizon: int) -> None:
    """The closed forms of Proposition 2 (spec 4.9), with two models."""
    found = rare_winner(horizon)
    low, high = ends(found.gap)
    assert low <= (horizon - 1) / 2 <= high and high - low < 1e-6
    assert found.value_constant < 1e-6
    assert (found.eluder, found.covering) == (1, 2)
    assert found.known.diameter == pytest.approx(2.0)
    ball = found.ball(RADIUS)
    assert ball.mass == 1.0
    assert ball.gap.constant == pytest.approx((horizon - 1) / 2 / 1.8)


def test_the_printed_theorem_fails_on_a_class_of_diameter_two() -> None:
    found = printed.measured(PRINTED, 0, silent)
    assert found.verdict is Verdict.REFUTED is printed.CLAIM.expected
    assert {check.verdict for check in found.checks} == {Verdict.REFUTED}
    rows = found.tables[0].rows
    assert rows[-1][:4] == (5, 25, 1, 2)  # row 25: d_e and N of 25 models, H = 5
    assert rows[-1][4] == pytest.approx(2.0)  # row 23


def test_a_winner_that_is_not_rare_is_found_and_print_is_right() -> None:
    likely = replace(PRINTED, horizons=(50, 100, 300), weight=0.5)
    assert printed.measured(likely, 0, silent).verdict is Verdict.HOLDS


def test_the_corrected_theorem_holds_in_every_ball() -> None:
    found = corrected.measured(CORRECTED, 0, silent)
    assert found.verdict is Verdict.HOLDS is corrected.CLAIM.expected


def test_a_tenth_of_the_constants_is_too_little() -> None:
    little = replace(CORRECTED, share=0.1)
    assert corrected.measured(little, 0, silent).verdict is Verdict.REFUTED
