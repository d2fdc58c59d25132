"""Least squares, its set and its score, against exact sums and enumeration."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import (
    ConfidenceSet,
    confidence_set,
    score,
    square_radius,
)
from simgap.base_policies.infinite.mixture_region import Hull
from tests.base_policies.mixtures import grid, random_ball, random_mixture, second_arm
from tests.reference import mixture as twin

RIDGE, FAILURE = 0.5, 0.01


def classes(seed: int) -> list[MixtureClass]:
    rng = np.random.default_rng(seed)
    return [
        random_ball(rng, axes=2),
        random_mixture(rng, members=3),
        random_mixture(rng, members=4, states=2, actions=1),
    ]


def samples(
    mixture: MixtureClass, rng: np.random.Generator, count: int
) -> list[tuple[list[float], float]]:
    """Features of random biases, answers of a random member with noise of width 1."""
    theta = mixture.region.nearest(rng.normal(size=mixture.dimension), _eye(mixture))
    out = []
    for _ in range(count):
        bias = rng.integers(0, 2, mixture.n_states).astype(float)
        s, a = rng.integers(mixture.n_states), rng.integers(mixture.n_actions)
        x = mixture.directions[:, s, a] @ bias
        mean = float(mixture.kernel(theta)[s, a] @ bias)
        won = float(rng.random() < mean)
        out.append((x.tolist(), won - float(mixture.centre[s, a] @ bias)))
    return out


def collected(data: list[tuple[list[float], float]]) -> tuple[FloatArray, FloatArray]:
    x, y = np.array([x for x, _ in data]), np.array([y for _, y in data])
    return x.T @ x, x.T @ y


def set_of(
    mixture: MixtureClass, data: list[tuple[list[float], float]]
) -> ConfidenceSet:
    gram, moment = collected(data)
    return confidence_set(mixture.region, gram, moment, ridge=RIDGE, failure=FAILURE)


def _eye(mixture: MixtureClass) -> FloatArray:
    return np.eye(mixture.dimension)


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_regularised_least_squares_over_the_class(seed: int) -> None:
    """No member on a fine grid has a smaller sum of squares, sample by sample."""
    rng = np.random.default_rng(seed)
    for mixture in classes(seed):
        data = samples(mixture, rng, 1 + 30 * seed)
        members = set_of(mixture, data)
        x, y = np.array([x for x, _ in data]), np.array([y for _, y in data])
        every = np.vstack([members.fit, grid(mixture, 41)])
        losses = ((every @ x.T - y) ** 2).sum(axis=1) + RIDGE * (every**2).sum(axis=1)
        assert losses[0] <= losses.min() + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_set_holds_exactly_what_the_theorem_says_or_more(seed: int) -> None:
    """Members within log det / 4 + log(1/p) / 2 + ridge of the free estimate."""
    rng = np.random.default_rng(seed)
    for mixture in classes(seed):
        data = samples(mixture, rng, 20 + 40 * seed)
        members = set_of(mixture, data)
        radius = log(twin.volume(data, RIDGE)) / 4.0 + log(1.0 / FAILURE) / 2.0 + RIDGE
        assert square_radius(
            members.metric, ridge=RIDGE, failure=FAILURE
        ) == pytest.approx(radius, rel=1e-12)
        every = grid(mixture, 9)
        distances = twin.square_distances(data, RIDGE, every)
        for u, distance in zip(every, distances, strict=True):
            if float(distance) <= radius:
                assert members.contains(u)


@pytest.mark.parametrize("seed", range(4))
def test_reach_bounds_the_set_and_is_the_lesser_of_two_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for mixture in classes(seed):
        data = samples(mixture, rng, 100 * (seed + 1))
        members = set_of(mixture, data)
        ways = rng.normal(size=(40, mixture.dimension))
        reach, points = members.reach(ways), members.farthest(ways)
        inside = [u for u in grid(mixture, 25) if members.contains(u)]
        assert inside
        assert ((ways @ np.array(inside).T).max(axis=1) <= reach + 1e-6).all()
        assert (reach <= mixture.region.reach(ways) + 1e-12).all()
        assert (ways * points).sum(axis=1) == pytest.approx(reach, abs=1e-9)


def test_data_of_no_member_refute_the_class() -> None:
    """The set is then the whole class: the bad event of probability `failure`."""
    mixture = second_arm()
    x = mixture.directions[:, 0, 1] @ np.array([0.0, 1.0])
    data = [(x.tolist(), 3.0)] * 400
    members = set_of(mixture, data)
    assert members.refuted
    assert members.contains(-members.fit)
    honest = set_of(mixture, [(x.tolist(), 0.1)] * 400)
    assert not honest.refuted


@pytest.mark.parametrize("seed", range(6))
def test_on_a_ball_the_score_is_the_papers_test(seed: int) -> None:
    """Errata E20 and theory 2.13: all pairs of a fine grid against one eigenvalue.

    Data are scaled so that the eigenvalue is a little below and a little above 1.
    """
    rng = np.random.default_rng(seed)
    mixture = random_ball(rng, axes=2)
    angle = np.linspace(0.0, np.pi, 400, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    old = rng.normal(size=(seed * 5, 2)) * 0.3
    fresh = rng.normal(size=(7, 2)) * [0.5, 0.1]
    metric = RIDGE * np.eye(2) + old.T @ old
    unit = score(fresh.T @ fresh, metric)
    for target in (0.99, 1.01):
        scaled = fresh * sqrt(target / unit)
        assert score(scaled.T @ scaled, metric) == pytest.approx(target)
        pairs = np.vstack([rim, -rim])
        papers = twin.paper_score(pairs, scaled, old, 4.0 * RIDGE)
        assert (papers >= 1.0) == (target >= 1.0)
        assert mixture.region.reach(rim) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(6))
def test_on_a_hull_the_score_comes_no_later_and_not_much_sooner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mixture = random_mixture(rng, members=3 + seed % 2, states=2, actions=1)
    assert isinstance(mixture.region, Hull)
    r, q = mixture.dimension, mixture.region.elongation
    members = np.vstack([grid(mixture, 13), mixture.region.corners])
    old = rng.normal(size=(seed * 4, r)) * 0.3
    fresh = rng.normal(size=(7, r)) * 0.3
    metric = RIDGE * np.eye(r) + old.T @ old
    for size in np.linspace(0.2, 6.0, 12):
        scaled = size * fresh
        here = score(scaled.T @ scaled, metric)
        if twin.paper_score(members, scaled, old, 4.0 * RIDGE) >= 1.0:
            assert here >= 1.0
        if here >= 1.05:  # the grid misses a little of the widest pair
            smaller = 4.0 * RIDGE / (r * q * q) ** 2
            assert twin.paper_score(members, scaled, old, smaller) >= 1.0


def test_at_a_switch_the_determinant_has_doubled() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        r = int(rng.integers(1, 5))
        root, fresh = rng.normal(size=(2, r, r)) * rng.random((2, 1, 1))
        metric = RIDGE * np.eye(r) + root @ root.T
        new = fresh @ fresh.T
        if score(new, metric) >= 1.0:
            ratio = np.linalg.det(metric + new) / np.linalg.det(metric)
            assert ratio >= 2.0 - 1e-9
        else:
            assert np.linalg.eigvalsh(2.0 * metric - metric - new).min() > -1e-9


def left_the_set(
    mixture: MixtureClass, rng: np.random.Generator, steps: int, shrink: float
) -> bool:
    """Return whether the truth was ever outside a set whose radius is shrunk.

    Features depend on what was seen: the agent looks where it was last surprised.
    """
    truth = mixture.region.nearest(
        0.4 * rng.normal(size=mixture.dimension), _eye(mixture)
    )
    kernel, gram, moment = mixture.kernel(truth), 0.0 * _eye(mixture), 0.0
    surprise, bias = 0.0, np.zeros(mixture.n_states)
    for t in range(steps):
        bias[:] = 0.0
        bias[t % mixture.n_states if surprise > 0.0 else -1] = 1.0
        s, a = t % mixture.n_states, (t // 2) % mixture.n_actions
        x = mixture.directions[:, s, a] @ bias
        surprise = float(rng.random() < kernel[s, a] @ bias) - kernel[s, a] @ bias
        gram = gram + np.outer(x, x)
        moment = moment + x * (surprise + float(x @ truth))
        if t % 10 == 9:
            members = confidence_set(
                mixture.region, gram, np.asarray(moment), ridge=RIDGE, failure=0.1
            )
            kept = replace(members, square_radius=shrink * members.square_radius)
            if not kept.contains(truth, slack=0.0):
                return True
    return False


def test_the_truth_stays_in_the_set_at_the_stated_level() -> None:
    """At most 1 run in 10 ever leaves, at all times at once; a tenth of beta fails.

    The allowance is Hoeffding's for 200 runs at 1e-6.
    """
    rng = np.random.default_rng(11)
    mixture = second_arm()
    runs = 200
    slack = sqrt(log(1e6) / (2.0 * runs))
    left = sum(left_the_set(mixture, rng, 200, 1.0) for _ in range(runs)) / runs
    assert left <= 0.1 + slack
    control = sum(left_the_set(mixture, rng, 200, 0.1) for _ in range(runs)) / runs
    assert control > 0.1 + slack
