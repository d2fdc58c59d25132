"""Work and memory are counted before anything is built: the counts, by hand.

Plans depend on them and not on the clock, so that a count that changes is another plan.
Three coins of two states and two actions have eight successors in all, four per state,
two of a row, and three pairs of models.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.instances import bandit
from simgap.mdp import LatentMDP
from simgap.oracle import large_class, to_run, watch
from simgap.oracle.baselines import memoryless, stationary, tracking
from simgap.oracle.baselines.coupled_pair import _work_of_a_place, model_table
from simgap.oracle.baselines.windowed import window_nodes, window_size
from simgap.oracle.bounded.first_points import first_points
from simgap.oracle.bounded.lower_nodes import (
    bytes_of_lower,
    lower_structure,
    number_of_pairs,
    pairs_of,
)
from simgap.oracle.bounded.lower_side import lower_effort
from simgap.oracle.bounded.relinking import remembered_steps
from simgap.oracle.bounded.upper_graph import planned_steps, settling_steps
from simgap.oracle.bounded.upper_nodes import bytes_of_upper
from simgap.oracle.bounded.upper_side import _undisturbed, upper_effort
from simgap.oracle.estimate import work_of_a_step
from simgap.oracle.exact.gaps import bytes_of_gaps
from simgap.oracle.loss_form import bytes_of_losses, loss_form
from simgap.oracle.part_of_class import Neighbourhoods
from simgap.oracle.result import VectorSets
from simgap.oracle.settings import BoundedOracle
from tests.oracle.forms import coin_form, discounted_form

pair_prices: Any = import_module("simgap.oracle.pair_prices")


def test_steps_that_are_planned_and_settled() -> None:
    """0.75^9 is below a tenth and 0.75^8 is not; six steps of weight 1.5 / (1 - d)."""
    assert (planned_steps(coin_form()), planned_steps(discounted_form())) == (10, 9)
    assert settling_steps(discounted_form()) == 6
    patient = replace(discounted_form(), discount=0.9999)
    assert (planned_steps(patient), settling_steps(patient)) == (400, 200)


def test_the_work_of_a_pass_above() -> None:
    """12 steps of 100 nodes at 148, and two looks of 40 points at 60."""
    assert upper_effort(coin_form(), 100, 40, 2) == 12 * 14_800 + 2 * 2_400
    assert upper_effort(coin_form(), 100, 40, 2, members=6) == 12 * 19_600 + 2 * 4_800
    assert upper_effort(discounted_form(), 100, 0, 0) == (9 + 6) * 14_800


def test_the_work_of_a_pass_below() -> None:
    """24 nodes on faces have 192 terms, four points have 48."""
    states = np.array([0, 0, 1, 1], np.int32)
    made = lower_structure(coin_form(), states, np.full((4, 3), 1.0 / 3.0), cells=5)
    assert made.term_node.size == 240
    step, mixture = 1.5 * 240 + 10.0 * 28, 2000.0 + 100.0 * 9
    assert lower_effort(coin_form(), made, 10, 2) == 12 * step + 2 * 4 * 4 * mixture


def test_the_memory_of_both_sides() -> None:
    """Above 80 nodes of 744 bytes, then 2406, of which 1000 are visited at most."""
    assert bytes_of_upper(coin_form(), 50, 4) == 80 * 744 + 4 * 3 * 10 * 80
    assert bytes_of_upper(coin_form(), 0, 400) == 2406 * 744 + 4 * 3 * 10 * 1000
    assert bytes_of_upper(coin_form(), 50, 400) == 2456 * 744 + 4 * 3 * 10 * 1100
    assert bytes_of_upper(discounted_form(), 50, 4) == 80 * 744
    assert bytes_of_lower(coin_form(), 50, 5) == 24 * 176 + 50 * 260


def test_the_memory_of_losses_and_of_a_tree() -> None:
    assert bytes_of_losses(coin_form().latent, 10) == 8 * (10 * 2 * 2 * 3 + 24)
    assert bytes_of_losses(coin_form().latent, None) == 8 * (2 * 2 * 3 + 24)
    tree: Any = SimpleNamespace(
        form=coin_form(), layers=[0, 1, 6, 9], supports=SimpleNamespace(count=5), size=9
    )
    assert bytes_of_gaps(tree) == 23 * 9 + 3 * (48 * 5 + 16 * 5 * 2)
    tree.layers = []
    assert bytes_of_gaps(tree) == 23 * 9 + 3 * 16 * 5 * 2


def test_the_first_points_are_a_part_of_the_time() -> None:
    """A point costs 10456 of the 0.07 seconds of every second, or 18712."""
    wanted = {0.1: int(7e6 / 10456), 0.01: 500, 1.0: 1500}
    assert {each: first_points(coin_form(), each) for each in wanted} == wanted
    assert first_points(coin_form(), 0.2, members=6) == int(14e6 / 18712)
    long = replace(coin_form(), horizon=40_000)
    assert first_points(long, 60.0) == first_points(long, 600.0) == 708
    for states, least, most in ((200, 800, 8000), (7, 500, 2800)):
        pattern = SimpleNamespace(n_states=states, n_actions=2, indices=np.zeros(8))
        wide: Any = SimpleNamespace(pattern=pattern, n_models=3, horizon=10)
        assert (first_points(wide, 0.0), first_points(wide, 1e9)) == (least, most)


@pytest.mark.parametrize(
    ("horizon", "cells", "levels"),
    [(1, 64, 24), (10, 64, 24), (50_000, 10, 10), (10**6, 4, 1)],
)
def test_the_work_of_comparing_three_models(
    horizon: int, cells: int, levels: int
) -> None:
    form = replace(coin_form(), horizon=horizon)
    faces = 2 * 3 * (cells - 1) * 22
    of_state = 3 + 3 * levels
    wanted = horizon * (faces + 2 * of_state * 148) + 3 * 9 * of_state
    assert pair_prices._effort(form, 3) == wanted


@pytest.mark.parametrize(
    ("members", "most", "kept"),
    [(300, 150.0, 11), (300, 121.0, 11), (40, 100.0, 9), (300, 1.0, 6), (11, 121, 0)],
)
def test_so_many_models_are_compared_as_the_work_allows(
    members: int, most: float, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """48, 36, 27, 20, 15, 11, 8, 6 of them, or three quarters of 40 and so on."""
    monkeypatch.setattr(pair_prices, "MOST_EFFORT", most)
    monkeypatch.setattr(pair_prices, "_effort", lambda form, count: float(count**2))
    form: Any = SimpleNamespace(latent=SimpleNamespace(prior=np.ones(members)))
    found = pair_prices.compared_models(form)
    assert (0 if found is None else found.size) == kept


@pytest.mark.parametrize(
    ("limit", "count"), [(100.0, 45), (90.0, 45), (88.0, 40), (1.0, 12), (None, None)]
)
def test_a_tenth_of_the_models_is_left_out_until_the_rest_fits(
    limit: float | None, count: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300, 270, 243, ..., 51, 45, 40 of them, for half of the time; 600 s if none."""

    def fits(form: object, models: int, seconds: float) -> bool:
        return models <= seconds

    monkeypatch.setattr(large_class, "_fits", fits)
    form: Any = SimpleNamespace(latent=SimpleNamespace(prior=np.ones(300)))
    assert large_class.part_to_plan(form, limit) == count
    few: Any = SimpleNamespace(latent=SimpleNamespace(prior=np.ones(41)))
    assert large_class.part_to_plan(few, 1.0) == 12
    few.latent.prior[0] = 0.0
    assert large_class.part_to_plan(few, 1.0) is None


