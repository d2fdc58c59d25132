"""`simgap audit`: the record, the words, the exit status, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.records import read_object
from tests.note_codes import codes

RIVER = "riverswim?states=4&success=0.3:0.7:3"
DOORS = "absorbing_doors?members=3"

KEYS = {
    "schema", "kind", "horizon", "models", "states", "actions", "communicating",
    "diameter", "separation", "verdict", "headline", "reason", "verdict_certainty",
    "acceptable", "findings", "theorem", "average_gap", "at_stake", "relative_gap",
    "worst", "memoryless_gap", "value_of_memory", "next", "certainty", "notes",
    "provenance",
}  # fmt: skip


def answer(
    capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["audit", *arguments, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_record_has_its_keys_with_a_horizon_and_without(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for found in (answer(capsys, RIVER, "-H", "8"), answer(capsys, RIVER)):
        assert set(found) >= KEYS
        assert list(found)[:2] == ["schema", "kind"]
        assert list(found)[-3:] == ["certainty", "notes", "provenance"]
        assert found["kind"] == "audit" and found["communicating"] is True
        apart = found["separation"]
        assert apart["pair"] == [0, 1] and apart["value"] == pytest.approx(0.4)
        assert apart["pair_names"] == ["success=0.3", "success=0.5"]
        assert set(apart["steps"]) == {"lower", "upper"}
        for each in found["findings"]:
            assert each["status"] in ("ok", "info", "warning", "fail")
            assert each["check"] and each["code"] and each["text"]
        assert "second" not in json.dumps(list(found))  # no timings


def test_with_a_horizon_the_losses_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, RIVER, "-H", "8")
    assert found["verdict"] == "yes" and found["verdict_certainty"] == "certified"
    gap, part = found["average_gap"], found["relative_gap"]
    assert 0.0 <= gap["lower"] <= gap["upper"] <= found["at_stake"]
    assert part["upper"] == pytest.approx(gap["upper"] / found["at_stake"])
    assert set(found["worst"]) == {"name", "gap", "relative"}
    assert set(found["theorem"]) == {"name", "bound", "vacuous", "non_vacuous_from"}
    assert found["theorem"]["vacuous"] is True


def test_without_a_horizon_there_are_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, RIVER)
    assert found["verdict"] == "in the long run"
    assert found["verdict_certainty"] == "exact"
    for key in ("average_gap", "at_stake", "relative_gap", "worst", "theorem"):
        assert found[key] is None
    assert found["next"] == [f"simgap audit '{RIVER}' -H 200"]


def test_the_exit_status_is_1_for_no_and_for_not_promised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    no = answer(capsys, DOORS, "-H", "8", status=1)
    assert no["verdict"] == "no" and no["passed"] is False
    assert no["diameter"] == {"lower": "inf", "upper": "inf"}
    assert {each["status"] for each in no["findings"]} <= {"ok", "info", "warning"}
    never = answer(capsys, DOORS, status=1)
    assert never["verdict"] == "not promised"
    assert "fail" in {each["status"] for each in never["findings"]}
    patient = answer(capsys, DOORS, "-H", "2", "--acceptable", "0.9")
    assert patient["verdict"] == "yes"  # no door pays within two steps


def test_the_same_seed_gives_the_same_bytes_and_the_record_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = []
    for _ in range(2):
        capsys.readouterr()
        command = ["audit", RIVER, "-H", "6", "--seed", "3", "--json"]
        assert main([*command, "--out", str(tmp_path / "run")]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert read_object(tmp_path / "run" / "audit.json") == json.loads(outputs[0])


def test_numbers_are_in_the_units_of_the_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.zeros((2, 2, 2, 2))
    for m, chance in enumerate((0.1, 0.9)):
        kernel[m, :, 0] = (1.0 - chance, chance)
        kernel[m, :, 1] = 0.5
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    plain, scaled = tmp_path / "plain.npz", tmp_path / "scaled.npz"
    np.savez(plain, transitions=kernel, rewards=rewards)
    np.savez(
        scaled,
        transitions=kernel,
        rewards=rewards,
        reward_offset=-3.0,
        reward_factor=20.0,
    )
    first, second = (
        answer(capsys, str(path), "-H", "5", status=1) for path in (plain, scaled)
    )
    for key in ("verdict", "headline", "reason"):
        assert first[key] == second[key]
    assert second["relative_gap"] == pytest.approx(first["relative_gap"])
    assert second["at_stake"] == pytest.approx(20.0 * first["at_stake"])
    for end in ("lower", "upper"):
        for key in ("average_gap", "memoryless_gap", "value_of_memory"):
            assert second[key][end] == pytest.approx(20.0 * first[key][end])
    assert second["worst"]["gap"] == pytest.approx(20.0 * first["worst"]["gap"])
    assert second["theorem"]["bound"] == pytest.approx(20.0 * first["theorem"]["bound"])
    (rewards,) = (each for each in second["findings"] if each["check"] == "rewards")
    assert rewards["value"] == 20.0


def test_people_get_a_table_a_verdict_and_what_to_do_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    assert main(["audit", RIVER, "-H", "8"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "\x1b" not in out
    assert "Will it transfer?  yes (certified)" in out
    for words in ("communicating", "separation", "at stake", "without memory"):
        assert words in out
    assert f"next: simgap width '{RIVER}' -H 8 --param success" in out
    assert main(["audit", DOORS]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_strange_names_do_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.zeros((2, 2, 1, 2))
    kernel[:, 0, 0, 1] = kernel[:, 1, 0, 1] = 1.0
    np.savez(
        path := tmp_path / "odd.npz",
        transitions=kernel,
        rewards=np.arange(4.0).reshape(2, 2, 1),
        model_names=["\x1b[31mred", "[bold]<script>"],
        state_names=["a\u202eb", "trap\x07"],
    )
    capsys.readouterr()
    assert main(["audit", str(path), "-H", "3"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
    assert "[bold]<script>" in out  # shown, not obeyed


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        ([RIVER, "-H", "0"], "horizon -H is 0", "1 or more"),
        ([RIVER, "-H", "soon"], "'soon'", "200 or 1e6"),
        ([RIVER, "--acceptable", "0"], "--acceptable is 0", "above 0 and below 1"),
        ([RIVER, "--acceptable", "1.5"], "--acceptable is 1.5", "such as 0.1"),
        ([RIVER, "--acceptable", "some"], "'some'", "such as 0.1"),
        ([RIVER, "--time-limit", "-1"], "--time-limit is -1", "seconds above 0"),
        ([RIVER, "--seed", "x"], "--seed", "whole number"),
        (["riverswm"], "riverswm", "riverswim"),
        ([RIVER, "--out", "/dev/null/x"], "cannot make the folder", "--out DIR"),
    ],
)
def test_bad_input_is_answered_with_a_way_out(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str, hint: str
) -> None:
    capsys.readouterr()
    assert main(["audit", *arguments]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert out == ""
    assert first.startswith("error:") and problem in first
    assert second.startswith("hint:") and hint in second


@pytest.mark.slow
def test_a_thousand_models_are_audited_in_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "riverswim?states=4&success=0.2:0.6:1000", "-H", "20")
    assert found["models"] == 1000 and found["outcome"] is not None
    (planned,) = (each for each in found["findings"] if each["check"] == "planning")
    assert (planned["code"], planned["value"]) == ("in-part", 40)
    assert "by-counting" in codes(found)


def test_the_help_has_an_example_that_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from shlex import split

    capsys.readouterr()
    assert main(["audit", "--help"]) == 0
    text = capsys.readouterr().out
    (line,) = [each for each in text.splitlines() if "Example: simgap" in each]
    assert main(split(line.split("simgap ", 1)[1])) == 0
