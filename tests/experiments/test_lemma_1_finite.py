"""Lemma 1 on finite classes: holds, is sharp, and fails if half is promised."""

from __future__ import annotations

from dataclasses import replace

from simgap.experiments.framework.claim import ClaimResult
from simgap.experiments.lemmas.lemma_1_finite import CLAIM, Settings, measured
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(random_classes=4, horizon=4, tables=1, sharp_horizons=(5, 10))


def ends(result: ClaimResult, words: str) -> tuple[float, float]:
    (check,) = (each for each in result.checks if words in each.name)
    assert check.right.lower is not None and check.right.upper is not None
    return check.right.lower, check.right.upper


def test_no_policy_beats_the_oracle_on_average_and_nu_bounds_every_model() -> None:
    found = measured(TINY, 1, silent)
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected
    assert found.checks[0].left.upper is not None
    assert abs(found.checks[0].left.upper) < 1e-10  # the oracle itself is a policy


def test_half_of_the_promise_is_too_little() -> None:
    assert measured(replace(TINY, share=0.5), 1, silent).verdict is ClaimVerdict.REFUTED


def test_the_factor_m_is_reached_up_to_two_steps() -> None:
    """Theory 4.1a: (H-1)/2 against MC -> (H+1)/2."""
    found = measured(TINY, 0, silent)
    for horizon in TINY.sharp_horizons:
        low, high = ends(found, f"H = {horizon}:")
        assert (horizon - 1) / (horizon + 1) <= low <= high <= 1.0
        assert high - (horizon - 1) / (horizon + 1) < 1e-4
