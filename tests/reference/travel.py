"""Least expected hitting times by exact policy iteration.

A time is finite exactly where some policy reaches the target with probability one; a
path to the target is not enough, because the way may lead past a trap.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from tests.reference.linear import solve
from tests.reference.rational import Kernel

Time = Fraction | float  # a float only where the time is infinite


def hitting_times(P: Kernel, target: int) -> list[Time]:
    """Return the least expected number of steps to `target` from every state."""
    S = len(P)
    sure = surely_reaching(P, target)
    policy = _proper_policy(P, target, sure)
    while True:
        times = _times_of(P, target, policy)
        improved = dict(policy)
        for s in policy:
            best = _steps(P, times, s, policy[s])
            for a in _allowed(P, sure, s):
                steps = _steps(P, times, s, a)
                if steps < best:
                    best, improved[s] = steps, a
        if improved == policy:
            return [times.get(s, inf) for s in range(S)]
        policy = improved


def surely_reaching(P: Kernel, target: int) -> set[int]:
    """Return the states from which some policy reaches the target almost surely."""
    sure = set(range(len(P)))
    while True:
        reached = {target}
        grown = True
        while grown:
            grown = False
            for s in sure - reached:
                for a in _allowed(P, sure, s):
                    if any(P[s][a][t] for t in reached):
                        reached.add(s)
                        grown = True
                        break
        if reached == sure:
            return sure
        sure = reached


def communicating(P: Kernel) -> bool:
    """Return whether every state can be reached from every other."""
    S, A = len(P), len(P[0])
    for start in range(S):
        seen, todo = {start}, [start]
        while todo:
            s = todo.pop()
            for t in range(S):
                if t not in seen and any(P[s][a][t] for a in range(A)):
                    seen.add(t)
                    todo.append(t)
        if len(seen) < S:
            return False
    return True


def diameter(P: Kernel) -> Time:
    """Return the largest of the least hitting times between two states (0 if S = 1)."""
    times: list[Time] = [Fraction(0)]
    for target in range(len(P)):
        times.extend(hitting_times(P, target))
    return max(times)


def _allowed(P: Kernel, sure: set[int], s: int) -> list[int]:
    """Return the actions that cannot leave `sure`."""
    return [
        a
        for a in range(len(P[0]))
        if all(t in sure for t, p in enumerate(P[s][a]) if p)
    ]


def _proper_policy(P: Kernel, target: int, sure: set[int]) -> dict[int, int]:
    """Return a policy on `sure` that reaches the target almost surely."""
    policy: dict[int, int] = {}
    reached = {target}
    while reached != sure:
        s, a = next(
            (s, a)
            for s in sorted(sure - reached)
            for a in _allowed(P, sure, s)
            if any(P[s][a][t] for t in reached)
        )
        policy[s] = a
        reached.add(s)
    return policy


def _times_of(P: Kernel, target: int, policy: dict[int, int]) -> dict[int, Fraction]:
    """Return the hitting times of a policy that reaches the target almost surely."""
    states = list(policy)
    matrix = [
        [Fraction(int(s == t)) - P[s][policy[s]][t] for t in states] for s in states
    ]
    solved = solve(matrix, [Fraction(1)] * len(states))
    return {target: Fraction(0), **dict(zip(states, solved, strict=True))}


def _steps(P: Kernel, times: dict[int, Fraction], s: int, a: int) -> Fraction:
    future: Sequence[Fraction] = [p * times[t] for t, p in enumerate(P[s][a]) if p]
    return 1 + sum(future, Fraction(0))
