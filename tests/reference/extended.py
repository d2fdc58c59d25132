"""Optimistic planning by definition: one row at a time, from zero, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt

Vector = Sequence[float]
Inner = Callable[[int, Vector], float]  # row, values -> greatest q v


def ball_radius(
    states: int, actions: int, step: int, delta: float, visits: int
) -> float:
    """Return the L1 radius of UCRL2 at a step counted from 1."""
    return sqrt(14 * states * log(2 * actions * step / delta) / max(1, visits))


def interval_radius(
    states: int, actions: int, delta: float, visits: int, chance: float
) -> float:
    """Return the radius of UCRL2B around a frequency."""
    n = max(1, visits)
    x = log(6 * states * actions * n / delta)
    return 2 * sqrt(chance * (1 - chance) * x / n) + 6 * x / n


def best_in_ball(law: Vector, radius: float, values: Vector) -> float:
    """Return max q v over |q - law|_1 <= radius (Jaksch et al. 2010, figure 2)."""
    order = sorted(range(len(law)), key=lambda s: -values[s])
    q = list(law)
    q[order[0]] = min(1.0, law[order[0]] + radius / 2)
    worst = len(order) - 1
    while sum(q) > 1.0 + 1e-15 and worst > 0:
        s = order[worst]
        q[s] = max(0.0, 1.0 - (sum(q) - q[s]))
        worst -= 1
    return sum(x * v for x, v in zip(q, values, strict=True))


def best_in_intervals(low: Vector, high: Vector, values: Vector) -> float:
    """Return max q v over low <= q <= high, sum q = 1."""
    q = list(low)
    for s in sorted(range(len(q)), key=lambda s: -values[s]):
        q[s] = min(high[s], q[s] + 1.0 - sum(q))
    return sum(x * v for x, v in zip(q, values, strict=True))


def plausible_maximum(
    kind: str,
    counts: Sequence[Vector],
    actions: int,
    step: int,
    delta: float,
    factor: float = 1.0,
) -> Inner:
    """Return the inner maximum of UCRL2 ("ball") or UCRL2B for counts (S A, S)."""
    states = len(counts[0])

    def inner(row: int, values: Vector) -> float:
        visits = int(sum(counts[row]))
        if visits == 0:
            return max(values)
        law = [n / visits for n in counts[row]]
        if kind == "ball":
            radius = factor * ball_radius(states, actions, step, delta, visits)
            return best_in_ball(law, radius, values)
        radii = [
            factor * interval_radius(states, actions, delta, visits, p) for p in law
        ]
        low = [max(0.0, p - r) for p, r in zip(law, radii, strict=True)]
        high = [min(1.0, p + r) for p, r in zip(law, radii, strict=True)]
        return best_in_intervals(low, high, values)

    return inner


def extended_gain(
    inner: Inner,
    rewards: Sequence[Vector],
    accuracy: float,
    policy: Sequence[int] | None = None,
) -> tuple[float, float]:
    """Return bounds of the best plausible gain, for all policies or for one.

    Value iteration from zero; half of every step keeps it from running in circles.
    """
    states, actions = len(rewards), len(rewards[0])
    values = [0.0] * states
    for _ in range(1_000_000):
        change = []
        for s in range(states):
            allowed = range(actions) if policy is None else [policy[s]]
            best = max(rewards[s][a] + inner(s * actions + a, values) for a in allowed)
            change.append(best - values[s])
        if max(change) - min(change) < accuracy:
            return min(change), max(change)
        values = [v + 0.5 * d for v, d in zip(values, change, strict=True)]
        values = [v - min(values) for v in values]
    raise AssertionError("no convergence")
