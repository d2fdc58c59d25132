"""Laws of bounded numbers that intervals find hard, each with its exact mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from scipy.stats import binom, t

from simgap.arrays import FloatArray

Draw = Callable[[np.random.Generator, int], FloatArray]


@dataclass(frozen=True)
class Law:
    """Numbers between `low` and `high`."""

    name: str
    draw: Draw
    mean: float
    low: float = 0.0
    high: float = 1.0


def points(name: str, law: dict[float, float], low: float, high: float) -> Law:
    """Return a law on finitely many numbers."""
    values, chances = np.array(list(law)), np.array(list(law.values()))
    steps = np.cumsum(chances)

    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        at = np.searchsorted(steps, rng.random(n), side="right")
        return np.asarray(values[np.minimum(at, values.size - 1)], np.float64)

    return Law(name, draw, float(values @ chances), low, high)


def _rare(chance: float) -> list[Law]:
    """Return laws that are all alike but for a rare event, good, bad, or in between."""
    usual = 1.0 - chance
    return [
        points(f"rare good, {chance:g}", {1.0: usual, 0.0: chance}, 0.0, 1.0),
        points(f"rare bad, {chance:g}", {0.0: usual, 1.0: chance}, 0.0, 1.0),
        points(f"rare up, {chance:g}", {-2.0: usual, 5.0: chance}, -4.0, 5.0),
        points(f"rare down, {chance:g}", {3.0: usual, -4.0: chance}, -4.0, 5.0),
    ]


def _power(k: float) -> Law:
    return Law(f"u^{k:g}", lambda rng, n: rng.random(n) ** k, 1.0 / (k + 1.0))


def _beta(a: float, b: float, *, up: float = 1.0) -> Law:
    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        return up * rng.beta(a, b, n)

    low, high = sorted((0.0, up))
    return Law(f"{up:g} beta({a:g}, {b:g})", draw, up * a / (a + b), low, high)


def hidden(chance: float, noise: float) -> Law:
    """Return small noise that hides a rare event as large as the range."""

    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        return np.where(rng.random(n) < chance, 1.0, noise * rng.random(n))

    mean = chance + (1.0 - chance) * noise / 2.0
    return Law(f"{chance:g} hidden in {noise:g}", draw, mean)


LAWS = (
    *(law for chance in (1e-5, 1e-4, 1e-3, 1e-2, 0.1) for law in _rare(chance)),
    *(
        points(f"two points, {c:g}", {0.0: 1.0 - c, 1.0: c}, 0.0, 1.0)
        for c in (0.02, 0.3, 0.5, 0.98)
    ),
    points("constant inside", {0.3: 1.0}, 0.0, 1.0),
    points("constant below", {-7.0: 1.0}, -7.0, 1.0),
    points("constant above", {-1.0: 1.0}, -7.0, -1.0),
    points("ties", {0.0: 0.01, 0.5: 0.98, 1.0: 0.01}, 0.0, 1.0),
    points("uneven ties", {0.0: 1e-3, 0.5: 0.5, 0.6: 0.498, 1.0: 1e-3}, 0.0, 1.0),
    points("few of two kinds", {0.0: 0.949, 0.02: 0.05, 1.0: 0.001}, 0.0, 1.0),
    Law("uniform", lambda rng, n: rng.random(n), 0.5),
    Law("narrow", lambda rng, n: 0.4 + 0.2 * rng.random(n), 0.5),
    _power(8.0),
    _power(30.0),
    _beta(20.0, 4.0),
    _beta(0.1, 0.1),
    _beta(0.05, 5.0),
    _beta(0.05, 5.0, up=-3.0),
    _beta(0.01, 1.0),
    Law(
        "exponential",
        lambda rng, n: np.exp(-14.0 * rng.random(n)),
        (1.0 - exp(-14.0)) / 14.0,
    ),
    hidden(1e-4, 0.1),
    hidden(1e-2, 0.1),
)


def sampled(law: Law, seed: int, n: int) -> FloatArray:
    """Return n numbers of a law."""
    return law.draw(np.random.default_rng([seed, 7]), n)


def most_misses(seeds: int, level: float = 1e-5, confidence: float = 0.95) -> int:
    """Return how often an interval may miss, but for a chance `level`."""
    return int(binom.ppf(1.0 - level, seeds, 1.0 - confidence))


def plain_t(values: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the t interval: the control that knows nothing of what was not met."""
    n, mean = values.size, float(values.mean())
    half = float(t.ppf(0.5 + confidence / 2.0, n - 1)) * float(values.std(ddof=1))
    return mean - half / sqrt(n), mean + half / sqrt(n)


def room_above_only(
    values: FloatArray, confidence: float, most: float
) -> tuple[float, float]:
    """Return a t interval with room for unseen losses at its upper end alone."""
    low, high = plain_t(values, confidence)
    apart = np.abs(values - np.median(values))
    total = float((apart**2).sum())
    unseen = most
    if total > 0.0:
        differing = float(apart.sum()) ** 2 / total
        unseen = min(most, float(apart.max()) * (2.0 + 30.0 / differing))
    return low, high + log(2.0 / (1.0 - confidence)) / values.size * unseen
