"""A class on a grid knows it: in files, in parts, in what its numbers are called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simgap import LatentMDP, load_model, save_model
from simgap.instances import classic_control
from simgap.mdp import SimulatorClass, class_from_models
from simgap.mdp.grid_origin import GRID_NOISE
from simgap.oracle.part_of_class import part_of_class
from simgap.records.provenance import ON_GRID


def pendulums(cells: int = 9) -> SimulatorClass:
    return classic_control(
        "Pendulum-v1", grid={"mass": (0.6, 1.0, 1.4)}, cells=cells, actions=3
    ).simulators


@pytest.mark.parametrize("ending", ["simgap", "npz"])
def test_a_file_keeps_the_grid(ending: str, tmp_path: Path) -> None:
    worlds = classic_control(
        "MountainCar-v0", grid={"gravity": (0.002, 0.003)}, cells=31
    ).simulators
    save_model(LatentMDP.uniform(worlds), tmp_path / f"car.{ending}")
    found = load_model(tmp_path / f"car.{ending}").simulators
    assert found.certified == ON_GRID
    assert found.grid is not None and worlds.grid is not None
    assert found.hash == worlds.hash
    assert found.grid.grid == worlds.grid.grid
    assert found.grid.noise == worlds.grid.noise
    assert dict(found.grid.fixed) == dict(worlds.grid.fixed)
    assert np.array_equal(found.grid.state_of_node, worlds.grid.state_of_node)
    assert (found.grid.ends, found.grid.restart, found.grid.end) == (
        True,
        True,
        worlds.n_states - 1,
    )


def test_parts_of_a_class_keep_the_grid() -> None:
    worlds = pendulums()
    some = class_from_models([worlds[2], worlds[0]])
    part = part_of_class(worlds, np.array([1]))
    for each in (some, part, worlds.renamed(("a", "b", "c")), worlds[1].as_class()):
        assert each.certified == ON_GRID
        assert each.grid is worlds.grid


def test_a_file_from_before_grids_were_kept_is_known_by_its_notes() -> None:
    old = replace(pendulums(), grid=None)
    assert old.certified == ON_GRID
    plain = replace(
        old, notes=tuple(n for n in old.notes if not n.startswith(GRID_NOISE))
    )
    assert plain.certified == "certified"


def test_noise_is_that_of_a_step_and_a_grid_may_be_too_coarse() -> None:
    coarse, fine = pendulums(9).grid, pendulums(41).grid
    assert coarse is not None and fine is not None
    assert coarse.too_coarse and not fine.too_coarse
    spread, motion = coarse.one_step.spread, coarse.one_step.motion
    assert coarse.noise["angle"] == pytest.approx(spread[0] / motion[0])
    assert max(fine.noise.values()) < 0.5
