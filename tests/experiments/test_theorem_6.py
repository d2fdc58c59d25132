"""Algorithm 3: paths, chances without sampling, and what print makes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments import run_claim
from simgap.experiments.framework.claim import ClaimResult, Scale
from simgap.experiments.lemmas import lemma_8_optimism as lemma_8
from simgap.experiments.printed import algorithm_3_printed as printed
from simgap.experiments.theorems import theorem_6_optimistic as theorem_6
from simgap.records.claim import ClaimVerdict
from simgap.records.files import encode
from tests.experiments.silence import silent

PATHS = theorem_6.Settings(exact_horizons=(300,), horizons=(3000,), runs=100)
CHANCES = lemma_8.Settings((50, 200, 1000), (100,))
PRINTED = printed.Settings(coin_horizon=50, horizons=(10**3, 10**4, 10**5), runs=30)


@pytest.fixture(scope="module")
def paths() -> ClaimResult:
    return theorem_6.measured(PATHS, 0, silent)


def test_every_path_obeys_its_own_bound(paths: ClaimResult) -> None:
    assert paths.verdict is ClaimVerdict.HOLDS is theorem_6.CLAIM.expected
    tightest = paths.key_number.value.ends[1]
    assert 0.5 < tightest <= 1.0  # the inequality is not an empty one


def test_what_is_computed_is_what_is_sampled() -> None:
    """Four arms at H = 1000: first passages and runs of the sharp threshold."""
    both = replace(PATHS, exact_horizons=(1000,), horizons=(1000,), runs=200)
    exact, sampled = (t.rows for t in theorem_6.measured(both, 3, silent).tables)
    assert exact[0][0] == sampled[0][0] == "four arms"
    assert float(exact[0][2]) == pytest.approx(float(sampled[0][3]), rel=0.05)


def test_half_of_the_bounds_is_too_little() -> None:
    half = replace(PATHS, share=0.5)
    assert theorem_6.measured(half, 0, silent).verdict is ClaimVerdict.REFUTED


def test_a_fair_coin_is_dropped_as_rarely_as_row_32_says() -> None:
    found = lemma_8.measured(CHANCES, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is lemma_8.CLAIM.expected
    sharp = [row[3] for row in found.tables[0].rows[:6:2]]
    assert sharp == pytest.approx([1.36514e-4, 2.2117e-5, 1.9938e-6], rel=5e-5)


def test_a_long_coin_can_be_written_down() -> None:
    """Long convolutions go through another library, whose numbers are not JSON's."""
    long = replace(lemma_8.CLAIM, full=lemma_8.Settings((5000,), ()))
    record = run_claim(long, Scale.FULL, 0)
    assert b'"verdict":"holds"' in encode(record)


def test_half_of_the_threshold_drops_the_real_model() -> None:
    half = replace(CHANCES, share=0.5)
    assert lemma_8.measured(half, 0, silent).verdict is ClaimVerdict.REFUTED


def test_the_printed_threshold_drops_the_real_model_at_once() -> None:
    """Theory rows 33 and 34."""
    found = printed.measured(PRINTED, 0, silent)
    assert {check.verdict for check in found.checks} == {ClaimVerdict.REFUTED}
    assert printed.CLAIM.expected is ClaimVerdict.REFUTED
    low, high = found.key_number.value.ends
    assert 1.0 - 1e-9 < low <= high == 1.0
    rivers = found.tables[0].rows[1:]
    assert [row[1] for row in rivers] == [3, 4]  # steps
    assert [row[3] for row in rivers] == pytest.approx([0.0, 1.0])


def test_with_the_count_repaired_all_of_it_holds_but_the_trivial() -> None:
    """H = 4 allows a chance of 1/4, and a fair gap at H = 10^3 is linear."""
    repaired = printed.measured(replace(PRINTED, literal=False), 0, silent)
    coin, rivers, bound, _ = repaired.checks
    assert coin.verdict is ClaimVerdict.HOLDS
    assert rivers.verdict is ClaimVerdict.HOLDS
    assert bound.verdict is not ClaimVerdict.REFUTED
