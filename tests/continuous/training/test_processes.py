"""Trainings in processes of their own: one that dies is started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.errors import SimgapError
from simgap.records.train import Train
from tests.continuous.training import mortal

ROUNDS = 10


def trained(folder: Path, deaths: int, patch: pytest.MonkeyPatch, **more: Any) -> Train:
    """Train a servo of which so many processes die."""
    patch.setenv(mortal.DEATHS, f"{folder / 'deaths'}:{deaths}")
    folder.mkdir()
    return simgap.train(
        f"{mortal.__file__}:servo",
        randomize="gain=0.5..1.5",
        memory="none",
        horizon=20,
        steps=ROUNDS * 8 * 20,
        settings={"rows": 8, "minibatches": 2, "epochs": 1, "units": 8},
        checked=False,
        out=folder / "run",
        **more,
    )


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_and_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, told = [], list[str]()
    for deaths in (0, 1):
        place = tmp_path / str(deaths)
        options = {"seeds": 2, "workers": 2, "progress": told.append}
        found = trained(place, deaths, monkeypatch, **options)
        assert mortal.deaths(place / "deaths") == deaths
        files.append([Path(each.file).read_bytes() for each in found.policies])
    assert files[0] == files[1]
    assert len(files[0]) == 2
    assert any("% of 2 trainings" in line for line in told)


def test_a_training_that_always_kills_its_process_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SimgapError) as error:
        trained(tmp_path / "place", 9, monkeypatch)
    assert error.value.code == "process-died"
    assert mortal.deaths(tmp_path / "place" / "deaths") == 2
