"""Betting intervals: the theorem by enumeration, the slow twin, invariants."""

from __future__ import annotations

from itertools import product
from math import log, prod

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.statistics.betting import Score, betting_interval, mixture_interval
from tests.reference.betting import capital_by_bets, capital_by_shares
from tests.statistics.laws import LAWS, sampled

CONFIDENCE = 0.7  # low, so that intervals of few numbers say something


def outcomes(values: tuple[float, ...], n: int) -> list[tuple[float, ...]]:
    return list(product(values, repeat=n))


@pytest.mark.parametrize(("values", "n"), [((0.0, 1.0), 8), ((0.0, 0.2, 1.0), 5)])
def test_intervals_of_one_law_miss_at_most_as_often_as_stated(
    values: tuple[float, ...], n: int
) -> None:
    """All sequences of some numbers, with their exact chances under many laws."""
    every = outcomes(values, n)
    ends = [
        [
            betting_interval([Score(np.array(each), 0.0, 1.0)], CONFIDENCE, **options)
            for each in every
        ]
        for options in ({}, {"stopped": True})
    ]
    rng = np.random.default_rng(0)
    most = 0.0
    for _ in range(200):
        law = dict(zip(values, rng.dirichlet(np.full(len(values), 0.4)), strict=True))
        mean = sum(value * chance for value, chance in law.items())
        for found in ends:
            missed = sum(
                prod(law[value] for value in each)
                for each, (low, high) in zip(every, found, strict=True)
                if not low <= mean <= high
            )
            most = max(most, missed)
            assert missed <= 1.0 - CONFIDENCE
    assert most > 0.05  # the intervals do say something


def test_mixtures_of_several_laws_miss_at_most_as_often_as_stated() -> None:
    """Each number is 0 or 1 with a chance of its own; the mean of them is covered."""
    every = outcomes((0.0, 1.0), 8)
    by_count = {
        k: mixture_interval(
            [Score(np.array([1.0] * k + [0.0] * (8 - k)), 0.0, 1.0)], CONFIDENCE
        )
        for k in range(9)
    }
    rng = np.random.default_rng(1)
    for _ in range(100):
        chances = rng.beta(0.3, 0.3, size=8)
        mean = float(chances.mean())
        missed = 0.0
        for each in every:
            low, high = by_count[int(sum(each))]
            if not low <= mean <= high:
                missed += float(np.prod(np.where(each, chances, 1.0 - chances)))
        assert missed <= 1.0 - CONFIDENCE


def cases() -> list[tuple[FloatArray, float, float]]:
    return [(sampled(law, 3, 40), law.low, law.high) for law in LAWS[::4]]


@pytest.mark.parametrize("case", range(len(cases())))
def test_the_ends_are_where_the_slow_twin_gets_rich(case: int) -> None:
    values, low, high = cases()[case]
    score, budget, step = Score(values, low, high), log(40.0), 1e-7 * (high - low)

    def rich_by_bets(mean: float) -> bool:
        return capital_by_bets(values.tolist(), low, high, mean, 0.95) >= budget

    def rich_by_shares(mean: float) -> bool:
        return capital_by_shares(values.tolist(), low, mean) >= 40.0

    below, _ = betting_interval([score], 0.95)
    if below > low:
        assert rich_by_bets(below - step)
    assert not rich_by_bets(below + step)
    below, _ = mixture_interval([score], 0.95)
    if below > low:
        assert rich_by_shares(below - step)
    assert not rich_by_shares(below + 1e-2 * (high - low))  # some bets are left out


@pytest.mark.parametrize("find", [betting_interval, mixture_interval])
def test_units_and_signs_change_nothing(find: object) -> None:
    interval = betting_interval if find is betting_interval else mixture_interval
    values = np.random.default_rng(2).beta(2.0, 5.0, 60)
    low, high = interval([Score(values, 0.0, 1.0)], 0.95)
    moved = interval([Score(7.0 * values - 3.0, -3.0, 4.0)], 0.95)
    assert moved == pytest.approx((7.0 * low - 3.0, 7.0 * high - 3.0), abs=1e-9)
    turned = interval([Score(-values, -1.0, 0.0)], 0.95)
    assert turned == pytest.approx((-high, -low), abs=1e-9)
    assert low < float(values.mean()) < high
    wider = interval([Score(values, 0.0, 1.0)], 0.99)
    assert wider[0] < low and high < wider[1]


def test_numbers_that_are_alike_leave_five_ranges_over_their_count() -> None:
    for n in (100, 1000):
        low, high = betting_interval([Score(np.full(n, 0.8), 0.0, 1.0)], 0.95)
        assert 4.5 / n < high - low < 5.5 / n
        assert low < 0.8 < high


def test_the_better_of_two_scores_is_bet_on() -> None:
    """Of two numbers with one mean, one varies less and one has less range."""
    rng = np.random.default_rng(4)
    noise, still = rng.random(300), 0.5 + 0.02 * rng.normal(size=300)
    noisy, quiet = Score(noise, 0.0, 1.0), Score(np.clip(still, 0.0, 1.0), 0.0, 1.0)
    for interval in (betting_interval, mixture_interval):
        widths = [
            high - low
            for low, high in (
                interval(scores, 0.95) for scores in ([noisy], [quiet], [noisy, quiet])
            )
        ]
        assert widths[1] < 0.5 * widths[0]
        assert widths[2] < 1.5 * widths[1]


def test_what_numbers_may_be_short_of_moves_the_upper_end_alone() -> None:
    values = np.random.default_rng(5).random(100)
    for interval in (betting_interval, mixture_interval):
        low, high = interval([Score(values, 0.0, 2.0)], 0.95)
        short = interval([Score(values, 0.0, 2.0, np.full(100, 0.25))], 0.95)
        assert short[0] == low
        assert high < short[1] <= high + 0.3


def test_numbers_outside_their_range_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="between 0"):
        Score(np.array([0.5, 1.5]), 0.0, 1.0)
    with pytest.raises(InvalidArgument):
        Score(np.array([0.5]), 0.0, float("inf"))
    assert betting_interval([Score(np.ones(3), 1.0, 1.0)], 0.95) == (1.0, 1.0)
