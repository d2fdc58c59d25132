"""Shares of a whole from random orders, for more players than all sets allow.

An order and its reverse give two marginals of a player; their mean X is in [0, v(N)]
and its expectation is the Shapley value. K independent pairs make the interval, by
betting (`statistics.betting`). The probability of failure is divided by the number of
players, so that all intervals hold together. Numbers v(S) that are only known between
two ends make X known between two ends: the lower end bets on the lower ones, the upper
end on the upper ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.answers.blame.shapley import summing_to
from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate
from simgap.statistics import Score, betting_interval


@final
@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """Random orders of the players; every second one is the reverse of the one before.

    `prefixes` are the sets that are needed: of the players up to each place.
    """

    players: int
    orders: IndexArray  # (2 K, n)
    prefixes: tuple[tuple[int, ...], ...]  # (2 K, n + 1), the first is empty


def random_orders(players: int, pairs: int, seed: int) -> Orders:
    """Return K random orders and their reverses."""
    if players < 1 or pairs < 2:
        raise InvalidArgument(
            f"{pairs} pairs of orders of {players} players are too few",
            hint="at least 2 pairs of at least one player",
        )
    rng = np.random.default_rng(seed)
    orders = np.empty((2 * pairs, players), np.int32)
    for at in range(pairs):
        orders[2 * at] = rng.permutation(players)
        orders[2 * at + 1] = orders[2 * at, ::-1]
    return Orders(players, owned(orders), tuple(_prefixes(each) for each in orders))


def sampled_shares(
    orders: Orders,
    ends: Mapping[int, Certified],
    *,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """Return the Shapley value of every player, all intervals together at confidence.

    `ends` holds v of every prefix of the orders; v is monotone.
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence}", hint="it is between 0 and 1"
        )
    whole = ends[2**orders.players - 1]
    failure = (1.0 - confidence) / orders.players
    low, high, middle = _marginals(orders, ends)
    found = []
    for player in range(orders.players):
        least, most = low[:, player], high[:, player]
        score = Score(least, 0.0, whole.upper, np.minimum(most, whole.upper) - least)
        found.append(Certified(*betting_interval([score], 1.0 - failure)))
    pairs = len(orders.orders) // 2
    return tuple(
        Estimate.proved(
            min(max(float(middle[:, player].mean()), lower), upper),
            lower,
            upper,
            confidence,
            f"{pairs} random orders and their reverses, betting",
        )
        for player, (lower, upper) in enumerate(
            each.ends for each in summing_to(found, whole)
        )
    )


def _marginals(
    orders: Orders, ends: Mapping[int, Certified]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ends and middles of the pairs' mean marginals, (K, n) each.

    Middles telescope: those of all players sum to the middle of v(N).
    """
    size, n = orders.orders.shape
    low, high, middle = (np.empty((size, n)) for _ in range(3))
    for at, (order, sets) in enumerate(
        zip(orders.orders, orders.prefixes, strict=True)
    ):
        a = np.array([ends[each].lower for each in sets], np.float64)
        b = np.array([ends[each].upper for each in sets], np.float64)
        low[at, order] = np.maximum(0.0, a[1:] - b[:-1])
        high[at, order] = np.maximum(0.0, b[1:] - a[:-1])
        middle[at, order] = np.diff(0.5 * (a + b))
    both = [0.5 * (each[::2] + each[1::2]) for each in (low, high, middle)]
    return both[0], both[1], both[2]


def _prefixes(order: IndexArray) -> tuple[int, ...]:
    sets = [0]
    for player in order:
        sets.append(sets[-1] | 1 << int(player))
    return tuple(sets)
