"""Shares of the variance: published numbers, closed forms, coverage and a control."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from simgap.arrays import FloatArray
from simgap.continuous.measuring.drawn import Drawn
from simgap.continuous.measuring.polynomials import axis_of
from simgap.continuous.measuring.shares import variance_shares
from simgap.continuous.measuring.surrogate import Surrogate, fitted
from simgap.records.transfer import VarianceShare
from tests.continuous.measuring.coverage import Coverage, holds
from tests.continuous.measuring.surfaces import drawn_points, noise, random_surface


def even(points: int) -> FloatArray:
    return np.full(points, 1.0 / points)


def by_name(found: tuple[VarianceShare, ...]) -> dict[str, VarianceShare]:
    return {each.name: each for each in found}


def test_ishigami_has_its_published_shares() -> None:
    """Saltelli et al. 2008, a = 7, b = 0.1: 0.3139, 0.4424, 0; totals 0.5576, ..."""
    u = qmc.Sobol(3, rng=np.random.default_rng(1)).random(256)
    x = np.pi * (2.0 * u - 1.0)
    loss = np.sin(x[:, 0]) * (1.0 + 0.1 * x[:, 2] ** 4) + 7.0 * np.sin(x[:, 1]) ** 2
    found = fitted(x, loss, np.zeros(256), uniforms=u, weights=even(256))
    alone, pairs = variance_shares(found, ("x1", "x2", "x3"), 0.95)
    shares = by_name(alone)
    for name, first, total in (
        ("x1", 0.3139, 0.5576),
        ("x2", 0.4424, 0.4424),
        ("x3", 0.0, 0.2437),
    ):
        each = shares[name]
        assert each.total is not None
        assert holds(each.share, first)
        assert each.share.estimate == pytest.approx(first, abs=0.02)
        assert holds(each.total, total)
        assert each.total.estimate == pytest.approx(total, abs=0.02)
    assert pairs[0].name == "x1 x x3"
    assert holds(pairs[0].share, 0.2437)
    assert [each.name for each in alone] == ["x2", "x1", "x3"]


def test_a_choice_of_three_values_is_no_slope() -> None:
    """Loss 0, 1, 0 at three values: everything belongs to the choice."""
    rng = np.random.default_rng(0)
    theta = np.stack([rng.integers(3, size=60), rng.random(60)], axis=1).astype(float)
    loss = (theta[:, 0] == 1.0) + 0.01 * rng.normal(size=60)
    found = fitted(theta, loss, np.full(60, 1e-4), weights=even(60))
    shares = by_name(variance_shares(found, ("kind", "size"), 0.95)[0])
    assert shares["kind"].share.lower > 0.95
    assert shares["size"].share.upper < 0.05


def test_polynomials_are_orthonormal_over_a_choice_and_over_a_range() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.choice([-1.0, 0.5, 2.0, 7.0], 40)
    axis = axis_of(kinds, None, even(40))
    assert axis.degree == 3
    assert axis.at(kinds).T @ axis.at(kinds) / 40 == pytest.approx(np.eye(4))
    u = (np.arange(4000) + 0.5) / 4000
    smooth = axis_of(np.exp(u), u, even(4000))
    table = smooth.at(np.exp(u))
    assert table.T @ table / 4000 == pytest.approx(np.eye(smooth.degree + 1), abs=1e-3)


BENT = (1, 2)  # shapes that go up and down


def one_surface(seed: int, drawn: Drawn, points: int, found: Coverage) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    surface = random_surface(rng, size)
    u, theta, design = drawn_points(rng, drawn, surface, points)
    episodes = int(rng.choice([4, 16]))
    loud = float(rng.choice([0.1, 1.0]))
    values = surface.at(u)[:, None] + loud * noise(rng, (points, episodes), 0)
    known = np.full(points, values.var(axis=1, ddof=1).mean() / episodes)
    fit: Surrogate = fitted(
        theta,
        values.mean(axis=1),
        known,
        uniforms=design.uniforms,
        weights=even(points),
        resampled=drawn is Drawn.INDEPENDENT,
    )
    names = tuple(str(j) for j in range(size))
    alone, pairs = variance_shares(fit, names, 0.95)
    for each in alone:
        j = int(each.name)
        assert each.total is not None
        found.add("first", holds(each.share, surface.share(j)))
        found.add("total", holds(each.total, surface.total(j)))
        found.add("width", each.share.upper - each.share.lower < 0.5)
        if surface.shapes[j] in BENT and surface.share(j) > 0.2:
            straight = np.corrcoef(theta[:, j], values.mean(axis=1))[0, 1] ** 2
            found.add("straight lines", abs(straight - surface.share(j)) < 0.1)
    for each in pairs:
        j, k = map(int, each.name.split(" x "))
        found.add("pair", holds(each.share, surface.pair(j, k)))


@pytest.mark.parametrize("drawn", [Drawn.SCRAMBLED, Drawn.INDEPENDENT])
def test_shares_hold_as_often_as_they_say(drawn: Drawn) -> None:
    """The control are squared correlations, which only see straight lines."""
    found = Coverage()
    for seed in range(30):
        one_surface(seed, drawn, 64, found)
    found.check("first", "total", "pair")
    found.fails("straight lines")
    assert np.mean(found.held["width"]) > 0.9  # and say something


@pytest.mark.slow
@pytest.mark.parametrize("points", [32, 64, 128])
@pytest.mark.parametrize("drawn", [Drawn.SCRAMBLED, Drawn.INDEPENDENT])
def test_shares_hold_on_three_hundred_surfaces(drawn: Drawn, points: int) -> None:
    found = Coverage()
    for seed in range(300):
        one_surface(seed, drawn, points, found)
    found.check("first", "total", "pair")
    found.fails("straight lines")


def test_uniforms_of_a_group_are_not_taken_for_those_of_one_parameter() -> None:
    """Theta made of two uniforms: its own place in nu is not either of them."""
    rng = np.random.default_rng(0)
    u = rng.random((64, 2))
    theta = np.stack([u[:, 0] + u[:, 1], u[:, 1]], axis=1)
    mixed = axis_of(theta[:, 0], u[:, 0], even(64))
    alone = axis_of(theta[:, 0], None, even(64))
    assert mixed.at(theta[:, 0]) == pytest.approx(alone.at(theta[:, 0]))
    table = mixed.at(theta[:, 0])
    assert table.T @ table / 64 == pytest.approx(np.eye(mixed.degree + 1), abs=1e-8)
