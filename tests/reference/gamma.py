"""Gamma variates in plain Python, from the same counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, e, exp, log, pi, sqrt

MASK = 2**64 - 1


def uniform(key: int, counter: int) -> float:
    """Return number `counter` of a key in [0, 1): splitmix64, its upper 53 bits."""
    bits = (key + 0x9E3779B97F4A7C15 * (counter + 1)) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return float((bits ^ (bits >> 31)) >> 11) * 2.0**-53


def uniforms(key: int) -> Iterator[float]:
    """Return the numbers 1 - U of a key one after another, in (0, 1]."""
    counter = 0
    while True:
        yield 1.0 - uniform(key, counter)
        counter += 1


def log_gamma(luck: Iterator[float], shape: float) -> float:
    """Return the logarithm of a gamma variate.

    Exponential at 1, Marsaglia and Tsang above, Ahrens and Dieter below, each by the
    letter of its source: accept iff a uniform number lies below a ratio of densities.
    """
    if shape == 1.0:
        return log(-log(next(luck)))
    if shape > 1.0:
        d = shape - 1 / 3
        while True:
            far, turn, u = sqrt(-2 * log(next(luck))), 1 - next(luck), next(luck)
            x = far * cos(2 * pi * turn)
            v = (1 + x / sqrt(9 * d)) ** 3
            if v > 0 and log(u) < x * x / 2 + d - d * v + d * log(v):
                return log(d * v)
    while True:
        place, u = (1 + shape / e) * next(luck), next(luck)
        if place <= 1:
            if u <= exp(-(place ** (1 / shape))):
                return log(place) / shape
        else:
            x = -log((1 + shape / e - place) / shape)
            if u <= x ** (shape - 1):
                return log(x)


def dirichlet(luck: Iterator[float], shapes: Sequence[float]) -> list[float]:
    """Return a Dirichlet variate."""
    logs = [log_gamma(luck, shape) for shape in shapes]
    parts = [exp(x - max(logs)) for x in logs]
    return [part / sum(parts) for part in parts]
