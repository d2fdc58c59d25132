"""A study: every answer in one folder; what is there is kept if it answers the same."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from simgap.answers import NamedModel, study
from simgap.instances import riverswim
from simgap.mdp import LatentMDP
from simgap.records import Study, plain

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


def changed(path: Path, change: dict[str, Any]) -> dict[str, Any]:
    """Change a record on disk; return it as it was."""
    content: dict[str, Any] = json.loads(path.read_bytes())
    path.write_text(json.dumps(content | change))
    return content


def test_the_keys_of_the_oracle_stand_at_the_top(done: Path) -> None:
    drawn = []
    found = rivers(done, draw=lambda *places: drawn.append(places))
    assert drawn == [(done, done / "report.html")]
    record = plain(found)
    assert list(record)[:3] == ["schema", "kind", "verdict"]
    assert record["kind"] == "study"
    for key, each in plain(found.oracle).items():
        assert record[key] == each or key in ("kind", "provenance")
    assert len(repr(found).splitlines()) <= 20


def test_answers_that_are_there_are_kept(done: Path) -> None:
    changed(done / "blame.json", {"headline": "kept as it was"})
    assert "kept as it was" in rivers(done).findings
    assert "kept as it was" not in rivers(done, fresh=True).findings


@pytest.mark.parametrize("change", [{"horizon": 7}, {"provenance": {}}, {"schema": 9}])
def test_an_answer_to_another_question_is_made_again(
    change: dict[str, Any], done: Path
) -> None:
    blame = done / "blame.json"
    changed(blame, change | {"headline": "of another day"})
    assert "of another day" not in rivers(done).findings
    assert json.loads(blame.read_bytes())["horizon"] == HORIZON


def test_an_answer_with_another_bracket_is_made_again(done: Path) -> None:
    whole = {"whole": {"lower": 0.0, "upper": 1.0}}
    before = changed(done / "blame.json", whole)
    rivers(done)
    assert json.loads((done / "blame.json").read_bytes())["whole"] == before["whole"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("blame", {"headline": ["of another kind"]}),
        ("identify", {"pairs": []}),
        ("identify", {"slowest": 10**19}),
        ("identify", {"slowest": 0, "error": "x"}),
        ("width-success", {"param": None, "reason": {}}),
    ],
)
def test_a_damaged_record_is_made_again(
    name: str, change: dict[str, Any], done: Path
) -> None:
    path = done / f"{name}.json"
    content = changed(path, change)
    rivers(done)
    again = json.loads(path.read_bytes())
    assert again.keys() == content.keys()
    assert all(again[key] != change[key] for key in change if key != "slowest")


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
    log = tmp_path / "log.csv"
    rows = "".join(f"0,{at},1,1,2\n" for at in range(12))
    log.write_text(f"episode,step,state,action,next_state\n{rows}")
    found = rivers(tmp_path / "out", log=log)
    posterior = json.loads((tmp_path / "out" / "adapt.json").read_bytes())["posterior"]
    assert posterior[1]["probability"] > 0.99  # the river that goes up
    assert any("12 real transitions" in line for line in found.findings)


def test_the_story_is_told_in_certified_numbers(done: Path) -> None:
    found = rivers(done)
    assert [chapter.title for chapter in found.story] == [
        "train on one simulator",
        "randomize, without memory",
        "randomize, with memory",
    ]
    single, unaided, memory = (each.average_gap for each in found.story)
    assert memory.lower <= unaided.upper <= single.upper + 1e-9
    assert {each.certainty for each in found.story} == {"certified"}
