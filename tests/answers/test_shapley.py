"""Shares of a whole: against all orders in Fractions, and inside every bracket."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.blame.shapley import (
    Game,
    leading_player,
    narrowed,
    shapley_parts,
    shapley_shares,
)
from simgap.arrays import FloatArray
from simgap.intervals import Certified
from tests.reference.shapley import dual, random_monotone_game, shapley_by_orders

SIZES = (1, 2, 3, 4, 5)


def floats(table: list[Fraction]) -> FloatArray:
    return np.array([float(each) for each in table])


def known(players: int, table: list[Fraction]) -> Game:
    return Game(players, floats(table), floats(table))


def blurred(
    rng: np.random.Generator, players: int, table: list[Fraction], width: float
) -> Game:
    """Return the game between two ends, some of them equal."""
    exact = floats(table)
    below, above = rng.random((2, exact.size)) * width
    sharp = rng.random(exact.size) < 0.3
    below[sharp] = above[sharp] = 0.0
    below[0] = above[0] = 0.0
    low, high = np.maximum(0.0, exact - below), exact + above
    low, high = narrowed(np.arange(exact.size), low, high)
    return Game(players, low, high)


def inside(value: Fraction | float, bounds: Certified, slack: float = 0.0) -> bool:
    assert bounds.lower is not None
    assert bounds.upper is not None
    return bounds.lower - slack <= value <= bounds.upper + slack


@pytest.mark.parametrize("players", SIZES)
def test_shares_are_the_mean_over_all_orders(players: int) -> None:
    rng = np.random.default_rng(players)
    for _ in range(20):
        table = random_monotone_game(rng, players)
        exact = shapley_by_orders(players, table)
        found = shapley_shares(known(players, table))
        for share, truth in zip(found, exact, strict=True):
            assert inside(truth, share)
            assert share.upper is not None
            assert share.lower == pytest.approx(share.upper, abs=1e-12)
        assert sum(exact) == table[-1]


@pytest.mark.parametrize("players", SIZES)
def test_parts_are_shares_of_one(players: int) -> None:
    rng = np.random.default_rng(10 + players)
    for _ in range(20):
        table = random_monotone_game(rng, players)
        if table[-1] == 0:
            continue
        exact = [each / table[-1] for each in shapley_by_orders(players, table)]
        found = shapley_parts(known(players, table))
        for part, truth in zip(found, exact, strict=True):
            assert inside(truth, part)
            assert part.upper is not None
            assert part.lower == pytest.approx(part.upper, abs=1e-11)


@pytest.mark.parametrize("players", SIZES)
def test_the_dual_game_has_the_same_shares(players: int) -> None:
    """Telling a set and hiding a set share the same whole in the same way."""
    rng = np.random.default_rng(20 + players)
    for _ in range(10):
        table = random_monotone_game(rng, players)
        other = dual(players, table)
        assert shapley_by_orders(players, other) == shapley_by_orders(players, table)
        mine, theirs = (shapley_shares(known(players, each)) for each in (table, other))
        for one, two in zip(mine, theirs, strict=True):
            assert one.lower == pytest.approx(two.lower, abs=1e-12)


@pytest.mark.parametrize("width", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("players", SIZES)
def test_ends_of_shares_and_parts_hold_the_truth(players: int, width: float) -> None:
    rng = np.random.default_rng(30 + players)
    narrower = 0
    for _ in range(30):
        table = random_monotone_game(rng, players)
        exact = shapley_by_orders(players, table)
        game = blurred(rng, players, table, width)
        for share, truth in zip(shapley_shares(game), exact, strict=True):
            assert inside(truth, share, 1e-13)
            assert share.upper is not None
            assert share.upper <= game.upper[-1]
        if table[-1] == 0:
            continue
        shares, parts = shapley_shares(game), shapley_parts(game)
        for part, truth in zip(parts, exact, strict=True):
            assert inside(float(truth / table[-1]), part, 1e-13)
        low, high = game.lower[-1], game.upper[-1]
        if low > 0.0:
            naive = [(s.upper or 0.0) / low - (s.lower or 0.0) / high for s in shares]
            own = [(p.upper or 0.0) - (p.lower or 0.0) for p in parts]
            narrower += sum(own) < sum(naive)
    assert narrower > 0  # the common whole is used


@pytest.mark.parametrize("players", SIZES)
def test_the_leader_has_the_largest_share(players: int) -> None:
    rng = np.random.default_rng(50 + players)
    found = 0
    for width in (0.0, 0.1, 1.0):
        for _ in range(15):
            table = random_monotone_game(rng, players)
            exact = shapley_by_orders(players, table)
            leader = leading_player(blurred(rng, players, table, width))
            if leader is not None:
                found += 1
                others = [x for p, x in enumerate(exact) if p != leader]
                assert all(x < exact[leader] for x in others)
            elif width == 0.0:  # nobody is ahead by more than rounding
                assert sorted(exact)[-1] - sorted(exact)[-2] < Fraction(1, 10**9)
    assert found > 5


def test_gloves() -> None:
    """One left and two right gloves: 4/6, 1/6, 1/6 (a textbook game)."""
    table = [Fraction(int(bool(s & 1) and bool(s & 6))) for s in range(8)]
    found = [each.upper for each in shapley_shares(known(3, table))]
    assert found == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_a_player_that_adds_nothing_gets_nothing() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        small = random_monotone_game(rng, 3)
        table = [small[s & 7] for s in range(16)]
        assert shapley_by_orders(4, table)[3] == 0
        last = shapley_shares(known(4, table))[3]
        assert last.lower == 0.0
        assert last.upper == pytest.approx(0.0, abs=1e-13)


def test_interchangeable_players_get_the_same() -> None:
    table = [Fraction(s.bit_count() ** 2) for s in range(16)]
    found = shapley_shares(known(4, table))
    assert len({(each.lower, each.upper) for each in found}) == 1
