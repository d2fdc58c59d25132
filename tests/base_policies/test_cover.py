"""Covers: cells hold what they claim; families that break their word are refused."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import numpy as np
import pytest

from simgap.base_policies.infinite.cover import (
    Cell,
    FamilyCover,
    cover_of_family,
    planned,
)
from simgap.base_policies.infinite.cover_confidence import (
    Played,
    evidence,
    own_price,
    plausible,
    price,
)
from simgap.base_policies.infinite.parametric_family import (
    Smoothness,
    estimated_smoothness,
)
from simgap.errors import InvalidModel
from simgap.instances import riverswim
from simgap.mdp import TabularMDP
from simgap.planning import solve_average_reward
from simgap.policies import Step
from tests.base_policies.covers import arm, arms, bends, bent, rivers
from tests.reference import cover as twin

COVERS = [arms(), rivers(), bends()]


def some_cells(cover: FamilyCover, rng: np.random.Generator, depth: int) -> list[Cell]:
    """Return the cells of one random way down the tree, plans here and there."""
    cells = [cover.roots[0]]
    for _ in range(depth):
        parent = cells[-1]
        if rng.random() < 0.5:
            parent = planned(parent, cover.support)
        halves = cover.halves(parent)
        assert halves is not None
        cells.append(halves[int(rng.integers(2))])
    return cells


def points_in(cell: Cell, rng: np.random.Generator, count: int) -> np.ndarray:
    low, high = np.array(cell.low), np.array(cell.high)
    return np.asarray(low + (high - low) * rng.random((count, low.size)))


@pytest.mark.parametrize("cover", COVERS)
def test_models_of_a_cell_are_within_its_radius_and_its_bound(
    cover: FamilyCover,
) -> None:
    rng = np.random.default_rng(0)
    for cell in some_cells(cover, rng, 7):
        bounds = [cell.gain_bound, planned(cell, cover.support).gain_bound]
        assert bounds[1] <= bounds[0] <= float(cover.rewards.max())
        for point in points_in(cell, rng, 6):
            theta = dict(zip(cover.names, point.tolist(), strict=True))
            model = cover.instantiate(theta)
            apart = np.abs(model.transitions.array(0) - cell.kernel).sum(axis=2).max()
            assert apart <= cell.radius + 1e-12
            assert float(solve_average_reward(model).gain_lower[0]) <= bounds[1]


def test_estimated_rates_are_labelled_and_not_far_off() -> None:
    found = estimated_smoothness(arm, {"mean": (0.0, 1.0)}, margin=1.0, pairs=5)
    assert found.rates["mean"] == pytest.approx(2.0)
    assert not found.proved
    curved = estimated_smoothness(bent, {"x": (0.3, 2.9)}, margin=1.0)
    assert 1.5 <= curved.rates["x"] <= 2.0 + 1e-9
    assert cover_of_family(bent, {"x": (0.3, 2.9)}, curved).proved is False


def test_rates_that_are_too_small_are_found_out() -> None:
    wrong = Smoothness({"mean": 1.5}, proved=True)
    cover = cover_of_family(arm, {"mean": (0.1, 0.9)}, wrong)
    with pytest.raises(InvalidModel, match=r"at mean=0.5 and mean=0.3 are 0.4 apart"):
        cover.halves(cover.roots[0])


def test_families_that_change_more_than_kernels_are_refused() -> None:
    def richer(theta: Mapping[str, float]) -> TabularMDP:
        return riverswim(4, 0.3, left_reward=theta["x"], uniform=True)[0]

    cover = cover_of_family(richer, {"x": (0.1, 0.5)}, Smoothness({"x": 0.0}, True))
    with pytest.raises(InvalidModel, match="other rewards"):
        cover.halves(cover.roots[0])

    def closing(theta: Mapping[str, float]) -> TabularMDP:
        return arm({"mean": max(0.0, theta["x"])})

    box, rate = {"x": (-1.0, 1.0)}, Smoothness({"x": 2.0}, True)
    with pytest.raises(InvalidModel, match="other successors"):
        tight = cover_of_family(closing, box, rate, same_support=True)
        tight.halves(tight.roots[0])
    loose = cover_of_family(closing, box, rate)
    assert loose.halves(loose.roots[0]) is not None


def test_boxes_and_rates_that_mean_nothing_are_refused() -> None:
    rate = Smoothness({"mean": 2.0}, True)
    with pytest.raises(InvalidModel, match="no parameters"):
        cover_of_family(arm, {}, Smoothness({}, True))
    with pytest.raises(InvalidModel, match="ranges over"):
        cover_of_family(arm, {"mean": (0.9, 0.1)}, rate)
    with pytest.raises(InvalidModel, match="ranges over"):
        cover_of_family(arm, {"mean": (0.1, np.inf)}, rate)
    with pytest.raises(InvalidModel, match="one rate per parameter"):
        cover_of_family(arm, {"mean": (0.1, 0.9), "other": (0.0, 1.0)}, rate)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(InvalidModel, match="the rate of parameter"):
            Smoothness({"mean": wrong}, True)
    with pytest.raises(InvalidModel, match="TabularMDP"):
        cover_of_family(lambda theta: 3, {"mean": (0.1, 0.9)}, rate)  # type: ignore[arg-type, return-value]


def episodes(
    cover: FamilyCover, rng: np.random.Generator, model: TabularMDP, count: int
) -> tuple[list[Played], list[twin.Sample]]:
    """Return random steps of a model under random policies, in two forms."""
    kernel = model.transitions.array(0)
    n_states, n_actions = model.n_states, model.n_actions
    played, samples = [], []
    for _ in range(count):
        policy = rng.integers(0, n_actions, n_states)
        bias = rng.random(n_states) * 3.0
        counts = np.zeros((n_states, n_states), int)
        for h in range(int(rng.integers(1, 40))):
            s = int(rng.integers(n_states))
            a = int(policy[s])
            after = int(rng.choice(n_states, p=kernel[s, a]))
            row = bias[cover.support[s, a]]
            if row.max() - row.min() > 1e-6:  # a certain step tells nothing
                counts[s, after] += 1
                samples.append(twin.Sample(Step(h, s, a, after), bias))
        played.append(
            Played(
                tuple(policy.tolist()),
                tuple(bias.tolist()),
                tuple(tuple(row) for row in counts.tolist()),
            )
        )
    return played, samples


@pytest.mark.parametrize("seed", range(4))
def test_data_leave_the_cells_that_the_definition_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cover = COVERS[seed % 3]
    cells = some_cells(cover, rng, 5)
    for _ in range(3):
        halves = [cover.halves(cell) for cell in cells[-4:]]
        cells += [half for both in halves if both for half in both]
    model = cells[int(rng.integers(len(cells)))].model
    played, samples = episodes(cover, rng, model, 3 + 10 * seed)
    data = evidence(played, cover.support, least_width=1e-6)
    predicted = data.predictions(cells)
    seen = plausible(cells, predicted, data, horizon=50, roots=1)
    loss = twin.losses(cells, samples, cover.support)
    assert seen.fit == int(np.argmin(loss))
    assert seen.excess == pytest.approx(np.array(loss) - min(loss), abs=1e-8)
    best = cells[seen.fit].kernel
    apart = [
        twin.square_distance(cell.kernel, best, samples, cover.support)
        for cell in cells
    ]
    assert seen.distance == pytest.approx(apart, abs=1e-8)
    assert seen.alive.tolist() == twin.alive(cells, samples, cover.support, 50, 1)
    assert seen.alive[seen.fit]
    both = [twin.limits(c, cells[seen.fit], len(samples), 50, 1) for c in cells]
    assert seen.limit == pytest.approx([beta for beta, _ in both])
    assert seen.excess_limit == pytest.approx([most for _, most in both])


def test_prices_of_a_whole_tree_add_up_to_less_than_one_in_h() -> None:
    horizon, roots = 7, 3
    every = sum(
        np.exp(log(roots) + j * log(2.0) - price(j, horizon, roots))
        for j in range(2000)
    )
    own = sum(np.exp(-own_price(j, horizon)) for j in range(2000))
    assert every + own <= 1.0 / horizon
    assert every + own == pytest.approx(1.0 / horizon, rel=1e-2)
    assert price(0, horizon, 1) == pytest.approx(log(2.0 * horizon * 2.0))


def left_out(rng: np.random.Generator, level: list[Cell], shrink: float) -> bool:
    """Return whether the real cell is ever left out, with limits shrunk.

    One arm, bias (0, 1), 300 pulls; cells of one depth on both sides of the truth.
    """
    cover, mean = COVERS[0], 0.5
    real = next(b for b, c in enumerate(level) if c.low[0] <= mean < c.high[0])
    wins = 0
    for pulls in range(20, 301, 20):
        wins += int(rng.binomial(20, mean))
        counts = ((pulls - wins, wins), (0, 0))
        data = evidence(
            [Played((1, 1), (0.0, 1.0), counts)], cover.support, least_width=1e-6
        )
        seen = plausible(level, data.predictions(level), data, horizon=5, roots=1)
        far = seen.distance[real] > shrink * seen.limit[real]
        if far or seen.excess[real] > shrink * seen.excess_limit[real]:
            return True
    return False


def test_the_real_cell_stays_at_the_stated_level() -> None:
    """At most 1 run in 5 for H = 5; a fiftieth of the limits must fail."""
    rng = np.random.default_rng(5)
    runs, cover = 60, COVERS[0]
    level = [cover.roots[0]]
    for _ in range(5):
        level = [half for cell in level for half in cover.halves(cell) or ()]
    slack = float(np.sqrt(np.log(1e6) / (2.0 * runs)))
    assert sum(left_out(rng, level, 1.0) for _ in range(runs)) / runs <= 0.2 + slack
    assert sum(left_out(rng, level, 0.02) for _ in range(runs)) / runs > 0.2 + slack
