"""The anytime planner piece by piece: what is done next, how large, when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.mdp import LatentMDP
from simgap.oracle import watch as watching
from simgap.oracle.bounded import planner
from simgap.oracle.bounded.first_points import first_points
from simgap.oracle.bounded.graph_assembly import _since
from simgap.oracle.bounded.lattice import LatticeSource, _lattice
from simgap.oracle.bounded.lower_nodes import lower_structure, odds_grid
from simgap.oracle.bounded.lower_side import pair_prices_below, root_lower
from simgap.oracle.bounded.points import (
    CLOSEST,
    BeliefPoints,
    PointSource,
    no_points,
    no_vectors,
)
from simgap.oracle.bounded.upper_nodes import bytes_of_upper, upper_nodes
from simgap.oracle.bounded.upper_side import _at_root, _backwards, _Gathered
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import BoundedOracle
from simgap.oracle.watch import StopPlanning, Watch
from tests.oracle.test_large_class import coins

NEVER = BoundedOracle(gap_tolerance=None, negligible=0.0, time_limit=1000.0)
AGAIN = ["again", "finer", "larger"]
Told = tuple[float, float]  # part of the bracket that is closed, effort


@cache
def coin_form() -> LossForm:
    return loss_form(coins(members=3), horizon=10)


class Script:
    """A planner whose works close what they are told to, and nothing after that."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, told: dict[str, list[Told]]
    ) -> None:
        self.now, self.done, self.told = 0.0, list[str](), told
        self.again = dict.fromkeys(("finer", "wider", "again", "larger"), True)
        self.fails = dict[str, Outcome]()
        monkeypatch.setattr(watching, "clock", lambda: self.now)
        self.watch = Watch(NEVER, 1.0, 1.0, 0.0)
        self.watch.narrow("a start", lower=0.0, upper=1.0)
        self.planner: Any = SimpleNamespace(watch=self.watch, effort=1.0)
        for name in self.again:
            monkeypatch.setattr(planner, f"_{name}", self.work(name))

    def work(self, name: str) -> Callable[[Any], bool]:
        def run(made: Any) -> bool:
            self.done.append(name)
            if name in self.fails:
                raise StopPlanning(self.fails[name])
            closed, made.effort = self.told[name].pop(0) if self.told[name] else (0, 1)
            self.now += made.effort
            self.watch.upper *= 1.0 - closed
            return self.again[name]

        return run


