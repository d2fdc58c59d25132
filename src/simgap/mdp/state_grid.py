"""A grid over continuous states, and points written as mixtures of its nodes.

Along axis i a point lies t_i in [0, 1) of the way from one node to the next. It is
written as a random corner of its cell, each axis rounded up with probability t_i:

* `MULTILINEAR`: the axes independently, 2^d corners;
* `SIMPLEX`: all axes by one number u, axis i up if u < t_i: the d + 1 corners of the
  simplex of Kuhn's triangulation that holds the point.

Both have the point as their mean, so functions that are linear on the grid are
interpolated exactly, and both have the variance h_i^2 t_i (1 - t_i) <= h_i^2 / 4 along
axis i (h_i: distance of nodes). A function with second derivatives below K_i is
therefore wrong by at most sum_i K_i h_i^2 / 8 (multilinear). Points beyond the end of
an axis are moved to its end; t_i within 1e-9 of a node is that node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import isfinite, prod
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.errors import InvalidArgument

SNAP = 1e-9  # of a cell: a point this near to a node is the node


class Interpolation(Enum):
    """Which corners of its cell a point is a mixture of."""

    MULTILINEAR = "multilinear"
    SIMPLEX = "simplex"


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """One coordinate: `cells` nodes from `low` to `high`, or around a circle.

    A periodic axis has the point midway between `low` and `high` among its nodes.
    """

    name: str
    low: float
    high: float
    cells: int
    periodic: bool = False

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise InvalidArgument(
                f"axis {self.name!r} runs from {self.low} to {self.high}",
                hint="both ends are finite, the first is less",
            )
        whole = isinstance(self.cells, int | np.integer)
        if not whole or isinstance(self.cells, bool) or self.cells < 2:
            raise InvalidArgument(
                f"axis {self.name!r} has {self.cells!r} nodes",
                hint="give a whole number, at least 2",
            )

    @property
    def spacing(self) -> float:
        """The distance of two nodes."""
        gaps = self.cells if self.periodic else self.cells - 1
        return (self.high - self.low) / gaps

    @property
    def first(self) -> float:
        """The node of index 0."""
        if not self.periodic:
            return self.low
        return 0.5 * (self.low + self.high) - self.spacing * (self.cells // 2)

    @property
    def points(self) -> FloatArray:
        """The nodes, (cells,)."""
        if not self.periodic:
            line: FloatArray = np.linspace(self.low, self.high, self.cells)
            return line
        # counted from the middle, which is then exact
        steps = np.arange(self.cells, dtype=np.float64) - self.cells // 2
        return np.asarray(0.5 * (self.low + self.high) + self.spacing * steps)

    def law_of_uniform(self, low: float, high: float) -> FloatArray:
        """Return the mean mixture of a point drawn evenly from [low, high], (cells,).

        The integrals of the hat functions of the nodes, in closed form.
        """
        inside = self.periodic or self.low <= low <= high <= self.high
        if not (isfinite(low) and isfinite(high) and low <= high and inside):
            raise InvalidArgument(
                f"axis {self.name!r} cannot start in [{low}, {high}]",
                hint=f"it runs from {self.low} to {self.high}",
            )
        ends = (np.array([low, high]) - self.first) / self.spacing
        begin, end = (float(each) for each in _snapped(ends))
        law: FloatArray = np.zeros(self.cells)
        if begin == end:
            cell = np.array([np.floor(begin)])
            up = begin - cell
            down = 1.0 - up
        else:
            cuts = np.arange(np.floor(begin) + 1.0, np.ceil(end))
            edges = np.concatenate([[begin], cuts, [end]])
            cell = np.floor(0.5 * (edges[1:] + edges[:-1]))
            length, middle = np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
            up = length * (middle - cell) / (end - begin)
            down = length * (1.0 - middle + cell) / (end - begin)
        at = cell.astype(np.int64)
        np.add.at(law, self._wrapped(at), down)
        np.add.at(law, self._wrapped(at + 1), up)
        law /= law.sum()
        return law

    def _wrapped(self, at: OffsetArray) -> OffsetArray:
        if self.periodic:
            return at % self.cells
        return np.minimum(at, self.cells - 1)  # beyond the end only with weight 0


@final
@dataclass(frozen=True, slots=True)
class StateGrid:
    """A product of axes; node indices run with the last axis fastest."""

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        if not self.axes:
            raise InvalidArgument("a grid without axes", hint="give at least one")
        names = [axis.name for axis in self.axes]
        if len(set(names)) < len(names):
            raise InvalidArgument(
                f"axes are named {names}", hint="give every axis its own name"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.cells for axis in self.axes)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(self.shape)

    @property
    def spacing(self) -> FloatArray:
        """The distance of nodes along each axis, (d,)."""
        return np.array([axis.spacing for axis in self.axes])

    @property
    def points(self) -> FloatArray:
        """All nodes, (size, d)."""
        mesh = np.meshgrid(*(axis.points for axis in self.axes), indexing="ij")
        return np.stack([each.ravel() for each in mesh], axis=1)

    def located(self, points: FloatArray) -> tuple[OffsetArray, FloatArray]:
        """Return the lower corner of each point's cell and t, both (n, d)."""
        self._check(points)
        lower = np.empty(points.shape, np.int64)
        part = np.empty(points.shape)
        for i, axis in enumerate(self.axes):
            along = (points[:, i] - axis.first) / axis.spacing
            if axis.periodic:
                along = np.mod(along, axis.cells)
            else:
                along = np.clip(along, 0.0, axis.cells - 1.0)
            along = _snapped(along)
            cell = np.floor(along)
            part[:, i] = along - cell
            lower[:, i] = axis._wrapped(cell.astype(np.int64))
        return lower, part

    def beyond(self, points: FloatArray) -> FloatArray:
        """Return how far each point lies beyond the ends of each axis, (n, d)."""
        self._check(points)
        far: FloatArray = np.zeros(points.shape)
        for i, axis in enumerate(self.axes):
            if not axis.periodic:
                held = np.clip(points[:, i], axis.low, axis.high)
                far[:, i] = np.abs(points[:, i] - held)
        return far

    def corners(
        self, points: FloatArray, scheme: Interpolation
    ) -> tuple[OffsetArray, FloatArray]:
        """Return nodes (n, k) and weights (n, k) whose mean is each point."""
        return self.corners_of_cell(*self.located(points), scheme)

    def corners_of_cell(
        self, lower: OffsetArray, part: FloatArray, scheme: Interpolation
    ) -> tuple[OffsetArray, FloatArray]:
        """Return the same for points that are located already."""
        turns, weights = (
            _independent(part) if scheme is Interpolation.MULTILINEAR else _nested(part)
        )
        return self._numbered(lower[:, None, :] + turns), weights

    def nearest(self, points: FloatArray) -> OffsetArray:
        """Return the node nearest to each point, axis by axis, (n,)."""
        lower, part = self.located(points)
        return self._numbered(lower + (part >= 0.5))

    def drawn(
        self, points: FloatArray, scheme: Interpolation, uniforms: FloatArray
    ) -> OffsetArray:
        """Return one corner per point, at a quantile (n,) of its mixture."""
        nodes, weights = self.corners(points, scheme)
        reached = np.cumsum(weights, axis=1)
        passed = reached <= (uniforms * reached[:, -1])[:, None]
        return np.take_along_axis(nodes, passed.sum(axis=1)[:, None], axis=1)[:, 0]

    def law_of_uniform(self, box: tuple[tuple[float, float], ...]) -> FloatArray:
        """Return the mean mixture of a point drawn evenly from a box, (size,)."""
        law: FloatArray = np.ones(1)
        for axis, (low, high) in zip(self.axes, box, strict=True):
            law = np.multiply.outer(law, axis.law_of_uniform(low, high)).ravel()
        return law

    def nearest_of(self, kept: BoolArray) -> OffsetArray:
        """Return for every node the nearest of some nodes, distances in cells."""
        from scipy.spatial import cKDTree

        sizes = np.array(self.shape, np.float64)
        circles = np.where([axis.periodic for axis in self.axes], sizes, 0.0)
        place = np.stack(np.unravel_index(np.arange(self.size), self.shape), axis=1)
        found = np.arange(self.size)
        chosen = np.flatnonzero(kept)
        tree = cKDTree(place[chosen].astype(np.float64), boxsize=circles)
        _, at = tree.query(place[~kept].astype(np.float64))
        found[~kept] = chosen[at]
        return found

    def names(self) -> list[str]:
        """Return the coordinates of every node, such as `angle=0.103 speed=-2`."""
        parts = [
            [f"{axis.name}={text}" for text in _short(axis.points)]
            for axis in self.axes
        ]
        return [" ".join(each) for each in product(*parts)]

    def _numbered(self, at: OffsetArray) -> OffsetArray:
        """Return the node of coordinates (..., d), wrapped where the axis is."""
        node = np.zeros(at.shape[:-1], np.int64)
        for i, axis in enumerate(self.axes):
            node = node * axis.cells + axis._wrapped(at[..., i])
        return node

    def _check(self, points: FloatArray) -> None:
        if points.ndim != 2 or points.shape[1] != len(self.axes):
            raise InvalidArgument(
                f"points of shape {points.shape} on a grid of {len(self.axes)} axes",
                hint="give one row per point and one column per axis",
            )
        if not np.isfinite(points).all():
            at, i = (int(each) for each in np.argwhere(~np.isfinite(points))[0])
            raise InvalidArgument(
                f"{self.axes[i].name} of point {at} is {points[at, i]}",
                hint="the simulator left the numbers: check its parameters",
            )


