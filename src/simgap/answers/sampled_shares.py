"""Shares of a whole from random orders, for more players than all sets allow.

An order and its reverse give two marginals of a player; their mean X is in [0, v(N)]
and its expectation is the Shapley value. K independent pairs make the interval:

* Chernoff: with chance at least 1 - d both kl(mean | phi) <= log(2 / d) / K in units
  of v(N), whatever the law of X (Hoeffding 1963, Theorem 1).
* Empirical Bernstein: |mean - phi| <= s sqrt(2 log(4 / d) / K) + 7 log(4 / d) / (3 (K -
  1)) in units of v(N), s the sample deviation (Maurer and Pontil 2009, Theorem 4, both
  sides).

Half of the failure chance goes to each and the better one counts; it is divided by the
number of players too, so that all intervals hold together. Numbers v(S) that are only
known between two ends make X known between two ends: the mean moves by them, and s is
at most the deviation of the middles plus the quadratic mean of the half widths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import final

import numpy as np

from simgap.answers.shapley import EPS, summing_to
from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument
from simgap.records import Certified
from simgap.statistics import Estimate

HALVINGS = 60


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
            f"{pairs} pairs of orders of {players} players",
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
    assert whole.lower is not None
    assert whole.upper is not None
    failure = (1.0 - confidence) / orders.players
    low, high, middle = _marginals(orders, ends)
    found, means = [], []
    for player in range(orders.players):
        mean = float(middle[:, player].mean())
        reach = bounded_mean(
            low[:, player], high[:, player], most=whole.upper, failure=failure
        )
        found.append(Certified(max(0.0, reach[0]), min(whole.upper, reach[1])))
        means.append(mean)
    pairs = len(orders.orders) // 2
    method = f"{pairs} random orders and their reverses, Chernoff and Bernstein bounds"
    return tuple(
        Estimate(
            estimate=min(max(mean, _end(each.lower)), _end(each.upper)),
            lower=_end(each.lower),
            upper=_end(each.upper),
            confidence=confidence,
            method=method,
        )
        for mean, each in zip(means, summing_to(found, whole), strict=True)
    )


def bounded_mean(
    lower: FloatArray, upper: FloatArray, *, most: float, failure: float
) -> tuple[float, float]:
    """Return an interval for the mean of numbers in [0, most], seen between two ends.

    It misses with chance at most `failure`.
    """
    if not most > 0.0:
        return 0.0, 0.0
    count = lower.size
    a, b = float(lower.mean()) / most, float(upper.mean()) / most
    half = 0.5 * failure
    chernoff = log(2.0 / half) / count
    wide = 0.5 * (upper - lower) / most
    spread = float(np.std(0.5 * (lower + upper) / most, ddof=1))
    spread += sqrt(float(wide @ wide) / (count - 1))
    bernstein = spread * sqrt(2.0 * log(4.0 / half) / count)
    bernstein += 7.0 * log(4.0 / half) / (3.0 * (count - 1))
    slack = 8.0 * EPS * (count + 8)
    low = max(_least_mean(a, chernoff), a - bernstein) - slack
    high = min(1.0 - _least_mean(1.0 - b, chernoff), b + bernstein) + slack
    return most * max(0.0, low), most * min(1.0, high)


def _least_mean(mean: float, budget: float) -> float:
    """Return the least q with kl(mean | q) <= budget, from below."""
    mean = min(max(mean, 0.0), 1.0)
    low, high = 0.0, mean
    for _ in range(HALVINGS):
        q = 0.5 * (low + high)
        if _divergence(mean, q) <= budget:
            high = q
        else:
            low = q
    return low


def _divergence(p: float, q: float) -> float:
    """Return the relative entropy of coins p and q, q <= p < 1 or q = p."""
    if q <= 0.0:
        return 0.0 if p <= 0.0 else float("inf")
    left = p * log(p / q) if p > 0.0 else 0.0
    right = (1.0 - p) * log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return left + right


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


def _end(value: float | None) -> float:
    assert value is not None
    return value