def test_what_fits_is_a_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 points and 5 models with 10 pairs: 33 nodes, 22 steps of 180 and 12 looks."""
    monkeypatch.setattr(large_class, "first_points", lambda *_, **__: 3)
    work = 22 * 33 * 180.0 + 12 * (3 * 4 * 0.1 * 5 * 33 / 2)
    just = work / (1e9 * 0.12)
    assert large_class._fits(coin_form(), 5, just * (1.0 + 1e-12))
    assert not large_class._fits(coin_form(), 5, just * (1.0 - 1e-12))


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [
        (1.0, (16, 64)), (34.6445 / 120, (16, 64)), (34.6444 / 120, (16, 32)),
        (29.2377 / 120, (16, 16)), (26.5343 / 120, (16, 8)), (0.0, (16, 8)),
    ],
)  # fmt: skip
def test_groups_are_the_best_that_the_time_counted_for_allows(
    seconds: float, wanted: tuple[int, int]
) -> None:
    """Of 120 models: 8 groups of 120 pairs, 176 for every cell, and 3e6 for a group."""
    form = replace(coin_form(), horizon=4)
    assert large_class._grouping(form, 120, seconds) == wanted
    assert large_class._grouping(form, 129, 34.6445 / 120) != (16, 64)


def test_vectors_for_all_models_are_some_of_those_of_the_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten of one state and two of another; the first and the last stay."""
    rows = np.arange(24.0).reshape(12, 2)
    sets = VectorSets(np.zeros(2, np.int32), np.array([0, 10, 12]), rows)
    part = Neighbourhoods(np.array([0, 2]), np.array([0.5, 0.5]), np.array([0, 1, 1]))
    for most, largest, wanted in (
        (4, 18, [0, 3, 6, 9, 10, 11]),
        (4, 17, [0, 9, 10, 11]),
        (1, 0, []),
    ):
        monkeypatch.setattr(large_class, "VECTORS", most)
        monkeypatch.setattr(large_class, "LARGEST_VECTORS", largest)
        found = large_class._lifted(coin_form(), sets, part)
        assert found.vectors.tolist() == rows[wanted][:, [0, 1, 1]].tolist()
        first = sum(each < 10 for each in wanted)
        assert found.vector_offsets.tolist() == [0, first, len(wanted)]


