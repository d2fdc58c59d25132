"""Lemmas 2 and 3 on small and named models; half a diameter is too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.lemmas.lemma_2_average_reward import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(garnets=8, dense=8, horizon=20, shown=(1, 3, 20))


@pytest.mark.parametrize("seed", [0, 5])
def test_the_three_lines_hold(seed: int) -> None:
    found = measured(TINY, seed, silent)
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected


def test_half_a_diameter_is_too_little() -> None:
    """Cycles meet the first line with equality."""
    assert measured(replace(TINY, share=0.5), 0, silent).verdict is ClaimVerdict.REFUTED


def test_closed_forms_of_the_theory() -> None:
    """Theory rows 1 to 3 and 10 to 12: cycles, and RiverSwim with six states."""
    found = measured(TINY, 0, silent)
    rows = {row[0]: row[1:] for row in found.tables[0].rows}
    far, gain, span, first, *_ = rows["cycle of 5"]
    assert (far, gain, span) == pytest.approx((4.0, 0.2, 0.8))
    assert first == pytest.approx(1.0)  # equality
    far, gain, span, *_ = rows["RiverSwim, 6 states"]
    assert far == pytest.approx(14.7223379148, abs=5e-11)
    assert gain == pytest.approx(7203 / 16805, abs=1e-12)
    assert span == pytest.approx(6.3103243082, abs=5e-11)
    river = found.figures[0]
    away = {point.x: point.y for point in river.curves[0].points}
    # state 0 is 3 steps from nothing: V* = 0.015 there (theory row 12)
    assert away[3.0] >= abs(0.015 - 3 * 7203 / 16805) - 1e-12
