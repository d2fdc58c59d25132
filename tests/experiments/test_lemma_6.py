"""The norm of Lemma 6 is not 1/e; where it is at most that, the check says so."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.experiments.lemmas.lemma_6_entropy import (
    CLAIM,
    Settings,
    measured,
    psi_1_norm,
)
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent


def test_e23_a_fair_coin_refutes_the_norm() -> None:
    found = measured(Settings(coins=(0.5,), outcomes=(2, 16)), 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is CLAIM.expected
    key = found.key_number.value
    assert key.lower is not None and key.upper is not None
    assert key.lower <= log(2.0) <= key.upper
    assert key.lower > exp(-1.0)


@pytest.mark.parametrize(
    "law",
    [
        np.array([0.5, 0.5]),
        np.array([0.9, 0.1]),
        np.array([0.6, 0.3, 0.05, 0.05]),
        np.full(30, 1 / 30),
    ],
)
def test_the_bracket_holds_the_norm_of_a_fine_grid(law: FloatArray) -> None:
    y = -np.log(law)
    orders = np.geomspace(1.0, 60.0, 5000)
    best = max(float(law @ y**p) ** (1.0 / p) / p for p in orders)
    found = psi_1_norm(law)
    assert found.lower is not None and found.upper is not None
    assert found.lower - 1e-9 <= best * (1 + 1e-6)
    assert best <= found.upper
    assert found.upper - found.lower < 2e-4


def test_equal_outcomes_have_the_logarithm_of_their_number() -> None:
    for outcomes in (4, 64):
        found = psi_1_norm(np.full(outcomes, 1.0 / outcomes))
        assert found.lower == pytest.approx(log(outcomes), rel=1e-9)