def _independent(part: FloatArray) -> tuple[OffsetArray, FloatArray]:
    """Return the 2^d corners of a cell (1, k, d) and their weights (n, k)."""
    d = part.shape[1]
    turns = np.array(list(product((0, 1), repeat=d)), np.int64)
    weights: FloatArray = np.ones((part.shape[0], 1 << d))
    for i in range(d):
        up = part[:, i : i + 1]
        weights *= np.where(turns[None, :, i] == 1, up, 1.0 - up)
    return turns[None], weights


def _nested(part: FloatArray) -> tuple[OffsetArray, FloatArray]:
    """Return the d + 1 corners of Kuhn's simplex (n, k, d) and their weights (n, k)."""
    n, d = part.shape
    order = np.argsort(-part, axis=1, kind="stable")  # the greatest t goes up first
    rank = np.argsort(order, axis=1, kind="stable")
    turns = (rank[:, None, :] < np.arange(d + 1)[None, :, None]).astype(np.int64)
    falling = np.take_along_axis(part, order, axis=1)
    padded = np.concatenate([np.ones((n, 1)), falling, np.zeros((n, 1))], axis=1)
    return turns, padded[:, :-1] - padded[:, 1:]


def _snapped(along: FloatArray) -> FloatArray:
    whole = np.rint(along)
    near: FloatArray = np.where(np.abs(along - whole) <= SNAP, whole, along)
    return near


def _short(points: FloatArray) -> list[str]:
    """Return numbers with as few digits as tell them apart."""
    for digits in range(3, 17):
        texts = [f"{point + 0.0:.{digits}g}" for point in points]
        if len(set(texts)) == len(texts):
            return texts
    return [repr(float(point)) for point in points]
