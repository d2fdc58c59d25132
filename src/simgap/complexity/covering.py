"""Covering numbers of a function class in the sup norm, with the cover (theory 2.12).

N(F, eps) is the *least* number of functions of F whose closed eps-balls contain F
(errata E8: the paper's definition lacks the word). Any cover bounds it from above. From
below there are two bounds: if no two of some functions fit in one ball, each of them
needs a ball of its own; and if weights y >= 0 of the functions sum to at most 1 in
every ball, their total is at most N (linear programming duality).

A linear class has covers that need no search. Let differences f - f' lie in a space of
r dimensions and be at most R everywhere. Take functions no two of which are within eps,
as many as possible: they are a cover. Balls of radius eps/2 around them are disjoint
and lie in one ball of radius R + eps/2, so that there are at most (1 + 2 R/eps)^r of
them: the O(r log(1/eps)) of Section 5.3. In one dimension there are at most 1 + R/eps.

Small classes are solved by branching: some ball must contain the function that is
hardest to cover, and each of these balls is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, isfinite
from typing import final

import numpy as np

from simgap.arrays import BoolArray, IndexArray, read_only
from simgap.complexity.function_class import FunctionClass, check_scale
from simgap.errors import InvalidArgument

MOST_NODES = 5_000  # of the search; then bounds are what remains
SEARCH_UP_TO = 512  # functions; beyond, a greedy cover and a packing have to do


@final
@dataclass(frozen=True, slots=True, eq=False)
class CoveringNumber:
    """N(F, eps) between two bounds, each with what proves it."""

    epsilon: float
    lower: int
    upper: int
    cover: IndexArray  # (upper,), functions whose balls contain F
    apart: IndexArray  # functions no two of which share a ball, at most `lower`
    searched: bool  # the search ended: the bounds are equal because it says so

    def __post_init__(self) -> None:
        object.__setattr__(self, "cover", read_only(self.cover, np.int32))
        object.__setattr__(self, "apart", read_only(self.apart, np.int32))

    @property
    def exact(self) -> bool:
        return self.lower == self.upper


def linear_covering_bound(dimension: int, ratio: float) -> float:
    """Return a bound on N(F, eps) of a linear class from its dimension and R / eps.

    Differences f - f' form a set in a space of that dimension and are at most
    `ratio` times eps everywhere, as in `linear_eluder_bound`.
    """
    if dimension < 0 or not isfinite(ratio) or ratio < 0.0:
        raise InvalidArgument(
            f"dimension {dimension} and ratio {ratio!r} of a linear class",
            hint="a dimension of 0 or more, and the largest difference over eps",
        )
    if dimension == 0 or ratio <= 1.0:
        return 1.0
    if dimension == 1:
        return 1.0 + floor(ratio * (1.0 + 1e-12))
    try:
        return float((1.0 + 2.0 * ratio) ** dimension)
    except OverflowError:
        return inf


def covering_number(
    functions: FunctionClass, epsilon: float, *, most_nodes: int = MOST_NODES
) -> CoveringNumber:
    """Return bounds on N(F, eps), equal if the search ends within `most_nodes`.

    With eps = 0 it is the number of different functions. Two functions farther apart
    than eps by less than the resolution of the class still share a ball.
    """
    check_scale(epsilon)
    near = functions.distance <= epsilon + functions.resolution
    balls = [_bits(row) for row in near]
    everything = (1 << len(balls)) - 1
    cover = _greedy_cover(balls, everything)
    apart = _packing(balls, everything)
    lower, searched = len(apart), False
    if lower < len(cover) and len(balls) <= SEARCH_UP_TO:
        lower = max(lower, _dual_bound(near))
    if lower < len(cover) and len(balls) <= SEARCH_UP_TO:
        search = _Search(balls, cover, most_nodes, enough=lower)
        searched = search.run(everything)
        cover = search.best
    if searched:
        lower = len(cover)
    if not near[cover].any(axis=0).all() or lower > len(cover):
        raise AssertionError("a cover that does not cover: a defect of the search")
    return CoveringNumber(
        epsilon=float(epsilon),
        lower=lower,
        upper=len(cover),
        cover=np.array(sorted(cover), np.int32),
        apart=np.array(apart, np.int32),
        searched=searched,
    )


def _greedy_cover(balls: list[int], left: int) -> list[int]:
    """Return balls, the one with most uncovered functions first; ties: lowest index."""
    chosen = []
    while left:
        best = max(range(len(balls)), key=lambda c: (balls[c] & left).bit_count())
        chosen.append(best)
        left &= ~balls[best]
    return chosen


def _packing(balls: list[int], left: int) -> list[int]:
    """Return functions among `left` no two of which are in one ball.

    Balls are symmetric: those that contain f are the balls of its neighbours. The
    function with the fewest others in reach goes first.
    """
    reach = {f: _reach(balls, f) for f in _members(left)}
    chosen = []
    while left:
        best = min(_members(left), key=lambda f: (reach[f] & left).bit_count())
        chosen.append(best)
        left &= ~reach[best]
    return sorted(chosen)


class _Search:
    """Branch and bound over balls; `best` is the smallest cover found so far."""

    def __init__(
        self, balls: list[int], cover: list[int], most_nodes: int, *, enough: int
    ) -> None:
        self.balls = _without_dominated(balls)
        self.reach = [_reach(balls, f) for f in range(len(balls))]
        self.best = cover
        self.left_nodes = most_nodes
        self.enough = enough  # no cover is smaller

    def run(self, everything: int) -> bool:
        """Return whether the search ended by itself: `best` is then a least cover."""
        return self._branch(everything, [])

    def _branch(self, left: int, chosen: list[int]) -> bool:
        if not left:
            if len(chosen) < len(self.best):
                self.best = list(chosen)
            return True
        needed = max(len(chosen) + self._needed(left), self.enough)
        if needed >= len(self.best):
            return True
        self.left_nodes -= 1
        if self.left_nodes < 0:
            return False
        hardest = min(_members(left), key=lambda f: len(self._around(f)))
        options = self._around(hardest)
        options.sort(key=lambda c: -(self.balls[c] & left).bit_count())
        for ball in options:
            chosen.append(ball)
            ended = self._branch(left & ~self.balls[ball], chosen)
            chosen.pop()
            if not ended:
                return False
        return True

    def _around(self, function: int) -> list[int]:
        """Return the balls that contain a function, dominated ones left out."""
        return [c for c, ball in self.balls.items() if ball >> function & 1]

    def _needed(self, left: int) -> int:
        """Return how many more balls are surely needed, by a quick packing."""
        count = 0
        while left:
            first = (left & -left).bit_length() - 1
            left &= ~self.reach[first]
            count += 1
        return count


def _without_dominated(balls: list[int]) -> dict[int, int]:
    """Return the balls that are not inside another; of equal ones the first."""
    kept: dict[int, int] = {}
    for c, ball in sorted(enumerate(balls), key=lambda each: -each[1].bit_count()):
        if not any(ball & ~other == 0 for other in kept.values()):
            kept[c] = ball
    return dict(sorted(kept.items()))


def _dual_bound(near: BoolArray) -> int:
    """Return the bound of weights with at most 1 in any ball, checked in Fractions."""
    from scipy.optimize import linprog

    solved = linprog(
        -np.ones(len(near)), A_ub=near.astype(np.float64), b_ub=np.ones(len(near))
    )
    if solved.x is None:
        return 1
    weights = [Fraction(max(float(y), 0.0)) for y in solved.x]
    heaviest = max(
        sum((y for y, inside in zip(weights, row, strict=True) if inside), Fraction(0))
        for row in near
    )
    return ceil(sum(weights) / heaviest) if heaviest > 0 else 1


def _reach(balls: list[int], function: int) -> int:
    """Return the functions that share a ball with this one."""
    together = 0
    for neighbour in _members(balls[function]):
        together |= balls[neighbour]
    return together


def _members(bits: int) -> list[int]:
    out = []
    while bits:
        low = bits & -bits
        out.append(low.bit_length() - 1)
        bits ^= low
    return out


def _bits(row: BoolArray) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")
