"""Theory row 38 on random classes; half of the constants is too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments.remarks.smoothness_universal import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(random_classes=4, horizon=4, leaks=(0.1, 0.001), leak_horizon=20)


@pytest.mark.parametrize("seed", [0, 7])
def test_nearby_models_have_nearby_values(seed: int) -> None:
    found = measured(TINY, seed, silent)
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected


def test_half_of_the_constant_is_too_little() -> None:
    assert measured(replace(TINY, share=0.5), 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize("leak", [0.1, 0.01])
def test_the_leaking_chain_has_a_closed_form(leak: float) -> None:
    """V_2 - V_1 = sum over h of 1 - (1 - x)^(h-1), d = 2x."""
    horizon = 20
    few = replace(TINY, random_classes=0, leaks=(leak,), leak_horizon=horizon)
    drawn = measured(few, 0, silent).figures[0].curves[0].points[0]
    earned = sum(1.0 - (1.0 - leak) ** h for h in range(horizon))
    assert drawn.y == pytest.approx(earned / (2 * leak * horizon * (horizon - 1) / 4))
