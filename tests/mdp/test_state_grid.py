"""Grids over continuous states, and points as mixtures of their nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import pi

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.mdp import (
    Axis,
    Interpolation,
    StateGrid,
)
from tests.strategies import STEADY

CIRCLE = Axis("angle", -pi, pi, 9, periodic=True)
LINE = Axis("speed", -2.0, 3.0, 6)
GRIDS = (
    StateGrid((LINE,)),
    StateGrid((CIRCLE,)),
    StateGrid((CIRCLE, LINE)),
    StateGrid((LINE, replace(CIRCLE, cells=4), Axis("z", 0.0, 1.0, 2))),
)


def offsets(grid: StateGrid, nodes: OffsetArray, points: FloatArray) -> FloatArray:
    """Return node - point along each axis, the short way around circles."""
    away: FloatArray = grid.points[nodes] - points
    for i, axis in enumerate(grid.axes):
        if axis.periodic:
            turn = axis.high - axis.low
            away[..., i] -= turn * np.round(away[..., i] / turn)
    return away


@pytest.mark.parametrize("scheme", Interpolation)
@pytest.mark.parametrize("grid", GRIDS)
@STEADY
@given(seed=st.integers(0, 10**6))
def test_corners_are_a_law_with_the_point_as_mean_and_the_stated_variance(
    grid: StateGrid, scheme: Interpolation, seed: int
) -> None:
    random = np.random.default_rng(seed)
    low, high = ([getattr(a, end) for a in grid.axes] for end in ("low", "high"))
    points = random.uniform(low, high, (20, len(grid.axes)))
    nodes, weights = grid.corners(points, scheme)
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    away = offsets(grid, nodes, points[:, None, :])
    mean = (weights[:, :, None] * away).sum(axis=1)
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    _, part = grid.located(points)
    variance = (weights[:, :, None] * away**2).sum(axis=1)
    expected = part * (1.0 - part) * grid.spacing**2
    np.testing.assert_allclose(variance, expected, atol=1e-12)
    assert (variance <= grid.spacing**2 / 4 + 1e-12).all()
    corners = (
        2 ** len(grid.axes)
        if scheme is Interpolation.MULTILINEAR
        else 1 + len(grid.axes)
    )
    assert nodes.shape[1] == corners


@pytest.mark.parametrize("scheme", Interpolation)
@pytest.mark.parametrize("grid", GRIDS)
def test_a_node_is_a_mixture_of_itself_alone(
    grid: StateGrid, scheme: Interpolation
) -> None:
    random = np.random.default_rng(0)
    shaken = grid.points + grid.spacing * random.uniform(
        -9e-10, 9e-10, grid.points.shape
    )
    turns = [axis.high - axis.low if axis.periodic else 0.0 for axis in grid.axes]
    for points in (grid.points, shaken, shaken + turns, shaken - 3 * np.array(turns)):
        nodes, weights = grid.corners(points, scheme)
        held = np.zeros((grid.size, grid.size))
        np.add.at(held, (np.arange(grid.size)[:, None], nodes), weights)
        np.testing.assert_array_equal(held, np.eye(grid.size))
        np.testing.assert_array_equal(grid.nearest(points), np.arange(grid.size))


def test_kuhns_simplex_rounds_all_axes_by_one_number() -> None:
    """Axis i goes up if u < t_i: weights are differences of the sorted t."""
    unit = StateGrid(tuple(Axis(name, 0.0, 1.0, 2) for name in "xyz"))
    nodes, weights = unit.corners(np.array([[0.2, 0.7, 0.5]]), Interpolation.SIMPLEX)
    named = {
        tuple(unit.points[n]): w for n, w in zip(nodes[0], weights[0], strict=True)
    }
    expected = {(0, 0, 0): 0.3, (0, 1, 0): 0.2, (0, 1, 1): 0.3, (1, 1, 1): 0.2}
    assert named == pytest.approx(expected)


@pytest.mark.parametrize(("low", "high", "cells"), [(-pi, pi, 7), (0.0, 1.0, 4)])
def test_the_middle_of_a_circle_is_a_node_and_the_seam_has_no_double(
    low: float, high: float, cells: int
) -> None:
    axis = Axis("angle", low, high, cells, periodic=True)
    assert 0.5 * (low + high) in axis.points
    turns = np.exp(2j * pi * axis.points / (high - low))
    closest = np.abs(turns[:, None] - turns + np.eye(cells)).min()
    assert closest > 1.0 / cells
    between = 0.5 * (axis.points[-1] + axis.points[0] + high - low)
    for around in (-2, 0, 1):
        seam = np.array([[between + around * (high - low)]])
        nodes, weights = StateGrid((axis,)).corners(seam, Interpolation.MULTILINEAR)
        assert sorted(nodes[0].tolist()) == [0, cells - 1]
        np.testing.assert_allclose(weights[0], 0.5, atol=1e-12)


def test_beyond_the_ends_a_point_is_the_end_and_is_measured() -> None:
    grid = StateGrid((CIRCLE, LINE))
    points = np.array([[7.0, 3.5], [-9.0, -2.0], [0.0, -4.0]])
    nodes, weights = grid.corners(points, Interpolation.MULTILINEAR)
    for at, speed in enumerate((3.0, -2.0, -2.0)):
        used = weights[at] > 0.0
        assert (grid.points[nodes[at][used], 1] == speed).all()
    np.testing.assert_allclose(grid.beyond(points)[:, 1], [0.5, 0.0, 2.0])
    assert (grid.beyond(points)[:, 0] == 0.0).all()


@pytest.mark.parametrize(
    ("axis", "low", "high"),
    [
        (LINE, -1.7, 2.9),
        (LINE, 0.3, 0.45),
        (LINE, -2.0, 3.0),
        (CIRCLE, -pi, pi),
        (CIRCLE, 2.0, 4.5),
        (CIRCLE, -20.0, 1.0),
        (LINE, 0.3, 0.3),
    ],
)
def test_the_law_of_an_even_start_is_the_mean_of_its_mixtures(
    axis: Axis, low: float, high: float
) -> None:
    """The midpoint rule is exact on pieces of a linear function: cuts at the nodes."""
    first, last = ((end - axis.first) / axis.spacing for end in (low, high))
    cuts = np.unique([first, *np.arange(np.ceil(first), last), last])
    middle = 0.5 * (cuts[1:] + cuts[:-1]) if len(cuts) > 1 else cuts
    length = np.diff(cuts) if len(cuts) > 1 else np.ones(1)
    points = axis.first + middle[:, None] * axis.spacing
    nodes, weights = StateGrid((axis,)).corners(points, Interpolation.MULTILINEAR)
    expected = np.zeros(axis.cells)
    np.add.at(expected, nodes, weights * length[:, None] / length.sum())
    np.testing.assert_allclose(axis.law_of_uniform(low, high), expected, atol=1e-13)


def test_an_even_start_all_around_a_circle_is_even_on_its_nodes() -> None:
    law = StateGrid((CIRCLE, LINE)).law_of_uniform(((-pi, pi), (1.0, 1.0)))
    assert law.reshape(9, 6)[:, 3] == pytest.approx(np.full(9, 1 / 9))
    assert law.sum() == pytest.approx(1.0)
    with pytest.raises(InvalidArgument, match="cannot start in"):
        LINE.law_of_uniform(0.0, 3.1)


@pytest.mark.parametrize("scheme", Interpolation)
def test_drawn_corners_come_as_often_as_their_weights_say(
    scheme: Interpolation,
) -> None:
    grid, n = StateGrid((CIRCLE, LINE)), 4_000
    point = np.array([[3.05, -0.3]])
    nodes, weights = grid.corners(point, scheme)
    uniforms = (np.arange(n) + 0.5) / n
    drawn = grid.drawn(np.repeat(point, n, axis=0), scheme, uniforms)
    for node, weight in zip(nodes[0], weights[0], strict=True):
        assert (drawn == node).mean() == pytest.approx(weight, abs=2 / n)
    sure = grid.drawn(grid.points, scheme, np.full(grid.size, 1.0 - 2.0**-53))
    np.testing.assert_array_equal(sure, np.arange(grid.size))


def test_the_nearest_kept_node_is_found_around_circles() -> None:
    grid = StateGrid((CIRCLE, LINE))
    kept = np.random.default_rng(3).random(grid.size) < 0.15
    found = grid.nearest_of(kept)
    place = np.array(list(product(range(9), range(6))))
    for node in range(grid.size):
        away = np.abs(place[node] - place[kept])
        away[:, 0] = np.minimum(away[:, 0], 9 - away[:, 0])
        least = (away**2).sum(axis=1).min()
        apart = np.abs(place[node] - place[found[node]])
        apart[0] = min(apart[0], 9 - apart[0])
        assert kept[found[node]]
        assert (apart**2).sum() == least
