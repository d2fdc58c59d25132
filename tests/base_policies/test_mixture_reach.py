"""Exact maxima over a confidence set are attained, and no member goes further."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import (
    ConfidenceSet,
    confidence_set,
    single_member,
)
from simgap.base_policies.infinite.mixture_reach import exact_reach
from tests.base_policies.mixtures import grid, random_ball, random_mixture


def some_sets(seed: int) -> list[tuple[MixtureClass, ConfidenceSet]]:
    """Return thin and round ellipsoids around fits inside and on the rim."""
    rng = np.random.default_rng(seed)
    out = []
    for mixture in (
        random_ball(rng, axes=2),
        random_mixture(rng, members=3),
        random_mixture(rng, members=5, states=4),
    ):
        r = mixture.dimension
        for size in (0.3, 3.0, 30.0):
            root = size * rng.normal(size=(r, r)) * rng.random(r)
            gram = root @ root.T
            truth = mixture.region.nearest(rng.normal(size=r), np.eye(r))
            found = confidence_set(
                mixture.region, gram, gram @ truth, ridge=0.5, failure=0.01
            )
            out.append((mixture, found))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_the_maximum_is_attained_by_a_member_of_the_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for mixture, members in some_sets(seed):
        ways = rng.normal(size=(15, mixture.dimension))
        bounds, points = exact_reach(members, ways)
        values = (ways * points).sum(axis=1)
        assert (values <= bounds + 1e-13).all()
        assert values == pytest.approx(bounds, abs=1e-9)
        for u in points:
            assert members.contains(u, slack=1e-8)
            near = mixture.region.nearest(u, np.eye(mixture.dimension))
            assert near == pytest.approx(u, abs=1e-8)
        assert (bounds <= members.reach(ways) + 1e-15).all()
        if mixture.dimension == 2:
            inside = [u for u in grid(mixture, 21) if members.contains(u)]
            if inside:
                assert ((ways @ np.array(inside).T).max(axis=1) <= bounds + 1e-9).all()


def test_whole_classes_and_single_members_need_no_search() -> None:
    rng = np.random.default_rng(0)
    mixture = random_mixture(rng, members=4)
    ways = rng.normal(size=(5, mixture.dimension))
    u = mixture.region.nearest(rng.normal(size=mixture.dimension), np.eye(3))
    alone = single_member(mixture.region, u)
    assert exact_reach(alone, ways)[0] == pytest.approx(ways @ u, abs=1e-12)
    nothing = np.zeros((3, 3))
    whole = confidence_set(
        mixture.region, nothing, np.zeros(3), ridge=0.5, failure=0.01
    )
    assert exact_reach(whole, ways)[0] == pytest.approx(mixture.region.reach(ways))
    assert exact_reach(whole, 0.0 * ways)[0] == pytest.approx(np.zeros(5))
