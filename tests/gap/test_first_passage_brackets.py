"""The gap of Algorithm 3: what is dropped, limited or refused stays in the bracket."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from simgap.errors import InvalidArgument, NotSolved
from simgap.gap.first_passage import EliminationTests, OptimisticGap, first_passage_gap
from simgap.instances import bandit, cycle, riverswim
from simgap.mdp import TabularMDP
from simgap.planning import (
    solve_average_reward,
)
from tests.gap.first_passage_cases import RIVERS, ends, middle, sharp

# Brackets


def assert_overlap(one: OptimisticGap, two: OptimisticGap) -> None:
    for a, b in [
        (one.gap, two.gap),
        (one.regret, two.regret),
        (one.eliminations, two.eliminations),
        *zip(one.eliminated, two.eliminated, strict=True),
        *zip(one.steps, two.steps, strict=True),
    ]:
        assert max(ends(a)[0], ends(b)[0]) <= min(ends(a)[1], ends(b)[1])


@pytest.mark.parametrize("prune", [1e-4, 1e-8, 1e-14])
def test_what_is_dropped_widens_the_bracket_and_stays_inside(prune: float) -> None:
    plan, horizon = solve_average_reward(RIVERS), 300
    tests = sharp(plan, horizon, 0.1)
    fine = first_passage_gap(RIVERS[0], plan, tests, horizon)
    coarse = first_passage_gap(RIVERS[0], plan, tests, horizon, prune=prune)
    assert_overlap(fine, coarse)
    assert ends(coarse.gap)[0] <= middle(fine.gap) <= ends(coarse.gap)[1]
    assert coarse.lost > fine.lost
    width = ends(coarse.gap)[1] - ends(coarse.gap)[0]
    assert coarse.lost * 1.0 < width < 2.0 * horizon * coarse.lost + 1e-9


def test_work_that_runs_out_leaves_a_bracket() -> None:
    plan, horizon = solve_average_reward(RIVERS), 3000
    tests = sharp(plan, horizon, 0.1)
    whole = first_passage_gap(RIVERS[0], plan, tests, horizon)
    with pytest.raises(NotSolved, match="not enough") as stopped:
        first_passage_gap(RIVERS[0], plan, tests, horizon, most_work=100_000)
    partial = stopped.value.result
    assert isinstance(partial, OptimisticGap)
    assert_overlap(whole, partial)
    assert partial.lost > 0.01


def test_a_statistic_that_meets_its_threshold_is_told_apart_by_the_tolerance() -> None:
    """A coin's first step is +- 1/2: with threshold 1/2 rounding would decide."""
    coin = bandit((0.5,))
    plan = solve_average_reward(coin)
    half = np.full((1, 1), 0.5)
    unsure = first_passage_gap(coin[0], plan, EliminationTests(half, np.zeros(1)), 1)
    assert ends(unsure.eliminated[0]) == pytest.approx((0.0, 1.0), abs=1e-8)
    kept = first_passage_gap(coin[0], plan, EliminationTests(half, np.full(1, 1e-9)), 1)
    assert ends(kept.eliminated[0])[1] == 0.0


def test_a_bias_that_never_changes_needs_the_tolerance() -> None:
    """One state: sp(l) = 0, the threshold is 0 and so is the statistic (theory 3.2)."""
    one = cycle(1)
    plan = solve_average_reward(one)
    found = first_passage_gap(one[0], plan, sharp(plan, 500), 500)
    assert ends(found.eliminated[0])[1] == 0.0
    assert ends(found.gap)[1] <= 1e-9


def test_three_rewards_on_no_lattice_are_refused_with_their_numbers() -> None:
    river = riverswim(3, 0.35)[0]
    rewards = np.array([[0.0, 0.0], [0.0, 0.5 / sqrt(2.0)], [0.0, 1.0]])
    real = TabularMDP(river.transitions, rewards, 0)
    plan = solve_average_reward(real)
    with pytest.raises(NotSolved, match=r"0\.3535533"):
        first_passage_gap(real, plan, sharp(plan, 20, 0.1), 20)


def test_what_does_not_fit_is_refused() -> None:
    plan = solve_average_reward(RIVERS)
    tests = sharp(plan, 10)
    with pytest.raises(InvalidArgument, match="horizon 11"):
        first_passage_gap(RIVERS[0], plan, tests, 11)
    with pytest.raises(InvalidArgument, match="5 states"):
        first_passage_gap(riverswim(5, 0.35)[0], plan, tests, 10)
    with pytest.raises(InvalidArgument, match="order"):
        first_passage_gap(RIVERS[0], plan, tests, 10, order=[0, 1, 2, 3, 3])
    with pytest.raises(InvalidArgument, match="prune"):
        first_passage_gap(RIVERS[0], plan, tests, 10, prune=0.0)
    with pytest.raises(InvalidArgument, match="negative"):
        EliminationTests(np.full((5, 10), -1.0), np.zeros(5))
    with pytest.raises(InvalidArgument, match="tolerance"):
        EliminationTests(np.ones((5, 10)), np.zeros(4))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.16, 0.05])
def test_twenty_thousand_steps_are_known_to_eight_digits(scale: float) -> None:
    horizon = 20_000
    plan = solve_average_reward(RIVERS)
    for real in (RIVERS[0], RIVERS[2]):
        found = first_passage_gap(real, plan, sharp(plan, horizon, scale), horizon)
        low, high = ends(found.gap)
        assert high - low <= 1e-8 * high + 1e-6
