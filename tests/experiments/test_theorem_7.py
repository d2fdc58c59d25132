"""Algorithm 4: items path by path, few switches, and what print makes of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest

from simgap.experiments.lemmas import lemma_9_switches as lemma_9
from simgap.experiments.printed import algorithm_4_printed as printed
from simgap.experiments.theorems import theorem_7_general as theorem_7
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

PATHS = theorem_7.Settings((10**4,), 60, chance_horizon=100, chance_runs=3000)
SWITCHES = lemma_9.Settings((300, 10**3, 10**4, 10**5), runs=2)
PRINTED = printed.Settings(steps=3_000, runs=200, watched=600)


def test_items_2_to_4_hold_on_every_path() -> None:
    found = theorem_7.measured(PATHS, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is theorem_7.CLAIM.expected


def test_a_twentieth_of_what_the_items_allow_is_too_little() -> None:
    little = replace(PATHS, runs=5, chance_runs=5, share=0.05)
    found = theorem_7.measured(little, 0, silent)
    assert found.checks[0].verdict is ClaimVerdict.REFUTED
    assert found.checks[1].verdict is ClaimVerdict.REFUTED


def test_one_pair_is_refitted_a_number_of_times_that_luck_does_not_change() -> None:
    found = lemma_9.measured(SWITCHES, 5, silent)
    assert found.verdict is ClaimVerdict.HOLDS is lemma_9.CLAIM.expected
    pair = [row[2] for row in found.tables[0].rows if row[0] == "one pair"]
    # alpha = 2 and g = 0.8: four samples, then as many again and four more
    assert pair == [1 + 6, 1 + 7, 1 + 11, 1 + 14]


def test_half_of_the_switches_is_too_little() -> None:
    half = replace(SWITCHES, horizons=(300, 400, 500), share=0.5)
    assert lemma_9.measured(half, 0, silent).verdict is ClaimVerdict.REFUTED


def test_e20_printed_data_are_counted_again_and_again() -> None:
    """D = 2: alpha = 17, a sample weighs 1/16. Z_new fires at 272, and then whenever it
    is as heavy as Z and alpha: at 2, 4, 8 times that. Z holds 1, 3, 7, 15 times 272."""
    found = printed.measured(PRINTED, 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is printed.CLAIM.expected
    rows = found.tables[0].rows
    drawn = [int(row[1]) for row in rows]
    assert drawn == pytest.approx([272, 544, 1088, 2176], rel=0.005)
    assert [row[2] for row in rows] == list(accumulate(drawn))
    assert [row[3] for row in rows] == [1, 2, 3, 4]
    assert found.checks[0].left.ends == pytest.approx((15 / 8, 15 / 8), rel=0.005)


def test_e20_data_that_are_merged_once_are_counted_once() -> None:
    """The control: with Z_new emptied the next switch needs 2, 4, 8 times as many."""
    once = printed.measured(replace(PRINTED, literal=False), 0, silent)
    assert once.verdict is ClaimVerdict.HOLDS
    rows = once.tables[0].rows
    assert [row[1] for row in rows] == [row[2] for row in rows]
    assert [int(row[1]) for row in rows] == pytest.approx([272, 816, 1904], rel=0.005)
