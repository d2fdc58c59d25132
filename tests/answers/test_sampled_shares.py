"""Shares from random orders: intervals that hold, and a control that does not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.blame.sampled_shares import (
    random_orders,
    sampled_shares,
)
from simgap.intervals import Certified
from tests.reference.shapley import random_monotone_game, shapley_by_orders

CASES, PLAYERS, PAIRS = 150, 5, 40


def known(table: list[Fraction]) -> dict[int, Certified]:
    return {s: Certified(float(v), float(v)) for s, v in enumerate(table)}


def covered(*, shrunk: float) -> int:
    """Return in how many of the games all shares are in their intervals."""
    rng, holds = np.random.default_rng(1), 0
    for case in range(CASES):
        table = random_monotone_game(rng, PLAYERS)
        orders = random_orders(PLAYERS, PAIRS, case)
        found = sampled_shares(orders, known(table), confidence=0.9)
        exact = shapley_by_orders(PLAYERS, table)
        holds += all(
            each.estimate - shrunk * (each.estimate - each.lower) - 1e-12
            <= float(truth)
            <= each.estimate + shrunk * (each.upper - each.estimate) + 1e-12
            for each, truth in zip(found, exact, strict=True)
        )
    return holds


def test_all_intervals_hold_together_at_their_confidence() -> None:
    assert covered(shrunk=1.0) >= 0.9 * CASES


def test_shrunk_intervals_would_not_hold() -> None:
    """The control: the games are such that a tenth of the interval is too little."""
    assert covered(shrunk=0.1) < 0.9 * CASES


def test_estimates_sum_to_the_whole_and_find_the_shares() -> None:
    rng = np.random.default_rng(2)
    table = random_monotone_game(rng, 4)
    orders = random_orders(4, 3000, 0)
    found = sampled_shares(orders, known(table))
    whole, exact = float(table[-1]), shapley_by_orders(4, table)
    assert sum(each.estimate for each in found) == pytest.approx(whole)
    for each, truth in zip(found, exact, strict=True):
        assert each.lower <= float(truth) <= each.upper
        assert each.upper - each.lower < 0.12 * whole
        assert each.confidence == 0.95
        assert each.guaranteed is not None and each.guaranteed.ends == each.ends


def test_brackets_of_the_game_are_in_the_interval() -> None:
    """The ends of v move the interval at least as far as they move every marginal."""
    rng = np.random.default_rng(3)
    table = random_monotone_game(rng, 3)
    orders = random_orders(3, 400, 0)
    sharp = sampled_shares(orders, known(table))
    ends = {
        s: Certified(float(v), float(v) + (0.25 if s else 0.0))
        for s, v in enumerate(table)
    }
    wide = sampled_shares(orders, ends)
    exact = shapley_by_orders(3, table)
    for one, two, truth in zip(sharp, wide, exact, strict=True):
        assert two.lower <= float(truth) <= two.upper
        assert two.upper - two.lower > one.upper - one.lower