def test_the_work_of_an_episode_and_how_many_fit() -> None:
    policy: Any = SimpleNamespace(vectors=np.zeros((6, 3)), vector_offsets=np.zeros(5))
    assert work_of_a_step(coin_form(), policy) == 3 * (2 + 2.0 + 4 * 6 / 4)
    policy.vectors, policy.vector_offsets = np.zeros((0, 3)), np.zeros(1)
    assert work_of_a_step(coin_form(), policy) == 12.0
    second = to_run.WORK_PER_SECOND
    for form, steps in ((coin_form(), 10), (discounted_form(), 64)):
        each = steps * 12.0
        assert to_run._counted(form, policy, 10**9, 5.0) == int(5.0 * second / each)
        assert to_run._counted(form, policy, 10**9, None) == int(60.0 * second / each)
    assert to_run._counted(coin_form(), policy, 7, 5.0) == 7
    assert to_run._counted(coin_form(), policy, 7, 1e-9) == 2
    idle = replace(coin_form(), losses=coin_form().losses[:0])
    assert to_run._counted(idle, policy, 10**10, 5.0) == int(5.0 * second)


@pytest.mark.parametrize(("took", "fit"), [(1.0, 672), (2.0, 298), (60.0, 2), (0, 999)])
def test_episodes_that_fit_are_measured_by_a_few(
    took: float, fit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice 32 and three times 8 took so long; the rest of 10 seconds over 1.5 fits."""
    clock = iter([5.0, 5.0 + took])
    asked: list[int] = []
    monkeypatch.setattr(to_run, "working_seconds", lambda: next(clock))

    def simulated(*_: object, episodes: int, seed: int) -> None:
        asked.extend((episodes, seed))

    monkeypatch.setattr(to_run, "estimated_gap", simulated)
    nothing: Any = None
    assert to_run._affordable(coin_form(), nothing, 999, 4, 10.0) == fit
    assert asked == [32, 8]


def test_the_work_of_baselines() -> None:
    assert tracking._episodes(coin_form(), 0.01) == int(1e6 / 121)
    assert tracking._episodes(discounted_form(), 0.01) == int(1e6 / 769)
    assert tracking._episodes(coin_form(), 1e-9) == 400
    assert tracking._episodes(coin_form(), 1e9) == 20_000
    nodes = window_nodes(coin_form().pattern, 1)
    assert nodes.size == window_size(coin_form().pattern, 1) == 10
    assert memoryless._work(coin_form(), nodes) == 1.5 * 10 * 4 * 10 * 3 + 1e5
    one = model_table(coin_form(), 1)
    lengths = 5 / 4
    cells = lengths**2
    wanted = 4 * (10.0 + cells * (0.8 + 2 * lengths / 32.0))
    assert _work_of_a_place(one, one, 2) == pytest.approx(wanted, rel=1e-15)
    assert memoryless.fits(coin_form(), 10**6) and not memoryless.fits(
        coin_form(), 10**6 + 1
    )
    side = int((stationary.LARGEST_INVERSE / 3) ** 0.5)
    assert memoryless.fits(discounted_form(), side)
    assert not memoryless.fits(discounted_form(), side + 1)


def test_pairs_of_many_models_are_spread_evenly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Room for 12 pairs of 6 likely models: each with its next and its third next."""
    nodes = import_module("simgap.oracle.bounded.lower_nodes")
    monkeypatch.setattr(nodes, "MOST_PAIR_STATES", 24)
    arms = bandit(np.full((7, 2), 0.5))
    prior = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]) / 6.0
    form = loss_form(LatentMDP(arms, prior), horizon=1)
    first, second = pairs_of(form)
    likely = [0, 2, 3, 4, 5, 6]
    wanted = {
        tuple(sorted((likely[at], likely[(at + stride) % 6])))
        for at in range(6)
        for stride in (1, 3)
    }
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == sorted(wanted)
    assert number_of_pairs(form) == 12
    assert number_of_pairs(form, 5) == 10
    assert number_of_pairs(form, 30) == 30
    monkeypatch.setattr(nodes, "MOST_PAIR_STATES", 2)  # room for the next ones only
    found = set(zip(*(each.tolist() for each in pairs_of(form)), strict=True))
    assert found == {(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (0, 6)}


def test_steps_at_once_end_where_something_is_due() -> None:
    """Work of 2 nodes is 2 * 24 / 2 products a step."""
    two: Any = SimpleNamespace(size=2)
    at_once = import_module("simgap.oracle.bounded.upper_side").AT_ONCE
    assert _undisturbed(coin_form(), two, 3, 20, 3, frozenset({1, 2, 3, 9})) == 6
    assert _undisturbed(coin_form(), two, 3, 20, 7, frozenset({1, 9})) == 4
    assert _undisturbed(coin_form(), two, 3, 20, 2, frozenset({1, 2, 3})) == 18
    assert _undisturbed(coin_form(), two, 3, 10**12, 2, frozenset()) == int(
        at_once / 24.0
    )
    huge: Any = SimpleNamespace(size=10**12)
    assert _undisturbed(coin_form(), huge, 3, 20, 2, frozenset()) == 1


def test_remembered_steps_grow_by_a_ratio() -> None:
    assert sorted(remembered_steps(12, 1.6)) == [1, 2, 3, 5, 8]
    assert sorted(remembered_steps(6)) == [1, 2, 3, 4, 5]
    assert 1 in remembered_steps(1)


def test_a_watch_keeps_some_time_for_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(watch, "clock", lambda: now[0])
    monkeypatch.setattr(watch, "seconds_left", lambda: 50.0)
    short = watch.Watch(BoundedOracle(time_limit=10.0), 1.0, 1.0, 0.0)
    long = watch.Watch(BoundedOracle(time_limit=1000.0), 1.0, 1.0, 0.0)
    free = watch.Watch(BoundedOracle(time_limit=None), 1.0, 1.0, 0.0)
    now[0] = 103.0
    assert short.seconds == 3.0
    assert short.seconds_left == pytest.approx(10.0 - 1.2 - 3.0)
    assert long.seconds_left == free.seconds_left == 50.0
    now[0] = 1090.0
    assert long.seconds_left == 1000.0 - 4.0 - 990.0
    assert [each.asked_seconds for each in (short, long, free)] == [10.0, 600.0, 60.0]
    now[0] = 108.9
    with pytest.raises(watch.StopPlanning):
        short.keep_going()
