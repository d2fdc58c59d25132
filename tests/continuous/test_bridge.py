"""Intervals of the sampled path hold the numbers that are proved."""

from __future__ import annotations

from collections import defaultdict

import pytest
from scipy.stats import binom

from simgap.intervals import Certified
from tests.continuous.bridge import (
    CASES,
    Case,
    Compared,
    every,
)

CONFIDENCE = 0.95
CHANCE = 1e-4  # of more misses than this in a column, if intervals are what they say


def columns(found: list[tuple[Case, list[Compared]]]) -> dict[str, list[Compared]]:
    """Return what can be counted: episodes of different rows are independent."""
    by_name: dict[str, list[Compared]] = defaultdict(list)
    for _, rows in found:
        for each in rows:
            if each.guaranteed:
                by_name[each.column].append(each)
    return by_name


def usual_misses(found: list[tuple[Case, list[Compared]]]) -> float:
    """Return how often the other intervals miss, in all columns together."""
    rows = [each for _, some in found for each in some if not each.guaranteed]
    usual = [each.missed for each in rows if not each.warned]
    return sum(usual) / len(usual)


def allowed(count: int) -> int:
    return int(binom.isf(CHANCE, count, 1.0 - CONFIDENCE))


def check(found: list[tuple[Case, list[Compared]]]) -> None:
    every_column = columns(found)
    assert len(every_column) == 4 * 3 + 3 * 3  # the reference has no gap
    each_row = [each.missed for rows in every_column.values() for each in rows]
    print(f"{sum(each_row)} of {len(each_row)} intervals missed")
    for name, rows in every_column.items():
        assert sum(each.missed for each in rows) <= allowed(len(rows)), name


def test_black_boxes_have_the_values_and_gaps_of_their_tables() -> None:
    """Returns, gaps, means and worst points of four policies in six black boxes."""
    found = every(CASES, range(1))
    check(found)
    assert usual_misses(found) < 0.12  # of some hundred, many of the same episodes
    for name in ("return optimal", "return oracle"):  # the control: another model
        others = [
            each.holds(each.elsewhere)
            for each in columns(found)[name]
            if each.elsewhere is not None
        ]
        assert others.count(False) > allowed(len(others)), name


def test_an_interval_that_ends_before_the_number_is_a_miss() -> None:
    near = Compared("", 0.0, 1.0, True, Certified(1.0, 1.0 + 1e-9), Certified(2.0, 2.0))
    assert not near.missed
    assert near._replace(proved=Certified(1.0 + 1e-9, 1.5)).missed
    assert near._replace(proved=Certified(-1.0, -1e-9)).missed


@pytest.mark.slow
def test_black_boxes_have_the_values_and_gaps_of_their_tables_many_times() -> None:
    found = every(CASES, range(1, 13))
    check(found)
    assert 0.02 < usual_misses(found) < 0.08
