"""The eluder dimension of a function class (Definition 3, theory 2.11).

A point x is eps-dependent on points Z if every two functions with
sqrt(sum over Z of (f - f')^2) <= eps have |f(x) - f'(x)| <= eps. dim_E(F, eps) is the
length of the longest sequence each point of which is eps'-independent of those before
it, for one common eps' >= eps.

Small classes are searched completely. Otherwise a sequence that was found bounds the
dimension from below; it is checked in exact fractions. Bounds from above are in
`eluder_bounds`.

The longest eluder sequence, exactly: a search over sets of points (theory 2.11).

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
from math import sqrt
from typing import final

import numpy as np

from simgap._kernels.solving.eluder import first_fit, least_harm
from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from simgap.complexity.eluder_bounds import (
    EluderUpper,
    UpperBound,
    counting_bound,
    linear_bound,
)
from simgap.complexity.function_class import FunctionClass, check_scale

WORK = 2_000_000  # comparisons of the search: about half a second
SEARCH_UP_TO = 20_000  # points x pairs: beyond, the search would not end
QUICK_POINTS, CAREFUL_POINTS = 30_000, 2_000  # tried by the two greedy rules
SCALES, CAREFUL_SCALES = 24, 8
Scales = tuple[tuple[int, int], ...]  # half-open intervals of eps'^2, increasing


@final
@dataclass(frozen=True, slots=True, eq=False)
class EluderDimension:
    """dim_E(F, eps) between two bounds; the sequence proves the lower one.

    `pairs[k]` are two functions at most eps' apart on the points before number k and
    more than eps' apart there.
    """

    epsilon: float
    lower: int
    upper: int
    points: OffsetArray  # (lower,), rows of the class's values
    pairs: IndexArray  # (lower, 2)
    scale_squared: Fraction  # eps'^2 of the sequence
    reason: UpperBound  # what the upper bound rests on

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", read_only(self.points, np.int64))
        object.__setattr__(self, "pairs", read_only(self.pairs, np.int32))

    @property
    def exact(self) -> bool:
        return self.lower == self.upper

    @property
    def scale(self) -> float:
        """eps' of the sequence, rounded."""
        return sqrt(self.scale_squared)


def eluder_dimension(
    functions: FunctionClass, epsilon: float, *, work: int = WORK
) -> EluderDimension:
    """Return bounds on dim_E(F, eps), equal if the class is small or lucky.

    `work` limits the search of small classes, 0 leaves it out.
    """
    check_scale(epsilon)
    upper = counting_bound(functions, epsilon)
    points, scale_squared = _greedy_sequence(functions, epsilon)
    if len(points) < upper.value:
        found = _search(functions, epsilon, work)
        if found is not None and len(found[0]) > len(points):
            points, scale_squared = found[:2]
        if found is not None and found[2]:
            upper = EluderUpper(len(points), UpperBound.SEARCH)
    if len(points) < upper.value:
        linear = linear_bound(functions, epsilon, upper.value)
        if linear < upper.value:
            upper = EluderUpper(linear, UpperBound.LINEAR)
    pairs = witnesses(functions, points, scale_squared)
    if scale_squared < Fraction(float(epsilon)) ** 2 or len(points) > upper.value:
        raise AssertionError("an eluder sequence beyond its bounds: a defect")
    return EluderDimension(
        epsilon=float(epsilon),
        lower=len(points),
        upper=upper.value,
        points=np.array(points, np.int64),
        pairs=np.array(pairs, np.int32).reshape(-1, 2),
        scale_squared=scale_squared,
        reason=upper.reason,
    )


def witnesses(
    functions: FunctionClass, points: Sequence[int], scale_squared: Fraction
) -> list[tuple[int, int]]:
    """Return for each point two functions that show it to be independent, or raise.

    In Fractions: this is the proof that the sequence is one. Floats only say which
    pairs are worth a look.
    """
    values = functions.values[list(points)]
    scale, blur = sqrt(scale_squared), Fraction(functions.resolution)
    squares = np.zeros((functions.n_functions, functions.n_functions))
    out: list[tuple[int, int]] = []
    for k, row in enumerate(values):
        gap = np.abs(row[:, None] - row[None, :])
        likely = (gap - functions.resolution > scale * (1.0 - 1e-9)) & (
            np.sqrt(squares) <= scale * (1.0 + 1e-9)
        )
        for i, j in np.argwhere(np.triu(likely)):
            here = abs(Fraction(row[i]) - Fraction(row[j])) - blur
            if here**2 > scale_squared and here > 0:
                before = [Fraction(a) - Fraction(b) for a, b in values[:k, [i, j]]]
                if sum(each**2 for each in before) <= scale_squared:
                    out.append((int(i), int(j)))
                    break
        else:
            raise AssertionError(f"point {k} of an eluder sequence is dependent")
        squares += gap**2
    return out


def _search(
    functions: FunctionClass, epsilon: float, work: int
) -> tuple[list[int], Fraction, bool] | None:
    """Return the longest sequence of a small class and whether none is longer."""
    useful = _useful_points(functions, epsilon)
    pairs = functions.n_functions * (functions.n_functions - 1) // 2
    if work <= 0 or useful.size * pairs > SEARCH_UP_TO:
        return None
    found = longest_sequence(
        functions.values[useful], epsilon, functions.resolution, work=work
    )
    points = [int(useful[at]) for at in found.points]
    return points, found.scale_squared, found.complete


def _greedy_sequence(
    functions: FunctionClass, epsilon: float
) -> tuple[list[int], Fraction]:
    """Return the longest sequence that greedy choices find, over a range of scales.

    Points on which functions differ little come first: they use up the fewest pairs.
    """
    useful = _useful_points(functions, epsilon)
    best: list[int] = []
    best_scale = float(epsilon)
    if useful.size == 0:
        return best, Fraction(best_scale) ** 2
    values = functions.values
    size = np.concatenate(
        [
            _sizes(values[part])
            for part in np.array_split(useful, 1 + len(useful) // 4096)
        ]
    )
    order = useful[np.argsort(size, kind="stable")]
    chosen = np.empty(useful.size, np.int64)
    largest = float(functions.distance.max())
    scales = np.geomspace(max(epsilon, 1e-6 * largest), largest, SCALES)[:-1]
    careful = set(range(0, SCALES, SCALES // CAREFUL_SCALES))
    for at, scale in enumerate([float(epsilon), *map(float, scales[1:])]):
        rules = [(first_fit, QUICK_POINTS)]
        if at in careful:
            rules.append((least_harm, CAREFUL_POINTS))
        for rule, most in rules:
            some = _thinned(order, most)
            count = rule(values, some, scale, functions.resolution, chosen)
            if count > len(best):
                best, best_scale = [int(x) for x in chosen[:count]], scale
    return best, Fraction(best_scale) ** 2


def _useful_points(functions: FunctionClass, epsilon: float) -> OffsetArray:
    """Return the points that show some pair farther apart than eps."""
    if functions.values.size == 0:
        return np.zeros(0, np.int64)
    spread = functions.values.max(axis=1) - functions.values.min(axis=1)
    return np.flatnonzero(spread > epsilon + functions.resolution)


def _sizes(values: FloatArray) -> FloatArray:
    """Return the squared deviation of the functions from their mean at each point."""
    return np.asarray(((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _thinned(order: OffsetArray, most: int) -> OffsetArray:
    """Return at most so many entries, evenly spread."""
    if order.size <= most:
        return order
    return np.asarray(order[np.linspace(0, order.size - 1, most).astype(np.int64)])


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