def test_work_goes_to_what_closes_most_for_its_effort(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By hand: larger .4, wider .2, another pass .1, finer .05, larger .02, ...

    After that nothing closes anything: every kind is tried three times.
    """
    script = Script(
        monkeypatch,
        {
            "larger": [(0.5, 10.0), (0.0, 20.0)],
            "wider": [(0.01, 1.0)],
            "again": [(0.03, 10.0), (0.0, 20.0)],
            "finer": [(0.0, 1.0)],
        },
    )
    assert planner._close(script.planner) is Outcome.STALLED
    assert script.done[:7] == ["larger", "wider", *AGAIN, "again", "wider"]
    assert script.done[7:11] == ["finer", "wider", "again", "larger"]
    assert script.done[11:] == [*AGAIN, "wider"]
    assert script.watch.upper == pytest.approx(0.5 * 0.99 * 0.97)


def nothing() -> dict[str, list[Told]]:
    return {"finer": [], "wider": [], "again": [], "larger": []}


def test_what_was_in_vain_may_help_after_something_else_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two fruitless rounds, then a gain: all are tried three times from there on."""
    lengths = []
    for second in (0.0, 0.5 * planner.FRUITLESS, 2.0 * planner.FRUITLESS):
        script = Script(monkeypatch, nothing() | {"finer": [(0, 1), (second, 1)]})
        assert planner._close(script.planner) is Outcome.STALLED
        lengths.append(len(script.done))
    assert lengths[0] == lengths[1] < lengths[2]


def test_memory_ends_one_kind_of_work_and_time_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Script(monkeypatch, nothing())
    full.fails = {"larger": Outcome.OUT_OF_MEMORY, "wider": Outcome.OUT_OF_MEMORY}
    assert planner._close(full.planner) is Outcome.OUT_OF_MEMORY
    assert full.done.count("larger") == full.done.count("wider") == 1
    assert full.done.count("finer") == planner.PATIENCE
    late = Script(monkeypatch, nothing())
    late.fails = {"larger": Outcome.OUT_OF_TIME}
    with pytest.raises(StopPlanning):
        planner._close(late.planner)
    spent = Script(monkeypatch, nothing())
    spent.again = dict.fromkeys(spent.again, False)
    assert planner._close(spent.planner) is Outcome.STALLED
    assert sorted(spent.done) == ["again", "finer", "larger", "wider"]


def test_what_would_not_end_in_time_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Larger takes 390 of 996 seconds and would take 2.5 times as long again."""
    told = {"larger": [(0.5, 390.0)], "again": [(0.5, 200.0)], "wider": [(0.5, 190.0)]}
    script = Script(monkeypatch, {**told, "finer": [(0.5, 195.0)]})
    assert planner._close(script.planner) is Outcome.OUT_OF_TIME
    assert script.done == ["larger", "wider", "finer"]


def test_a_bracket_that_is_narrow_needs_no_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script(monkeypatch, {"larger": [(1.0, 5.0)]})
    assert planner._close(script.planner) is Outcome.SOLVED
    assert script.done == ["larger"]


@pytest.mark.parametrize(
    ("seconds", "cells", "levels"),
    [(1e-3, 8, 3), (3e-3, 32, 10), (5e-4, 8, 0), (60.0, 128, 40)],
)
def test_the_first_look_is_as_large_as_the_time_allows(
    seconds: float, cells: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 node-steps for a level, 200 000 for a second; fewer than 3 levels are none."""
    asked: list[int] = []
    limits = replace(NEVER, time_limit=seconds)
    made: Any = SimpleNamespace(form=coin_form(), watch=Watch(limits, 1.0, 1.0, 0.0))

    def lower(_: object, *, cells: int, points: int) -> None:
        asked.append(cells + points)

    monkeypatch.setattr(planner, "_lower", lower)
    monkeypatch.setattr(planner, "upper_pass", lambda *_, **__: None)
    monkeypatch.setattr(planner, "_keep", lambda *_: asked.append(made.levels))
    planner._first_look(made)
    assert asked == ([cells, levels] if levels else [cells])


def test_one_model_loses_nothing_but_rounding() -> None:
    alone = loss_form(LatentMDP(coin_form().latent.simulators, np.eye(3)[1]), horizon=4)
    made: Any = SimpleNamespace(form=alone, watch=Watch(NEVER, 1.0, 1.0, 0.0))
    planner._first_look(made)
    assert made.watch.upper == alone.rounding


def test_cells_double_and_points_do_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    made: Any = SimpleNamespace(form=coin_form(), cells=128, lower_points=150)

    def lower(given: Any, *, cells: int, points: int) -> None:
        asked.append((cells, points))
        given.cells = cells
        given.lower_points = min(points, 600)

    monkeypatch.setattr(planner, "_lower", lower)
    assert planner._finer(made) and not planner._finer(made)
    assert planner._wider(made) and planner._wider(made)
    assert not planner._wider(made)
    assert asked == [(256, 150), (512, 150), (512, 300), (512, 600), (512, 1200)]
    few: Any = SimpleNamespace(form=coin_form(), cells=8, lower_points=0)
    planner._wider(few)
    assert asked[-1] == (8, 200)


def test_rules_begin_where_those_before_them_end() -> None:
    offsets, until = np.array([0, 2, 2, 3, 6]), np.array([4, 9, 9, 1, 2, 9], np.int32)
    assert _since(offsets, until).tolist() == [0, 5, 0, 0, 2, 3]


def test_rules_are_gathered_by_node_and_step() -> None:
    """From the end: node 2 at steps 9 and 4, node 0 at step 9, node 1 never."""
    gathered = _Gathered()
    for step, nodes in ((9, [0, 2]), (4, [2])):
        which = np.array(nodes, np.int32)
        gathered.add(which, step, which + 10 * step, np.stack([which, which], axis=1))
    rules = gathered.sorted(4)
    assert rules.offsets.tolist() == [0, 1, 1, 3, 3]
    assert rules.until.tolist() == [9, 4, 9]
    assert rules.actions.tolist() == [90, 42, 92]
    assert rules.successors.tolist() == [[0, 0], [2, 2], [2, 2]]
    _, _, _, last, first = _backwards(rules, 2)
    assert (last - first).tolist() == [0, -1, 1, -1]
    nothing = _Gathered().sorted(4)
    assert nothing.offsets.tolist() == [0] * 5 and nothing.until.size == 0


def test_the_best_vector_of_every_first_state_is_taken() -> None:
    worlds = replace(coin_form().latent.simulators, start=np.array([[0.25, 0.75]]))
    form = loss_form(LatentMDP(worlds, np.array([0.5, 0.25, 0.25])), horizon=2)
    nodes = upper_nodes(form, no_points(form), levels=0)
    of_states = 4.0 - 4.0 * np.eye(3), np.array([[9, 9, 0], [1, 1, 2], [2, 2, 2]])
    vectors = np.concatenate(of_states)
    total, chosen = _at_root(form, nodes, vectors)
    assert chosen.tolist() == [0, 4]
    assert total == 0.25 * (0.25 * 4 + 0.25 * 4) + 0.75 * (0.5 + 0.25 + 0.5)


def test_a_larger_graph_has_twice_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for its rules, and for those of the one before, is asked for."""
    form, claims = coin_form(), list[float]()
    source = PointSource.at_root(form, 0)
    made = planner._begin(form, NEVER, source, source, None)
    monkeypatch.setattr(Watch, "claim", lambda _, size: claims.append(size))
    planner._larger(made)
    first = first_points(form, 1000.0)
    assert claims == [bytes_of_upper(form, first, made.levels)]
    for _ in range(2):
        before, count = made.best, made.upper_points
        assert before is not None
        planner._larger(made)
        rules = planner._bytes_of_rules(form, before)
        assert claims[-1] == bytes_of_upper(form, 2 * count, made.levels) + 2.0 * rules
        assert (made.upper_points > count) == (made.best is not before)


def test_a_lattice_has_the_cubes_of_its_parts_and_keeps_coarser_ones() -> None:
    likely = np.array([0, 2])
    assert _lattice(likely, 2, 3).tolist() == [[0.5, 0.0, 0.5]]
    assert _lattice(likely, 4, 3) == pytest.approx(
        np.array([[1.0, 0.0, 27.0], [27.0, 0.0, 1.0]]) / 28.0
    )
    three = np.arange(3)
    assert len(_lattice(three, 2, 3)) == 3  # the middles of the edges
    assert len(_lattice(three, 4, 3)) == 15 - 3 - 3  # of 15, corners and middles apart
    prior = np.array([0.5, 0.0, 0.5])
    pair = loss_form(LatentMDP(coin_form().latent.simulators, prior), horizon=2)

    def go_on() -> None:
        looks.append(1)

    for count, size in ((1, 2), (2, 2), (3, 6), (6, 6), (7, 14), (10**9, 2046)):
        looks: list[int] = []
        points = LatticeSource(pair).grow(count, None, go_on)
        assert points.size == size and len(looks) == {2: 1, 6: 2, 14: 3, 2046: 10}[size]
        assert points.beliefs.sum(axis=1) == pytest.approx(np.ones(size))


def test_nodes_below_are_faces_of_all_pairs_and_then_points() -> None:
    """Two states: three pairs at one inner point of the grid, and the points given."""
    states = np.array([1, 0, 1], np.int32)
    beliefs = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    assert odds_grid(2) == pytest.approx([0.0, 0.5, 1.0])
    assert odds_grid(3) == pytest.approx([0.0, 0.25, 0.75, 1.0])
    made = lower_structure(coin_form(), states, beliefs, cells=2)
    assert made.state_offsets.tolist() == [0, 4, 9]
    assert made.point_numbers().tolist() == [3, 7, 8]
    dense = np.zeros((9, 3))
    for node in range(9):
        inside = slice(*made.node_offsets[node : node + 2])
        dense[node, made.node_model[inside]] = made.node_weight[inside]
    pairs = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    wanted = np.concatenate([pairs, beliefs[[1]], pairs, beliefs[[0, 2]]])
    assert dense == pytest.approx(wanted)


@pytest.mark.parametrize("count", [0, 2])
def test_the_lower_end_at_the_start_is_the_best_mixture_of_nodes(count: int) -> None:
    """Pairs are worth 1, 2 and 3 at even odds: the best mixture of thirds is 2.

    A third of each model: x of each pair with x1 + x2 = x1 + x3 = x2 + x3 = 2/3.
    """
    form = replace(coin_form(), rounding=0.0, defect=0.0)
    states, beliefs = np.zeros(count, np.int32), np.full((count, 3), 1.0 / 3.0)
    made = lower_structure(form, states, beliefs, cells=2)
    values = np.zeros(made.node_state.size)
    values[:3] = 1.0, 2.0, 3.0
    found = root_lower(form, made, values)
    assert 2.0 * (1.0 - 1e-6) <= found <= 2.0
    assert root_lower(replace(form, rounding=0.5), made, values) == pytest.approx(1.5)
    assert root_lower(replace(form, rounding=3.0), made, values) == 0.0
    prices = pair_prices_below(form, made, values)
    wanted = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    assert prices == pytest.approx(wanted)
    assert (prices <= wanted).all()
    less = pair_prices_below(replace(form, rounding=1.5), made, values)
    assert less == pytest.approx(np.maximum(wanted - 1.5, 0.0))


def test_prices_below_are_read_off_the_face_at_the_odds_of_the_prior() -> None:
    """Odds of a quarter on a grid of a half: half of the way to the value there."""
    latent = LatentMDP(coin_form().latent.simulators, np.array([0.6, 0.2, 0.2]))
    form = replace(loss_form(latent, horizon=3), rounding=0.0)
    nobody = no_points(form)
    made = lower_structure(form, nobody.states, nobody.beliefs, cells=2)
    values = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    found = pair_prices_below(form, made, values)
    assert found[0] == pytest.approx([0.0, 0.5, 1.0])
    assert found[1, 2] == pytest.approx(3.0)


def test_points_are_looked_for_ever_nearer_to_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From 0.18 on, each time at 0.6 of it; another guide begins at the closest."""
    source, tried = PointSource.at_root(coin_form(), 5), list[float]()
    monkeypatch.setattr(PointSource, "_meet", lambda self, *_: tried.append(self.apart))
    for again in (False, True):
        tried.clear()
        assert source.grow(2, no_vectors(coin_form())).size == 1
        wanted = [CLOSEST] if again else [0.18 * 0.6**n for n in range(9)]
        assert tried == pytest.approx(wanted)


def test_points_are_met_until_there_are_enough_or_none_are_new() -> None:
    source = PointSource.at_root(coin_form(), 5)
    assert source.points.size == 1 and source.apart == pytest.approx(0.18)
    assert source.points.beliefs[0] == pytest.approx(np.full(3, 1.0 / 3.0))
    looks: list[int] = []
    few = source.grow(6, no_vectors(coin_form()), lambda: looks.append(1))
    assert few.size == 6 and looks
    more = source.grow(9, no_vectors(coin_form()))
    assert isinstance(more, BeliefPoints)
    assert (more.beliefs[:6] == few.beliefs).all()
    assert (more.states[:6] == few.states).all()
    assert source.episode % 32 == 0 and source.episode > 0
    again = PointSource.at_root(coin_form(), 5)
    assert (again.grow(6, no_vectors(coin_form())).beliefs == few.beliefs).all()
    alone = loss_form(LatentMDP(coin_form().latent.simulators, np.eye(3)[1]), horizon=4)
    end = PointSource.at_root(alone, 5)
    assert end.grow(50, no_vectors(alone)).size == 1  # no doubt: nothing to meet
    assert end.apart < 0.002
