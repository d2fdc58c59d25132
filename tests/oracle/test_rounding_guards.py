"""What rounding can do is stated: the guards as counts of roundings, by hand.

Three coins of two states: rows of two entries, ten steps, three models.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap._kernels.solving import discounted_values
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, row_defects
from simgap.mdp import LatentMDP
from simgap.oracle import entry
from simgap.oracle.baselines.memoryless import _plan
from simgap.oracle.baselines.posterior_sampling import _length, _most_per_episode
from simgap.oracle.baselines.single_model import _tie
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.bounded.planner import _certified
from simgap.oracle.exact import exact_rounding
from simgap.oracle.exact.evidence import relative_rounding, step_slack, tie_slack
from simgap.oracle.loss_form import LossForm, checked_discount, loss_form
from simgap.oracle.pair_prices import cheap_prices
from simgap.planning import optimal_values, solve_episodic, start_rounding
from tests.oracle.test_large_class import coins

EACH = 4 * 2 + 3 + 8  # (M + 1) b + M and 8 more
OFF = 2.0**-30  # a row that sums to 1 + 2^-30


@cache
def coin_form() -> LossForm:
    return replace(loss_form(coins(members=3), horizon=10), defect=0.0)


@cache
def discounted_form() -> LossForm:
    return replace(loss_form(coins(members=3), discount=0.75), defect=0.0)


def test_a_sum_of_losses_rounds_as_often_as_it_has_terms() -> None:
    assert coin_form().relative_rounding == 12 * EACH * EPS
    assert replace(coin_form(), defect=OFF).relative_rounding == 12 * (EACH * EPS + OFF)
    assert discounted_form().relative_rounding == (240 + 2) * EACH * EPS
    longest = replace(discounted_form(), discount=1.0 - 1e-9)
    assert longest.relative_rounding == (10**9 + 2) * EACH * EPS
    certified = 4.0 * (1.0 + 12 * EACH * EPS) + 0.5
    assert _certified(replace(coin_form(), rounding=0.5), 4.0) == certified


def test_ends_of_a_gap_have_room_for_rounding() -> None:
    form = replace(coin_form(), rounding=0.5)
    low, high = form.around(2.0).ends
    assert low == pytest.approx(1.5, abs=1e-12) and low < 1.5
    assert high == pytest.approx(2.5, abs=1e-12) and high > 2.5
    assert form.around(0.25).ends[0] == 0.0


def test_every_number_of_a_result_is_within_the_rounding_told() -> None:
    nothing = np.zeros(3)
    form = replace(coin_form(), rounding=0.0, optimal=nothing, optimal_error=nothing)
    gaps = np.array([1.0, np.nan, 4.0])
    assert form.rounding_of(gaps) == 4.0 * (12 * EACH + 2) * EPS
    assert form.rounding_of(nothing) == 0.0
    far = replace(form, optimal=np.array([-8.0, 1.0, 2.0]))
    assert far.rounding_of(nothing) == 8.0 * 7 * EPS
    assert replace(far, defect=OFF).rounding_of(nothing) == 8.0 * (7 * EPS + 2.0 * OFF)
    wrong = replace(form, rounding=0.5, optimal_error=np.array([0.125, 0.25, 0.0]))
    assert wrong.rounding_of(nothing) == 0.75


def test_stored_losses_are_off_by_the_values_they_come_from() -> None:
    """Six roundings of the largest value at each of ten steps; rewards below zero."""
    worlds = coins(members=3).simulators
    worlds = replace(worlds, rewards=worlds.rewards - 3.0)
    plan, kernel = solve_episodic(worlds, 10), worlds.transitions
    row = float(row_defects(kernel.indptr, kernel.values).max())
    reach = float(np.abs(plan.values).max())
    form = loss_form(LatentMDP.uniform(worlds), horizon=10)
    wanted = float(plan.error.max()) + 10 * (6 * EPS + row) * reach
    assert form.rounding == pytest.approx(wanted, rel=1e-14, abs=0.0)


def test_discounted_values_are_off_by_what_is_left_and_what_rounds() -> None:
    worlds = coins(members=3).simulators
    start = replace(worlds, start=np.array([[0.3, 0.7]]))
    form, kernel = loss_form(LatentMDP.uniform(start), discount=0.75), start.transitions
    rewards = np.repeat(np.array(start.rewards[0])[:, :, None], 3, axis=2)
    likelihood = np.array(kernel.values.T, order="C")
    values, residual = discounted_values(
        kernel.indptr, kernel.indices, likelihood, rewards, 0.75
    )
    row = float(row_defects(kernel.indptr, kernel.values).max())
    reach = float(values.max())
    backup = (residual + (6 * EPS + row) * reach) / 0.25
    error = backup + start_rounding(start) * reach
    assert form.optimal_error == pytest.approx(np.full(3, error), rel=1e-14, abs=0.0)
    assert form.rounding == pytest.approx(backup + error, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("discount", [0.0, -0.5, 1.0, 1.0 - 5e-10, True, "0.5", None])
def test_a_discount_is_between_zero_and_one(discount: Any) -> None:
    with pytest.raises(InvalidArgument):
        checked_discount(discount)
    assert checked_discount(1.0 - 1e-9) == 1.0 - 1e-9
    single: Any = np.float32(0.5)
    assert checked_discount(single) == 0.5


def test_exact_backups_round_by_members_and_successors() -> None:
    form = replace(coin_form(), rounding=0.5)
    assert relative_rounding(form) == (3 + 2 + 8) * EPS
    assert tie_slack(form) == 1.0
    assert step_slack(form) == 0.1
    assert step_slack(replace(form, losses=form.losses[:0])) == 1.0
    assert exact_rounding(form, 0.0) == 0.5 + 2.0
    exact = replace(form, rounding=0.0)
    assert exact_rounding(exact, 4.0) == 4.0 * (2 * 10 * 13 + 12 * EACH) * EPS
    assert _tie(form) == 0.1
    assert _tie(replace(form, losses=form.losses[:1], horizon=1)) == 1.0
    assert _tie(replace(discounted_form(), rounding=0.5)) == 0.25


def test_a_table_of_actions_rounds_in_its_backups_and_its_mean() -> None:
    """11 times 9 roundings and 7 of the mean; 14 steps of a row that is off."""
    nodes, actions = window_nodes(coin_form().pattern, 0), np.zeros((10, 2), np.int32)
    gaps = np.array([[1.0, 2.0, 4.0], [9.0, 9.0, 9.0]])
    form = replace(coin_form(), rounding=0.5)
    plan = _plan(form, nodes, actions, gaps, 0.25)
    assert plan.rounding == 0.75 + 4.0 * (11 * 9 + 7) * EPS
    assert plan.average == pytest.approx(7.0 / 3.0)
    off = _plan(replace(form, defect=OFF), nodes, actions, gaps, 0.25)
    assert off.rounding == pytest.approx(plan.rounding + 4.0 * 14 * OFF, rel=1e-15)
    settled = replace(discounted_form(), rounding=0.5)
    plan = _plan(settled, nodes, actions[:1], gaps, 0.25)
    assert plan.rounding == 0.75 + 4.0 * (2 * 9 + 7) * EPS
    off = _plan(replace(settled, defect=OFF), nodes, actions[:1], gaps, 0.25)
    assert off.rounding == pytest.approx(plan.rounding + 4.0 * 8 * OFF, rel=1e-15)
    low = _plan(form, nodes, actions, gaps - 1.7, 0.25)
    assert low.gaps.tolist() == [0.0, pytest.approx(0.3), pytest.approx(2.3)]
    assert low.average == pytest.approx(2.6 / 3.0)
    with pytest.raises(AssertionError):
        _plan(form, nodes, actions, gaps - 1.8, 0.25)


def test_no_policy_loses_more_than_the_one_that_is_best_for_losses_of_reward() -> None:
    """The worst policy is the best one for rewards with the other sign."""
    worlds = coin_form().latent.simulators
    turned = optimal_values(replace(worlds, rewards=-worlds.rewards), 10)
    worst = coin_form().optimal + turned.start_ends.mean(axis=1)
    assert entry._worst_possible(coin_form()) == pytest.approx(worst, rel=1e-12)
    assert (entry._worst_possible(coin_form()) >= worst).all()
    above = entry._worst_possible(discounted_form())
    assert above == pytest.approx(discounted_form().losses[0].max(axis=(0, 1)) / 0.25)
    planned: Any = SimpleNamespace(gap_intervals=None, upper=1.0)
    form = replace(coin_form(), defect=2.0**-10)
    found = entry._gap_intervals(form, planned, 60.0)
    shared = 3.0 / (1.0 - 2.0**-9)
    assert found.ends[:, 1] == pytest.approx(np.minimum(worst, shared), rel=0.02)
    assert found.ends[0, 1] == pytest.approx(min(worst[0] * 1.012, shared), rel=1e-2)
    assert not found.ends[:, 0].any() and found.notes == ()
    little: Any = SimpleNamespace(gap_intervals=None, upper=0.01)
    found = entry._gap_intervals(form, little, 60.0)
    assert found.ends[:, 1] == pytest.approx(np.full(3, 0.01 * shared), rel=1e-12)
    late = entry._gap_intervals(coin_form(), planned, 0.0)
    assert [note.code for note in late.notes] == ["wide-gap-intervals"]
    most = coin_form().losses.max(axis=(1, 2)).sum(axis=0)
    assert late.ends[:, 1] == pytest.approx(np.minimum(most, 3.0), rel=1e-12)
    unlikely = replace(coin_form(), latent=LatentMDP(worlds, np.array([0.5, 0.5, 0.0])))
    found = entry._gap_intervals(unlikely, planned, 60.0)
    assert found.ends[2, 1] == pytest.approx(worst[2])


def test_an_episode_of_sampling_is_cut_where_a_ten_millionth_is_left() -> None:
    most = float(discounted_form().losses.max()) / 0.25
    assert _most_per_episode(discounted_form()) == most
    assert _length(discounted_form()) == (57, 0.75**57 * most)
    assert 0.75**57 <= 1e-7 < 0.75**56
    assert _length(coin_form()) == (10, 0.0)
    assert (
        _most_per_episode(coin_form()) == coin_form().losses.max(axis=(1, 2, 3)).sum()
    )


def test_a_cheap_price_is_what_the_best_policy_known_costs_a_pair() -> None:
    """(0.5 * 1 + 0.25 * 2) / 0.75 and so on; nothing if one has no prior."""
    worlds = coins(members=4).simulators
    prior = np.array([0.5, 0.25, 0.25, 0.0])
    form = replace(loss_form(LatentMDP(worlds, prior), horizon=3), rounding=0.0)
    nobody = np.zeros(0, np.int64)
    found = cheap_prices(form, nobody, np.array([1.0, 2.0, 4.0, np.nan]))
    wanted = np.zeros((4, 4))
    wanted[0, 1], wanted[0, 2], wanted[1, 2] = 4.0 / 3.0, 2.0, 3.0
    wanted += wanted.T
    assert found == pytest.approx(wanted, rel=1e-12)
    assert (found >= wanted).all()
    off = cheap_prices(replace(form, rounding=1.0), nobody, np.array([1.0, 2, 4, 0]))
    assert off == pytest.approx(np.where(wanted > 0.0, wanted + 1.0, 0.0), rel=1e-12)
    known = cheap_prices(form, np.array([0, 2]), None)
    assert (known[:3, :3] < wanted[:3, :3] + 1e-12).all() and known[0, 2] > 0.0
