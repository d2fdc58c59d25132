"""The longest eluder sequence, exactly: a search over sets of points (theory 2.11).

Whether x is independent of the points Z before it depends on Z as a set and on the
scale eps' alone. With the norm c_p over Z and the difference d_p at x of each pair p of
functions, x is independent of Z for the scales in the union of [max(c_p, eps), d_p).
So the scales at which a set S can be ordered well are

    E(S) = union over x in S of  E(S - x)  and  the scales at which x is free of S - x

and dim_E is the size of the largest S with E(S) not empty. Everything is whole numbers:
floats are multiples of one power of two, and scales are compared by their squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import final

from simgap.arrays import FloatArray

Scales = tuple[tuple[int, int], ...]  # half-open intervals of eps'^2, increasing


@final
@dataclass(frozen=True, slots=True)
class Found:
    """The longest sequence met, and whether there is none longer."""

    points: tuple[int, ...]
    scale_squared: Fraction
    complete: bool


@final
@dataclass(frozen=True, slots=True)
class _Whole:
    """The class in whole numbers."""

    squares: list[list[int]]  # (X, P), squared differences
    limits: list[list[tuple[int, int]]]  # of each point: pairs, with the squared
    # scale below which each shows the point; only those that can
    least: int  # eps^2
    unit: int  # squares are in units of 1 / unit


def longest_sequence(
    values: FloatArray, epsilon: float, resolution: float, *, work: int
) -> Found:
    """Return the longest eluder sequence among the points of values (X, F).

    `work` limits the number of comparisons; after that the search stops with the
    longest sequence so far. A difference exceeds a scale only if it does so by more
    than the resolution.
    """
    whole = _whole(values, epsilon, resolution)
    pairs = len(whole.squares[0]) if whole.squares else 0
    steps = sum(map(len, whole.limits))
    everything: Scales = ((whole.least, _greatest(whole)),)
    layers: list[dict[int, Scales]] = [{0: everything} if pairs else {}]
    sums: dict[int, list[int]] = {0: [0] * pairs}
    complete = True
    while layers[-1] and complete:
        longer: dict[int, Scales] = {}
        longer_sums: dict[int, list[int]] = {}
        for chosen, scales in layers[-1].items():
            work -= steps
            if work < 0:
                complete = False
                break
            for x, free in _extensions(whole, chosen, scales, sums[chosen]):
                wider = chosen | 1 << x
                if wider not in longer_sums:
                    work -= pairs
                    added = zip(sums[chosen], whole.squares[x], strict=True)
                    longer_sums[wider] = [c + d for c, d in added]
                longer[wider] = _union([*longer.get(wider, ()), *free])
        layers.append(longer)
        sums = longer_sums
    return _trace(whole, [layer for layer in layers if layer], complete)


def _whole(values: FloatArray, epsilon: float, resolution: float) -> _Whole:
    rows = [[Fraction(float(value)) for value in row] for row in values]
    least, blur = Fraction(float(epsilon)), Fraction(float(resolution))
    unit = max(
        [least.denominator, blur.denominator]
        + [value.denominator for row in rows for value in row]
    )  # powers of two: the largest is a multiple of all
    numbers = [[int(value * unit) for value in row] for row in rows]
    eps, apart = int(least * unit), int(blur * unit)
    count = values.shape[1]
    useful = [
        (i, j)
        for i, j in combinations(range(count), 2)
        if any(abs(row[i] - row[j]) - apart > eps for row in numbers)
    ]
    gaps = [[abs(row[i] - row[j]) for i, j in useful] for row in numbers]
    return _Whole(
        squares=[[d * d for d in row] for row in gaps],
        limits=[
            [(p, (d - apart) ** 2) for p, d in enumerate(row) if d - apart > eps]
            for row in gaps
        ],
        least=eps * eps,
        unit=unit * unit,
    )


def _greatest(whole: _Whole) -> int:
    """Return a squared scale above all that matter."""
    return max([whole.least, *(d for row in whole.limits for _, d in row)]) + 1


def _extensions(
    whole: _Whole, chosen: int, scales: Scales, sums: Sequence[int]
) -> list[tuple[int, Scales]]:
    """Return the points that can follow a set, each with the scales that allow it."""
    out = []
    for x, limits in enumerate(whole.limits):
        if chosen >> x & 1:
            continue  # a repeat is always dependent
        free = [
            (max(sums[p], whole.least), limit) for p, limit in limits if limit > sums[p]
        ]
        common = _intersection(scales, _union(free))
        if common:
            out.append((x, common))
    return out


def _union(intervals: Sequence[tuple[int, int]]) -> Scales:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _intersection(left: Scales, right: Scales) -> Scales:
    out = []
    for a, b in left:
        for c, d in right:
            if max(a, c) < min(b, d):
                out.append((max(a, c), min(b, d)))
    return tuple(out)


def _trace(whole: _Whole, layers: list[dict[int, Scales]], complete: bool) -> Found:
    """Return a sequence behind the last layer, by taking its last point off in turn."""
    if len(layers) < 2:
        return Found((), Fraction(whole.least, whole.unit), complete)
    chosen, scales = min(layers[-1].items())
    scale = scales[0][0]
    backwards: list[int] = []
    for layer in reversed(layers[:-1]):
        for x in range(len(whole.squares)):
            before = chosen & ~(1 << x)
            if before != chosen and _free_at(whole, layer, before, x, scale):
                backwards.append(x)
                chosen = before
                break
        else:
            raise AssertionError("a set of points without an order: a defect")
    return Found(tuple(reversed(backwards)), Fraction(scale, whole.unit), complete)


def _free_at(
    whole: _Whole, layer: dict[int, Scales], before: int, x: int, scale: int
) -> bool:
    """Return whether x may follow a set of a layer at this scale."""
    if not any(low <= scale < high for low, high in layer.get(before, ())):
        return False
    members = [y for y in range(len(whole.squares)) if before >> y & 1]
    return any(
        sum(whole.squares[y][p] for y in members) <= scale < limit
        for p, limit in whole.limits[x]
    )
