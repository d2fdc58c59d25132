"""Finer and finer grids, and the same policies in the simulator itself."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from simgap import LatentMDP, audit, load_model, refine, save_model
from simgap.answers import RefineSettings
from simgap.answers.audit.grid import COARSE, DISAGREES, MOVES
from simgap.answers.audit.losses import PlanningSettings, transfer
from simgap.answers.audit.refine import LadderEnd, finer, remade
from simgap.answers.audit.verdict import Verdict
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import classic_control, riverswim
from simgap.instances.classic_control import simulator_of
from simgap.mdp import Axis, Discretisation, Moved, Physics, StateGrid, discretise
from simgap.mdp.physics import Theta
from simgap.records import ON_GRID

QUICK = PlanningSettings(effort=0.02)
CUT = RefineSettings(rungs=2, tolerance=1e-9, planning=QUICK)
SHORT = RefineSettings(time_limit=1e-6, planning=QUICK)


def slide(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """A wagon pushed left or right against a slope, paid near the middle."""
    x, v = state.T
    faster = np.clip(0.8 * v + 0.5 * theta["push"] * action - 0.2 * x, -1.0, 1.0)
    paid = np.exp(-4.0 * (x - 0.5) ** 2)
    after = np.stack([np.clip(x + 0.5 * faster, -2.0, 2.0), faster], axis=1)
    return Moved(after, paid, np.zeros(len(x), np.bool_))


WAGON = Physics(
    "wagon",
    slide,
    np.array([-1.0, 1.0]),
    ("left", "right"),
    ((-0.5, 0.5), (0.0, 0.0)),
    (0.0, 1.0),
)


def wagons(cells: int, physics: Physics = WAGON) -> Discretisation:
    grid = StateGrid((Axis("x", -2.0, 2.0, cells), Axis("v", -1.0, 1.0, cells)))
    return discretise(physics, grid, {"push": (-1.0, 1.0)})


def latent(cells: int) -> LatentMDP:
    return LatentMDP.uniform(wagons(cells).simulators)


def test_a_ladder_climbs_until_the_answer_stands_still() -> None:
    found = refine(latent(5), 8, settings=RefineSettings(planning=QUICK))
    assert found.end is LadderEnd.STANDS_STILL
    cells = [rung.cells for rung in found.rungs]
    assert cells[0] == (5, 5) and cells[1] == (9, 9)
    assert [rung.states for rung in found.rungs] == [n * m for n, m in cells]
    last, before = found.rungs[-1], found.rungs[-2]
    assert last.verdict is before.verdict is found.audit.verdict
    assert last.noise < 1.0
    assert found.audit.certainty == ON_GRID
    # the control: further up it stays there
    worlds = remade(wagons(5), finer(wagons(cells[-1][0]).grid)).simulators
    above = transfer(LatentMDP.uniform(worlds), 8, QUICK)
    assert above.verdict is found.audit.verdict
    assert above.average_gap is not None and last.average_gap is not None
    moved = above.average_gap.ends[1] - last.average_gap.ends[1]
    assert abs(moved) < 0.05 * last.at_stake


def test_a_ladder_that_is_cut_short_decides_nothing() -> None:
    found = refine(latent(9), 8, settings=CUT)
    assert found.end is LadderEnd.OUT_OF_RUNGS
    assert found.audit.verdict is Verdict.GRID_TOO_COARSE
    assert found.audit.code in (MOVES, COARSE, DISAGREES)
    quick = refine(latent(5), 8, settings=SHORT)
    assert quick.end is LadderEnd.OUT_OF_TIME and len(quick.rungs) == 1
    assert quick.audit.verdict is Verdict.GRID_TOO_COARSE


def test_a_table_that_would_be_too_large_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_module("simgap.answers.audit.refine")
    monkeypatch.setattr(module, "LARGEST_LOSSES", 1000.0)
    found = refine(latent(5), 8, settings=RefineSettings(planning=QUICK))
    assert found.end is LadderEnd.OUT_OF_SIZE and len(found.rungs) == 1


def test_an_odd_number_of_nodes_stays_odd_and_grows_by_half() -> None:
    axes = [Axis("a", -1.0, 1.0, n) for n in (2, 3, 7, 10, 41)]
    grown = [finer(StateGrid((axis,))).shape[0] for axis in axes]
    assert grown == [3, 5, 11, 15, 63]


def test_remade_on_its_own_grid_a_table_is_the_same() -> None:
    table = wagons(9)
    assert remade(table, table.grid).simulators.hash == table.simulators.hash


def test_the_same_policies_are_graded_in_the_simulator() -> None:
    """On a fine grid table and simulator agree about all three."""
    found = transfer(latent(21), 8, QUICK)
    assert len(found.in_simulator) == 3
    for each in found.in_simulator:
        assert each.apart() == 0.0
        assert each.simulator.lower < each.simulator.upper
        assert each.episodes > 100


def test_a_table_of_another_simulator_disagrees_and_that_is_the_headline() -> None:
    """The control: the same table, a simulator that pays half."""

    def poor(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        moved = slide(theta, state, action)
        return Moved(moved.state, 0.5 * moved.reward, moved.ended)

    table = wagons(13).simulators
    assert table.grid is not None
    other = replace(table.grid, physics=replace(WAGON, step=poor))
    found = audit(LatentMDP.uniform(replace(table, grid=other)), 8, settings=QUICK)
    assert found.verdict is Verdict.GRID_TOO_COARSE
    assert found.code == DISAGREES
    assert "disagree" in found.words.headline
    honest = audit(LatentMDP.uniform(table), 8, settings=QUICK)
    assert honest.code is None and honest.verdict is not Verdict.GRID_TOO_COARSE


def test_classic_control_from_a_file_is_graded_and_a_class_of_ones_own_is_not(
    tmp_path: Path,
) -> None:
    car = classic_control("MountainCar-v0", grid={"force": (0.001, 0.002)}, cells=21)
    for name, worlds in (("car", car.simulators), ("wagon", wagons(9).simulators)):
        save_model(LatentMDP.uniform(worlds), tmp_path / f"{name}.simgap")
        loaded = load_model(tmp_path / f"{name}.simgap").simulators
        assert (simulator_of(loaded) is not None) == (name == "car")
    with pytest.raises(InvalidArgument, match="not at hand"):
        refine(load_model(tmp_path / "wagon.simgap"), 4)


def test_a_class_without_a_grid_has_nothing_to_refine() -> None:
    with pytest.raises(InvalidArgument, match="not on a grid"):
        refine(LatentMDP.uniform(riverswim(4, (0.2, 0.5))), 5)
