"""A class on a grid: the same policies in the table and in the simulator itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from simgap import LatentMDP, audit, load_model, save_model
from simgap.answers.audit.losses import Settings, losses_in_steps
from simgap.arrays import FloatArray
from simgap.instances import classic_control
from simgap.instances.classic_control import simulator_of
from simgap.mdp import Axis, Discretisation, Moved, Physics, StateGrid, discretise
from simgap.mdp.physics import Theta


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


def wagons(cells: int) -> Discretisation:
    grid = StateGrid((Axis("x", -2.0, 2.0, cells), Axis("v", -1.0, 1.0, cells)))
    return discretise(WAGON, grid, {"push": (-1.0, 1.0)})


def latent(cells: int) -> LatentMDP:
    return LatentMDP.uniform(wagons(cells).simulators)


def test_the_same_policies_are_graded_in_the_simulator() -> None:
    """On a fine grid table and simulator agree about all three."""
    found = losses_in_steps(latent(21), 8, Settings())
    assert len(found.in_simulator) == 3
    for each in found.in_simulator:
        sure = each.simulator.guaranteed
        assert (
            sure and sure.lower <= each.table.upper and each.table.lower <= sure.upper
        )
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
