"""A study: every answer in one folder; what is there is kept if it answers the same."""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from simgap.answers import NamedModel, study
from simgap.errors import InvalidFile
from simgap.instances import riverswim
from simgap.ledger import LEDGER
from simgap.mdp import LatentMDP
from simgap.records import Study, plain

RIVERS = "riverswim?states=3&success=0.2,0.8&left_reward=0.4"
HORIZON = 6
HOME: Any = import_module("simgap.answers.study.study")
RIGHT = {name: getattr(HOME, name) for name in ("blame", "width", "identify")}


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


def changed(path: Path, change: dict[str, Any]) -> dict[str, Any]:
    """Change a record on disk; return it as it was."""
    content: dict[str, Any] = json.loads(path.read_bytes())
    path.write_text(json.dumps(content | change))
    return content


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


EDITS: dict[str, list[tuple[str, Any]]] = {
    "audit": [("verdict", "no"), ("headline", "All is lost."), ("horizon", 7)],
    "oracle": [("outcome", "perfect"), ("worst_gap", 0.0), ("upper", 9.0)],
    "gap": [("horizon", 60), ("notes", [{"code": "x", "text": "y"}]), ("schema", 9)],
    "blame": [
        ("headline", "Somebody else did it."),
        ("whole", {"lower": 0.0, "upper": 1.0}),
        ("provenance", {}),
    ],
    "width-success": [
        ("reason", "Because."),
        ("param", None),
        ("least_possible", None),
    ],
    "identify": [("pairs", []), ("slowest", 10**19), ("error", 0.5)],
}


def test_a_damaged_ledger_is_refused(done: Path) -> None:
    path = done / LEDGER
    right = path.read_bytes()
    for place in range(0, len(right), len(right) // 20):
        wrong = bytearray(right)
        wrong[place] ^= 2
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            rivers(done)
        assert caught.value.code == "damaged-ledger"


def test_a_seed_is_the_seed_of_every_record(tmp_path: Path) -> None:
    """Else a record would name a command that gives another one, and never be kept."""
    rivers(tmp_path, seed=5)
    records = [json.loads(each.read_bytes()) for each in tmp_path.glob("*.json")]
    assert {each["provenance"]["seed"] for each in records} == {5}
    before = (tmp_path / "identify.json").stat().st_mtime_ns
    rivers(tmp_path, seed=5)
    assert (tmp_path / "identify.json").stat().st_mtime_ns == before


def test_a_parameter_that_does_not_vary_in_reality_has_no_width(tmp_path: Path) -> None:
    worlds = riverswim(3, (0.2, 0.8), left_reward=0.4)
    latent = LatentMDP(worlds, np.array([0.0, 1.0]))
    found = study(NamedModel(latent), 3, out=tmp_path)
    assert not any(name.startswith("width") for name in found.records)
    gap = json.loads((tmp_path / "gap.json").read_bytes())
    assert gap["provenance"]["command"] == ""  # no command names a class of Python


def test_a_log_is_a_part_of_the_study(tmp_path: Path) -> None:
    """It is read once, so that a pipe will do."""
    rows = "".join(f"0,{at},1,1,2\n" for at in range(12))
    text = f"episode,step,state,action,next_state\n{rows}"
    found = rivers(tmp_path / "out", log=BytesIO(text.encode()))
    posterior = json.loads((tmp_path / "out" / "adapt.json").read_bytes())["posterior"]
    assert posterior[1]["probability"] > 0.99  # the river that goes up
    assert any("12 real transitions" in line for line in found.findings)
    text += "0,12,1,1,2\n"  # it grows
    found = rivers(tmp_path / "out", log=BytesIO(text.encode()))
    assert any("13 real transitions" in line for line in found.findings)


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
