"""`simgap study`: every record in one folder; what is there is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.verbs.study_brackets import brackets_of_the_oracle

RIVERS = "riverswim?states=3&success=0.2,0.8&left_reward=0.4"
HORIZON = "6"


def study(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> Any:
    capsys.readouterr()
    arguments = ["study", RIVERS, "-H", HORIZON, "--out", str(folder), "--json", *more]
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study."""
    folder = tmp_path_factory.mktemp("study") / "rivers"
    assert main(["study", RIVERS, "-H", HORIZON, "--out", str(folder), "--json"]) == 0
    return folder


def test_the_folder_has_every_record_and_the_page(done: Path) -> None:
    assert sorted(each.name for each in done.iterdir()) == [
        "audit.json",
        "blame.json",
        "gap.json",
        "identify.json",
        "model.simgap",
        "oracle.json",
        "policy.belief.simgap",
        "policy.simgap",
        "report.html",
        "width-success.json",
    ]


def test_a_record_is_what_its_own_command_gives(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command a record names gives the same record, up to the command itself.

    Answers that share the study's plan name the study.
    """
    import shlex

    for name in ("audit", "gap", "blame", "width-success", "identify"):
        kept = json.loads((done / f"{name}.json").read_bytes())
        _, *arguments = shlex.split(kept["provenance"]["command"])
        capsys.readouterr()
        if arguments[0] == "study":
            again_at = arguments[arguments.index("--out") + 1]
            arguments[arguments.index(again_at)] = str(tmp_path)
            assert main(arguments) == 0
            again = json.loads((tmp_path / f"{name}.json").read_bytes())
        else:
            assert main([*arguments, "--json"]) in (0, 1)
            again = json.loads(capsys.readouterr().out)
        for each in (kept, again):
            each["provenance"].pop("command")
        assert again == kept


def one_each(folder: Path) -> dict[str, set[str]]:
    """Return every bracket of three quantities that the records of a folder tell."""
    told: dict[str, set[str]] = {"loss": set(), "memory": set(), "stake": set()}
    for path in folder.glob("*.json"):
        record = json.loads(path.read_bytes())
        found = list(brackets_of_the_oracle(record))
        assert len(found) > 0, path
        told["loss"].update(map(json.dumps, found))
        for key, name in (("value_of_memory", "memory"), ("at_stake", "stake")):
            if record.get(key) is not None:
                told[name].add(json.dumps(record[key]))
    return told


def test_one_quantity_has_one_bracket_in_all_records(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study(done, capsys, "--fresh")
    told = one_each(done)
    assert told["loss"] == {json.dumps(found["average_gap"])}
    assert told["memory"] == {json.dumps(found["value_of_memory"])}
    assert len(told["stake"]) == 1


def test_one_quantity_has_one_bracket_where_planning_leaves_it_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class with too many beliefs to follow: every plan would end elsewhere."""
    lakes = "gym:FrozenLake-v1?success_rate=0.4,0.6,0.9&terminal=restart"
    arguments = ["study", lakes, "-H", "60", "--out", str(tmp_path), "--json"]
    assert main([*arguments, "--time-limit", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    low, high = (found["average_gap"][end] for end in ("lower", "upper"))
    assert high - low > 1e-6
    told = one_each(tmp_path)
    assert told["loss"] == {json.dumps(found["average_gap"])}
    assert told["memory"] == {json.dumps(found["value_of_memory"])}


def test_answers_that_are_there_are_kept(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blame = done / "blame.json"
    marked = json.loads(blame.read_bytes()) | {"headline": "kept as it was"}
    blame.write_text(json.dumps(marked))
    found = study(done, capsys)
    assert "kept as it was" in found["findings"]
    found = study(done, capsys, "--fresh")
    assert "kept as it was" not in found["findings"]


@pytest.mark.parametrize("change", [{"horizon": 7}, {"provenance": {}}, {"schema": 9}])
def test_an_answer_to_another_question_is_made_again(
    change: dict[str, Any], done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blame = done / "blame.json"
    content = json.loads(blame.read_bytes())
    blame.write_text(json.dumps(content | change | {"headline": "of another day"}))
    found = study(done, capsys)
    assert "of another day" not in found["findings"]
    assert json.loads(blame.read_bytes())["horizon"] == 6


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
def test_a_record_that_cannot_be_told_is_made_again(
    name: str, change: dict[str, Any], done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = done / f"{name}.json"
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps(content | change))
    study(done, capsys)
    again = json.loads(path.read_bytes())
    assert again.keys() == content.keys()
    assert all(again[key] != change[key] for key in change if key != "slowest")


def test_a_device_or_a_pipe_is_no_record_to_keep(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device never ends, a pipe never begins: the study answers all the same."""
    copytree(done, tmp_path / "copy")
    blame, identify = (tmp_path / "copy" / f"{e}.json" for e in ("blame", "identify"))
    for each in (blame, identify):
        each.unlink()
    blame.symlink_to("/dev/zero")
    study(tmp_path / "copy", capsys)
    assert blame.is_file() and not blame.is_symlink()
    identify.unlink()
    os.mkfifo(identify)
    arguments = ["study", RIVERS, "-H", HORIZON, "--out", str(tmp_path / "copy")]
    assert main(arguments) == 2
    assert "not a regular file" in capsys.readouterr().err


def test_what_was_interrupted_is_shown_and_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import simgap.cli.verbs.study_parts as parts

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parts, "_identify", stop)
        arguments = ["study", RIVERS, "-H", HORIZON, "--out", str(tmp_path)]
        assert main(arguments) == 130
    assert (tmp_path / "blame.json").exists()
    assert not (tmp_path / "identify.json").exists()
    assert (tmp_path / "report.html").stat().st_size > 10_000
    found = study(tmp_path, capsys)
    assert "identify" in found["records"]


def test_a_seed_is_the_seed_of_every_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a record would name a command that gives another one, and never be kept."""
    study(tmp_path, capsys, "--seed", "5")
    records = [json.loads(each.read_bytes()) for each in tmp_path.glob("*.json")]
    assert {each["provenance"]["seed"] for each in records} == {5}
    before = (tmp_path / "identify.json").stat().st_mtime_ns
    study(tmp_path, capsys, "--seed", "5")
    assert (tmp_path / "identify.json").stat().st_mtime_ns == before


def test_a_parameter_that_does_not_vary_in_reality_has_no_width(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from simgap.instances import riverswim
    from simgap.interop import save_model
    from simgap.mdp import LatentMDP

    rivers = riverswim(3, (0.2, 0.8), left_reward=0.4)
    save_model(LatentMDP(rivers, np.array([0.0, 1.0])), tmp_path / "one.simgap")
    arguments = ["study", str(tmp_path / "one.simgap"), "-H", "3", "--json"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not any(name.startswith("width") for name in found["records"])


def test_a_log_is_a_part_of_the_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    rows = "".join(f"0,{at},1,1,2\n" for at in range(12))
    log.write_text(f"episode,step,state,action,next_state\n{rows}")
    found = study(tmp_path / "out", capsys, "--log", str(log))
    posterior = json.loads((tmp_path / "out" / "adapt.json").read_bytes())["posterior"]
    assert posterior[1]["probability"] > 0.99  # the river that goes up
    assert any("12 real transitions" in line for line in found["findings"])


def test_the_story_is_told_in_certified_numbers(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study(done, capsys)
    titles = [chapter["title"] for chapter in found["story"]]
    assert titles == [
        "train on one simulator",
        "randomize, without memory",
        "randomize, with memory",
    ]
    single, plain, memory = (each["average_gap"] for each in found["story"])
    assert memory["lower"] <= plain["upper"] <= single["upper"] + 1e-9
    assert {each["certainty"] for each in found["story"]} == {"certified"}
