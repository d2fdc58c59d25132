"""Finer and finer grids, and the same policies in the simulator itself."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap import LatentMDP, audit, load_model, save_model
from simgap.answers.audit import losses
from simgap.answers.audit.losses import Settings, losses_in_steps
from simgap.answers.audit.refine import LadderEnd, finer, remade
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, OutOfTime
from simgap.instances import classic_control
from simgap.instances.classic_control import simulator_of
from simgap.mdp import Axis, Discretisation, Moved, Physics, StateGrid, discretise
from simgap.mdp.physics import Theta
from simgap.records import ON_GRID, Audit


@pytest.fixture(autouse=True)
def _little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "EFFORT", 0.02)


def refined(cells: int) -> Audit:
    found = audit(latent(cells), 8, refine=True)
    assert found.ladder is not None
    return found


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
    found = refined(5)
    ladder = found.ladder
    assert ladder is not None and ladder.outcome == LadderEnd.STANDS_STILL.value
    cells = [rung.cells for rung in ladder.rungs]
    assert cells[0] == (5, 5) and cells[1] == (9, 9)
    states = [rung.states for rung in ladder.rungs]
    assert states == [cell[0] * cell[1] for cell in cells]
    last, before = ladder.rungs[-1], ladder.rungs[-2]
    assert last.verdict == before.verdict == found.verdict
    assert last.noise < 1.0
    assert found.verdict_certainty == ON_GRID
    # the control: further up it stays there
    worlds = remade(wagons(5), finer(wagons(cells[-1][0]).grid)).simulators
    above = losses_in_steps(LatentMDP.uniform(worlds), 8, Settings())
    assert above.verdict == found.verdict
    assert above.average_gap is not None and last.average_gap is not None
    moved = above.average_gap.ends[1] - last.average_gap.ends[1]
    assert abs(moved) < 0.05 * last.at_stake


@pytest.mark.parametrize(
    ("end", "limits"),
    [
        (LadderEnd.OUT_OF_RUNGS, {"MOST_RUNGS": 2, "TOLERANCE": 1e-9}),
        (LadderEnd.OUT_OF_TIME, {"TIME": 1e-9}),
    ],
)
def test_a_ladder_that_is_cut_short_decides_nothing(
    end: LadderEnd, limits: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("simgap.answers.audit.refine")
    for name, limit in limits.items():
        monkeypatch.setattr(module, name, limit)
    found = refined(9)
    assert found.ladder is not None and found.ladder.outcome == end.value
    assert len(found.ladder.rungs) == limits.get("MOST_RUNGS", 1)
    assert found.verdict == "undecided: grid too coarse"
    assert found.verdict_code is not None and found.everywhere is None
    assert found.next[0].endswith("--refine --time-limit 120")


def test_a_ladder_tells_what_each_audit_of_it_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = import_module("simgap.answers.audit.refine")
    given: list[Any] = []

    def noted(*_: Any, progress: Any = None) -> Any:
        given.append(progress)
        raise OutOfTime("no rung yet", hint="")

    def tell(word: str) -> None:
        del word

    monkeypatch.setattr(module, "audited_table", noted)
    with pytest.raises(OutOfTime):
        module.climbed(Stand(latent=latent(9)), 9, Settings(), progress=tell)
    assert given == [tell]


def test_a_table_that_would_be_too_large_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_module("simgap.answers.audit.refine")
    monkeypatch.setattr(module, "LARGEST_LOSSES", 1000.0)
    found = refined(5).ladder
    assert found is not None and len(found.rungs) == 1
    assert found.outcome == LadderEnd.OUT_OF_SIZE.value


def test_an_odd_number_of_nodes_stays_odd_and_grows_by_half() -> None:
    axes = [Axis("a", -1.0, 1.0, n) for n in (2, 3, 7, 10, 41)]
    grown = [finer(StateGrid((axis,))).shape[0] for axis in axes]
    assert grown == [3, 5, 11, 15, 63]


def test_remade_on_its_own_grid_a_table_is_the_same() -> None:
    table = wagons(9)
    assert remade(table, table.grid).simulators.hash == table.simulators.hash


def test_the_same_policies_are_graded_in_the_simulator() -> None:
    """On a fine grid table and simulator agree about all three."""
    found = losses_in_steps(latent(21), 8, Settings())
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
    found = audit(LatentMDP.uniform(replace(table, grid=other)), 8)
    assert found.verdict == "undecided: grid too coarse"
    assert found.verdict_code == "simulator-disagrees"
    honest = audit(LatentMDP.uniform(table), 8)
    assert (
        honest.verdict_code is None and honest.verdict != "undecided: grid too coarse"
    )


def test_classic_control_from_a_file_is_graded_and_a_class_of_ones_own_is_not(
    tmp_path: Path,
) -> None:
    car = classic_control("MountainCar-v0", grid={"force": (0.001, 0.002)}, cells=21)
    for name, worlds in (("car", car.simulators), ("wagon", wagons(9).simulators)):
        save_model(LatentMDP.uniform(worlds), tmp_path / f"{name}.simgap")
        loaded = load_model(tmp_path / f"{name}.simgap").simulators
        assert (simulator_of(loaded) is not None) == (name == "car")
    with pytest.raises(InvalidArgument, match="not at hand"):
        audit(tmp_path / "wagon.simgap", 4, refine=True)


def test_a_class_without_a_grid_has_nothing_to_refine() -> None:
    with pytest.raises(InvalidArgument, match="not on a grid"):
        audit("riverswim?states=4&success=0.2,0.5", 5, refine=True)
