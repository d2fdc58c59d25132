"""Shapley values in exact arithmetic, by the definition: all orders of the players.

A game is a list of 2^n Fractions; player p is in the set s if s >> p & 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np

Table = Sequence[Fraction]


def shapley_by_orders(players: int, game: Table) -> list[Fraction]:
    """Return what each player adds to those before it, averaged over all orders."""
    total = [Fraction(0)] * players
    for order in permutations(range(players)):
        before = 0
        for player in order:
            total[player] += game[before | 1 << player] - game[before]
            before |= 1 << player
    return [each / factorial(players) for each in total]


def dual(players: int, game: Table) -> list[Fraction]:
    """Return w(S) = v(N) - v(N - S)."""
    whole = 2**players - 1
    return [game[whole] - game[whole ^ each] for each in range(2**players)]


def random_monotone_game(rng: np.random.Generator, players: int) -> list[Fraction]:
    """Return a game in which no player ever takes away, often with ties."""
    game = [Fraction(0)] * 2**players
    steps = int(rng.integers(1, 9))
    for each in range(1, 2**players):
        below = [game[each ^ 1 << p] for p in range(players) if each >> p & 1]
        game[each] = max(below) + Fraction(int(rng.integers(0, steps)), 8)
    return game
