"""The slow twin of betting intervals: one number after another."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log1p, sqrt


def capital_by_bets(
    values: Sequence[float], low: float, high: float, mean: float, confidence: float
) -> float:
    """Return the logarithm of the largest capital of a gambler who doubts `mean`."""
    budget, wide = log(2.0 / (1.0 - confidence)), high - low
    total, squares, capital, most = 0.5 * (low + high), 0.25 * wide**2, 0.0, -1e300
    for count, value in enumerate(values):
        deviation = sqrt(squares / (count + 1))
        bet = sqrt(2.0 * budget / len(values)) / deviation
        bet = min(bet, 0.75 / (mean - low))
        capital += log1p(bet * (value - mean))
        most = max(most, capital)
        total += value
        squares += (value - total / (count + 2)) ** 2
    return most


def capital_by_shares(values: Sequence[float], low: float, mean: float) -> float:
    """Return the capital of gamblers with fixed bets, 2^-j of the ruinous one."""
    shares = [1.0 / (j + 2) for j in range(20)]
    capital = 0.0
    for j, share in enumerate(shares):
        product = 0.0
        for value in values:
            factor = 1.0 + 0.5**j / (mean - low) * (value - mean)
            product += log(factor) if factor > 0.0 else -1e300
        capital += share / sum(shares) * exp(min(product, 700.0))
    return capital
