"""The rows of a stored kernel, read one entry at a time.

Works in whatever numbers it is given: floats, or Fractions by way of `exact`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from simgap.arrays import FloatArray, IndexArray, OffsetArray

Stored = tuple[OffsetArray, IndexArray, FloatArray]
Exact = Sequence[Fraction]


def entries(stored: Stored, row: int) -> list[tuple[int, float]]:
    """Return (successor, probability) of a row, explicit zeros included."""
    indptr, indices, values = stored
    return [
        (int(indices[k]), float(values[k])) for k in range(indptr[row], indptr[row + 1])
    ]


def backup(stored: Stored, row: int, start: float, vector: FloatArray) -> float:
    """Return start + sum of p * vector over a row."""
    total = float(start)
    for after, p in entries(stored, row):
        total += p * float(vector[after])
    return total


def exact_backup(stored: Stored, row: int, start: Fraction, vector: Exact) -> Fraction:
    """The same without rounding."""
    return start + sum(
        (Fraction(p) * vector[after] for after, p in entries(stored, row) if p),
        Fraction(0),
    )


def exact(vector: FloatArray) -> list[Fraction]:
    """Return floats as the Fractions they are."""
    return [Fraction(float(x)) for x in vector]


def travel_bounds_hold(
    stored: Stored,
    n_actions: int,
    target: int,
    times: FloatArray,
    low: float,
    high: float,
) -> bool:
    """Return whether low * times and high * times bound the true times, in Fractions.

    With W = 0 at the target, W <= TW everywhere else puts W below the least expected
    times and W >= TW above them; T W = 1 + min_a P W.
    """
    floor = [Fraction(low) * x for x in exact(times)]
    ceiling = [Fraction(high) * x for x in exact(times)]
    if floor[target] != 0:
        return False
    one = Fraction(1)
    for s in range(len(times)):
        if s == target:
            continue
        rows = range(s * n_actions, (s + 1) * n_actions)
        if floor[s] > min(exact_backup(stored, row, one, floor) for row in rows):
            return False
        if ceiling[s] < min(exact_backup(stored, row, one, ceiling) for row in rows):
            return False
    return True


def exact_changes(
    stored: Stored, n_actions: int, rewards: FloatArray, bias: FloatArray
) -> list[Fraction]:
    """Return Th - h of every state; its least and greatest bound the gain."""
    h, r = exact(bias), exact(rewards)
    return [
        max(
            exact_backup(stored, row, r[row], h)
            for row in range(s * n_actions, (s + 1) * n_actions)
        )
        - h[s]
        for s in range(len(h))
    ]
