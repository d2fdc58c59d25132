"""Algorithm 4: items path by path, few switches, and what print makes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.experiments import algorithm_4_printed as printed
from simgap.experiments import lemma_9_switches as lemma_9
from simgap.experiments import theorem_7_general as theorem_7
from simgap.experiments.claim import Verdict
from simgap.experiments.intervals import ends
from tests.experiments.silence import silent

PATHS = theorem_7.Settings((10**4,), 60, chance_horizon=100, chance_runs=3000)
SWITCHES = lemma_9.Settings((300, 10**3, 10**4, 10**5), runs=2)
PRINTED = printed.Settings((500,), runs=30_000)


def test_items_2_to_4_hold_on_every_path() -> None:
    found = theorem_7.measured(PATHS, 0, silent)
    assert found.verdict is Verdict.HOLDS is theorem_7.CLAIM.expected


def test_a_twentieth_of_what_the_items_allow_is_too_little() -> None:
    little = replace(PATHS, runs=5, chance_runs=5, share=0.05)
    found = theorem_7.measured(little, 0, silent)
    assert found.checks[0].verdict is Verdict.REFUTED
    assert found.checks[1].verdict is Verdict.REFUTED


def test_one_pair_is_refitted_a_number_of_times_that_luck_does_not_change() -> None:
    found = lemma_9.measured(SWITCHES, 5, silent)
    assert found.verdict is Verdict.HOLDS is lemma_9.CLAIM.expected
    pair = [row[2] for row in found.tables[0].rows if row[0] == "one pair"]
    # alpha = 2 and g = 0.8: four samples, then as many again and four more
    assert pair == [1 + 6, 1 + 7, 1 + 11, 1 + 14]


def test_half_of_the_switches_is_too_little() -> None:
    half = replace(SWITCHES, horizons=(300, 400, 500), share=0.5)
    assert lemma_9.measured(half, 0, silent).verdict is Verdict.REFUTED


def test_data_that_are_merged_again_and_again_lose_the_real_model() -> None:
    found = printed.measured(PRINTED, 0, silent)
    assert {check.verdict for check in found.checks} == {Verdict.REFUTED}
    assert printed.CLAIM.expected is Verdict.REFUTED
    # Z after four switches: 32 samples four times, 32 thrice, 64 twice, 128 once
    copies = ends(found.checks[-1].left)
    assert copies == pytest.approx((480 / 256, 480 / 256))


def test_data_that_are_merged_once_keep_it() -> None:
    once = printed.measured(replace(PRINTED, literal=False), 0, silent)
    assert once.verdict is Verdict.HOLDS
    assert ends(once.checks[-1].left) == pytest.approx((1.0, 1.0))
