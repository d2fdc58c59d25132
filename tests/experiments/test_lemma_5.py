"""Likelihood-ratio errors: rows of the theory, two counts, a control."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from simgap.experiments.lemmas.lemma_5_likelihood_ratio import (
    CLAIM,
    ROWS,
    Settings,
    measured,
    wrong_coin,
    wrong_ratio,
)
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings(coins=ROWS, dice=10, outcomes=3, samples=6)
Law = tuple[Fraction, ...]


def by_sequences(n: int, p: Law, q: Law) -> Fraction:
    """Add up every sequence of n draws on which q is at least as likely."""
    total = Fraction(0)
    for drawn in product(range(len(p)), repeat=n):
        ours, theirs = (
            prod((law[x] for x in drawn), start=Fraction(1)) for law in (p, q)
        )
        if ours and theirs >= ours:
            total += ours
    return total


def test_errors_are_below_every_bound() -> None:
    found = measured(TINY, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected


def test_a_tenth_of_the_bound_is_too_little() -> None:
    assert measured(replace(TINY, share=0.1), 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize(
    ("at", "samples", "error"),
    [(0, 1199, 2.620e-4), (2, 1199, 3.357e-7), (4, 600, 4.163e-3)],
)
def test_rows_29_to_31(at: int, samples: int, error: float) -> None:
    rows = measured(TINY, 0, silent).tables[0].rows
    assert rows[at][1] == samples
    assert rows[at][2] == pytest.approx(error, rel=5e-4)
    assert rows[3][1] == 594 and rows[5][1] == 500  # by Bhattacharyya


@pytest.mark.parametrize(
    ("p", "q"), [("1/2", "3/5"), ("1/5", "1/10"), ("1/3", "2/3"), ("1", "1/2")]
)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_three_ways_to_count_agree(p: str, q: str, n: int) -> None:
    """Ties, (1/3, 2/3) with even n, are errors."""
    coin: Law = (Fraction(p), 1 - Fraction(p))
    rival: Law = (Fraction(q), 1 - Fraction(q))
    exact = by_sequences(n, coin, rival)
    assert wrong_coin(n, coin[0], rival[0]) == exact
    assert wrong_ratio(n, coin, rival) == exact


def test_impossible_outcomes_are_counted_as_such() -> None:
    p: Law = (Fraction(1, 2), Fraction(1, 2), Fraction(0))
    q: Law = (Fraction(0), Fraction(3, 4), Fraction(1, 4))
    for n in (1, 3, 5):
        assert wrong_ratio(n, p, q) == by_sequences(n, p, q) == Fraction(1, 2**n)
