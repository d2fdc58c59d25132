"""A study: every answer in one folder; what is there is kept if it answers the same."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from simgap.answers.study.entry import study
from simgap.errors import InvalidFile
from simgap.ledger import LEDGER
from simgap.records.files import plain
from simgap.records.study import Study

RIVERS = "riverswim?states=3&success=0.2,0.8&left_reward=0.4"
HORIZON = 6


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study."""
    folder = tmp_path_factory.mktemp("study") / "rivers"
    study(RIVERS, HORIZON, out=folder)
    return folder


@pytest.fixture
def done(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to change."""
    return Path(copytree(finished, tmp_path / "copy"))


def rivers(folder: Path, **more: Any) -> Study:
    found: Study = study(RIVERS, HORIZON, out=folder, **more)
    return found


def test_the_keys_of_the_oracle_stand_at_the_top(done: Path) -> None:
    drawn = []
    found = rivers(done, draw=lambda *places: drawn.append(places))
    assert drawn == [(done, done / "report.html")]
    assert found.report == str(done / "report.html")
    assert (found.provenance.model, found.provenance.seed) == (RIVERS, 0)
    assert found.model_file == str(done / "model.simgap")
    record = plain(found)
    assert list(record)[:3] == ["schema", "kind", "verdict"]
    assert record["kind"] == "study"
    for key, each in plain(found.oracle).items():
        assert record[key] == each or key in ("kind", "provenance")
    assert len(repr(found).splitlines()) <= 20


def test_a_damaged_ledger_is_refused(done: Path) -> None:
    path = done / LEDGER
    right = path.read_bytes()
    for wrong in (right[: len(right) // 2], b"no ledger" + right[9:]):
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            rivers(done)
        assert caught.value.code == "damaged-ledger"


def test_a_log_is_a_part_of_the_study(tmp_path: Path) -> None:
    """It is read once, so that a pipe will do."""
    rows = "".join(f"0,{at},1,1,2\n" for at in range(12))
    text = f"episode,step,state,action,next_state\n{rows}"
    rivers(tmp_path / "out", log=BytesIO(text.encode()))
    found = json.loads((tmp_path / "out" / "adapt.json").read_bytes())
    posterior = found["posterior"]
    assert found["transitions"] == 12
    assert posterior[1]["probability"] > 0.99  # the river that goes up
    text += "0,12,1,1,2\n"  # it grows
    rivers(tmp_path / "out", log=BytesIO(text.encode()))
    found = json.loads((tmp_path / "out" / "adapt.json").read_bytes())
    assert found["transitions"] == 13


def test_the_story_is_told_in_certified_numbers(done: Path) -> None:
    found = rivers(done)
    assert found.report is None
    assert [chapter.title for chapter in found.story] == [
        "train on one simulator",
        "randomize, without memory",
        "randomize, with memory",
    ]
    single, unaided, memory = (each.average_gap for each in found.story)
    assert memory.lower <= unaided.upper <= single.upper + 1e-9
    assert {each.certainty for each in found.story} == {"certified"}
