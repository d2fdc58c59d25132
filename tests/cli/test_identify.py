"""`simgap identify`: the record, the words, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main

RIVERS = "riverswim?states=3&success=0.3,0.4,0.8"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["identify", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert all(line.endswith(" ...") for line in err.splitlines())
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def human(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["identify", *arguments]) == 0
    return capsys.readouterr().out


def test_the_keys_of_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, RIVERS, "-H", "6")
    assert list(found) == [
        "schema", "kind", "horizon", "error", "names", "pairs", "slowest", "timeline",
        "certainty", "notes", "provenance",
    ]  # fmt: skip
    assert (found["schema"], found["kind"], found["horizon"]) == (1, "identify", 6)
    assert found["error"] == 0.05
    assert len(found["names"]) == len(found["pairs"]) == 3
    for pair in found["pairs"]:
        assert pair["first_name"] == found["names"][pair["first"]]
        assert pair["second_name"] == found["names"][pair["second"]]
        steps = pair["steps"]
        assert isinstance(steps["lower"], int)
        assert isinstance(steps["upper"], int)
        assert 0 < steps["lower"] <= steps["upper"]
        assert isinstance(pair["visits"], int)
        assert pair["visits"] <= steps["upper"]
        assert 0.0 < pair["distance"] <= 2.0
        assert pair["action_name"] == "right"
    slowest = found["pairs"][found["slowest"]]
    assert (slowest["first"], slowest["second"]) == (0, 1)
    timeline = found["timeline"]
    assert timeline["steps"] == list(range(7))
    assert [each["name"] for each in timeline["models"]] == found["names"]
    for each in timeline["models"]:
        assert len(each["posterior"]) == 7
        for told in each["posterior"]:
            assert told["lower"] <= told["estimate"] <= told["upper"]
            assert told["confidence"] == 0.95
    assert found["certainty"] == {
        "steps": "certified",
        "distance": "certified",
        "visits": "exact",
        "timeline": "certified",
        "average_gap": "certified",
    }
    assert found["provenance"]["seed"] == 0


def test_without_a_horizon_there_are_pairs_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, RIVERS, "--error", "0.2")
    assert (found["horizon"], found["timeline"], found["error"]) == (None, None, 0.2)
    assert "timeline" not in found["certainty"]
    patient = answer(capsys, RIVERS, "--error", "0.01")
    for one, other in zip(found["pairs"], patient["pairs"], strict=True):
        assert one["steps"]["upper"] < other["steps"]["upper"]


def test_a_seed_gives_the_same_bytes_and_out_keeps_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    long = "riverswim?states=6&success=0.2:0.5:4"
    arguments = (long, "-H", "100", "--seed", "3", "--episodes", "200")
    kept = []
    for _ in range(2):
        found = answer(capsys, *arguments, "--out", str(tmp_path))
        kept.append((tmp_path / "identify.json").read_bytes())
        assert found == json.loads(kept[-1])
    assert kept[0] == kept[1]
    assert found["certainty"]["timeline"] == "estimated"
    assert found["timeline"]["episodes"] == 200


def test_people_read_the_hardest_pair_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # rows in one line
    told = human(capsys, RIVERS, "-H", "6")
    lines = told.splitlines()
    table = [line.split() for line in lines if "action right" in line]
    assert table[0][:2] == ["0.3", "0.4"]
    assert "hardest: success=0.3 and success=0.4" in told
    assert "after 6 steps the oracle gives the real model between" in told
    assert "note: states are seen, rewards are not" in told


def test_people_read_that_the_oracle_never_looks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = human(capsys, RIVERS.replace("0.8", "0.5") + "&left_reward=0.95", "-H", "6")
    assert "note: the oracle never looks: finding out does not pay in 6 steps" in told


def test_models_never_told_apart_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "equal.npz"
    kernel = np.full((2, 2, 1, 2), 0.5)
    names = np.array(["\x1b[31mred", "[bold]loud"])
    np.savez(path, transitions=kernel, rewards=np.eye(2)[:, :1], model_names=names)
    told = human(capsys, str(path))
    assert "can never be told apart" in told
    assert "\x1b" not in told
    assert "[bold]loud" in told
    pair = answer(capsys, str(path))["pairs"][0]
    assert pair["steps"] == {"lower": "inf", "upper": "inf"}
    assert (pair["state"], pair["state_name"], pair["visits"]) == (None, None, None)


def test_one_model_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "one model" in human(capsys, "riverswim?states=3&success=0.3")


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        (("--error", "0.5"), "--error is 0.5", "below 0.5"),
        (("--error", "0"), "--error is 0", "above 0"),
        (("--error", "few"), "'few'", "0.05"),
        (("-H", "0"), "horizon -H is 0", "1 or more"),
        (("-H", "soon"), "'soon'", "200"),
        (("-H", "5", "--episodes", "1"), "--episodes is 1", "2 or more"),
        (("-H", "5", "--time-limit", "0"), "--time-limit is 0", "seconds"),
        (("-H", "5", "--gap-tolerance", "2"), "--gap-tolerance is 2", "below 1"),
        (("--seed", "-1"), "--seed is -1", "0 or more"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    problem: str,
    hint: str,
) -> None:
    capsys.readouterr()
    assert main(["identify", RIVERS, *arguments]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert out == ""
    assert first.startswith("error: ")
    assert problem in first
    assert second.startswith("hint: ")
    assert hint in second
