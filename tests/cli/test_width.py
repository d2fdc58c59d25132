"""`simgap width`: keys of the record, units, files, words, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simgap.answers import width
from simgap.cli.app.main import main
from simgap.cli.verbs.width import print_answer
from simgap.instances import catalogue
from simgap.interop import save_model
from simgap.mdp import LatentMDP, Parameters
from simgap.records import Width, plain, width_file
from tests.cli.test_contract import answer, human
from tests.note_codes import codes

RIVERS = "riverswim?states=4&success=0.05:0.85:5&left_reward=0.4"
KEYS = {"schema", "kind", "param", "horizon", "nominal", "real", "widths"} | {
    "recommended", "reason", "criterion", "slack", "at_stake", "rounding",
    "recommended_average",
    "recommended_worst", "least_possible", "certainty", "notes", "provenance",
}  # fmt: skip
ROW = {"width", "low", "high", "models", "gap", "worst", "worst_model", "inside"} | {
    "outside", "gaps", "at_nominal", "beyond", "surprising", "outcome",
}  # fmt: skip


def ends(bounds: dict[str, float]) -> tuple[float, float]:
    assert set(bounds) == {"lower", "upper"}
    assert 0.0 <= bounds["lower"] <= bounds["upper"]
    return bounds["lower"], bounds["upper"]


def test_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "width", RIVERS, "-H", "30", "--param", "success")
    assert set(found) == KEYS
    assert list(found)[:2] == ["schema", "kind"]
    assert (found["kind"], found["param"], found["horizon"]) == ("width", "success", 30)
    assert found["nominal"] == 0.45
    assert [each["value"] for each in found["real"]] == [0.05, 0.25, 0.45, 0.65, 0.85]
    prior = np.array([each["prior"] for each in found["real"]])
    assert [each["width"] for each in found["widths"]] == [0.0, 0.4, 0.8]
    for row in found["widths"]:
        assert set(row) == ROW
        gaps = np.array(row["gaps"])
        lower, upper = ends(row["gap"])
        assert lower - 1e-12 <= prior @ gaps <= upper + 1e-12
        assert ends(row["worst"])[1] >= gaps.max() - 1e-12
        names = [each["name"] for each in found["real"]]
        assert gaps[names.index(row["worst_model"])] == gaps.max()
        inside = [row["low"] - 1e-9 <= e["value"] <= row["high"] + 1e-9
                  for e in found["real"]]  # fmt: skip
        assert row["models"] == sum(inside)
        ends(row["inside"])
        if row["outside"] is None:
            assert all(inside)
        else:
            assert np.mean(gaps[~np.array(inside)]) == pytest.approx(
                ends(row["outside"])[1]
            )
    assert found["recommended"] in [each["width"] for each in found["widths"]]
    assert set(found["certainty"].values()) <= {"exact", "certified", "estimated"}
    assert found["provenance"]["command"].startswith("simgap width ")


def test_the_same_command_writes_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["width", RIVERS, "-H", "30", "--out"]
    texts = []
    for folder in ("one", "two"):
        assert main([*command, str(tmp_path / folder)]) == 0
        path = tmp_path / folder / "width-success.json"
        texts.append(path.read_text().replace(str(tmp_path / folder), ""))
    capsys.readouterr()
    assert texts[0] == texts[1]
    assert "seconds" not in json.loads(texts[0])


def test_the_table_marks_the_recommended_range(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "width", RIVERS, "-H", "30")
    text = human(capsys, "width", RIVERS, "-H", "30")
    marked = [line for line in text.splitlines() if line.strip().startswith("> ")]
    row = next(e for e in found["widths"] if e["width"] == found["recommended"])
    assert f"{row['low']:.4g} to {row['high']:.4g}" in marked[0]
    assert "####" in text
    assert "if reality lies outside the range" in text
    assert found["reason"] in _unwrapped(text)
    assert all(note["text"] in _unwrapped(text) for note in found["notes"])


def _unwrapped(text: str) -> str:
    return " ".join(text.split())


def in_units(latent: LatentMDP, offset: float, factor: float) -> LatentMDP:
    rewards = offset + factor * latent.simulators.rewards
    return LatentMDP(replace(latent.simulators, rewards=rewards), latent.prior)


def asked(latent: LatentMDP) -> Width:
    return width(latent, 10, "success")


def test_losses_are_in_the_units_of_the_user() -> None:
    """Rewards moved and scaled: losses scale, the choice stays."""
    latent = LatentMDP.uniform(catalogue.build_instance(RIVERS))
    one, other = asked(latent), asked(in_units(latent, -7.0, 100.0))
    assert other.recommended == one.recommended
    assert other.at_stake == pytest.approx(100.0 * one.at_stake)
    for row, scaled in zip(one.widths, other.widths, strict=True):
        assert scaled.gaps == pytest.approx([100.0 * gap for gap in row.gaps])
        assert scaled.gap.upper == pytest.approx(100.0 * row.gap.upper)
        noise = 1e-12 * other.at_stake  # an end has rounding in it, and that is moved
        assert scaled.inside.upper == pytest.approx(100.0 * row.inside.upper, abs=noise)


def test_the_reason_says_what_others_lose(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "width", RIVERS, "-H", "30", "--slack", "0")
    rows = found["widths"]
    chosen = next(e for e in rows if e["width"] == found["recommended"])
    assert f" {chosen['gap']['upper']:.4g} " in found["reason"]
    narrower = [e["gap"]["upper"] for e in rows if e["width"] < chosen["width"]]
    assert narrower
    assert f"{min(narrower):.4g}" in found["reason"]
    wide = answer(capsys, "width", RIVERS, "-H", "30", "--slack", "1")
    assert wide["recommended"] == 0.0
    least = wide["least_possible"]["lower"]
    said = float(wide["reason"].split("no policy loses less than ")[1].split()[0])
    assert 0.999 * least <= said <= least  # rounded towards the safe side
    gain = wide["reason"].split("gain at most ")[1].split(":")[0]
    assert float(gain) >= wide["widths"][0]["gap"]["upper"] - least


def test_the_worst_model_may_ask_for_another_width(
    capsys: pytest.CaptureFixture[str],
) -> None:
    common = ["width", RIVERS, "-H", "30", "--slack", "0.05"]
    average = answer(capsys, *common)
    worst = answer(capsys, *common, "--criterion", "worst")
    assert worst["recommended"] == average["recommended_worst"]
    assert average["recommended"] == worst["recommended_average"]
    assert ("By the worst model" in average["reason"]) == (
        average["recommended"] != worst["recommended"]
    )


def test_ranges_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(
        capsys, "width", RIVERS, "-H", "6", "--nominal", "0.3", "--widths", "0.2,0.8"
    )
    assert [each["width"] for each in found["widths"]] == [0.2, 0.8]
    assert [each["models"] for each in found["widths"]] == [1, 4]
    assert found["least_possible"] is None  # not all models were a range
    assert "no-nominal-model" in codes(found)


def test_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    rivers = "riverswim?states=4&success=0.3:0.7:3"
    found = answer(capsys, "width", rivers, "-H", "20", "--param", "success")
    assert all({"width", "gap"} <= set(each) for each in found["widths"])
    assert isinstance(found["recommended"], float)


def test_nothing_at_stake_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    latent = LatentMDP.uniform(catalogue.build_instance(RIVERS))
    flat = replace(latent.simulators, rewards=np.full((1, 4, 2), 0.25))
    found = asked(LatentMDP(flat, latent.prior))
    assert found.recommended == 0.0
    assert "%" not in found.reason
    print_answer(found)
    assert "%" not in capsys.readouterr().out


def test_names_of_strangers_are_harmless(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    latent = LatentMDP.uniform(catalogue.build_instance(RIVERS))
    evil = "../\x1b[31mx/[bold]y"
    theta = Parameters((evil,), np.array(latent.simulators.theta.values))
    worlds = replace(latent.simulators, parameters=theta)
    path = tmp_path / "evil.simgap"
    save_model(LatentMDP(worlds, latent.prior), path)
    assert main(["width", str(path), "-H", "4", "--out", str(tmp_path / "out")]) == 0
    assert "\x1b" not in capsys.readouterr().out
    (written,) = (tmp_path / "out").iterdir()
    assert written.name == f"{width_file(evil)}.json"
    assert json.loads(written.read_text())["param"] == evil
    assert width_file("a/b") != width_file("a_b") != width_file("a b")


def test_everything_of_the_record_is_plain() -> None:
    latent = LatentMDP.uniform(catalogue.build_instance(RIVERS))
    found = plain(asked(latent))
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        ((RIVERS,), "no horizon", "-H 200"),
        ((RIVERS, "-H", "0"), "-H is 0", "1 or more"),
        (
            (RIVERS, "-H", "5", "--param", "sucess"),
            "'sucess'",
            "did you mean success",
        ),
        (("absorbing_doors", "-H", "5"), "no parameters", "success=0.2:0.5:4"),
        (("riverswim?success=0.3", "-H", "5"), "no parameter is given", "make a class"),
        (
            ("riverswim?success=0.3", "-H", "5", "--param", "success"),
            "is 0.3 in every model",
            "several values",
        ),
        ((RIVERS, "-H", "5", "--widths", "0,x"), "'x', not a number", "0,0.2,0.4"),
        ((RIVERS, "-H", "5", "--widths", "-1"), "width -1", "0 or more"),
        ((RIVERS, "-H", "5", "--widths", ",".join("1" * 61)), "61 widths", "fewer"),
        ((RIVERS, "-H", "5", "--nominal", "nan"), "--nominal", "number"),
        (
            (RIVERS, "-H", "5", "--nominal", "9", "--widths", "1"),
            "no model that may be real is within 0.5",
            "width of 16.3 or more",
        ),
        ((RIVERS, "-H", "5", "--criterion", "mean"), "'mean'", "average"),
        ((RIVERS, "-H", "5", "--slack", "2"), "slack is 2", "from 0 to 1"),
        ((RIVERS, "-H", "5", "--slack", "few"), "--slack", "0.003"),
        ((RIVERS, "-H", "5", "--time-limit", "0"), "--time-limit", "seconds"),
        ((RIVERS, "-H", "5", "--gap-tolerance", "1"), "--gap-tolerance", "0.05"),
        ((RIVERS, "-H", "5", "--seed", "x"), "--seed", "whole number"),
        ((RIVERS, "-H", "5", "--out", "/dev/null/x"), "folder", "--out"),
    ],
)
def test_bad_input_gets_a_problem_and_a_way_out(
    arguments: tuple[str, ...],
    problem: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    assert main(["width", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first.startswith("error: ")
    assert problem in first
    assert second.startswith("hint: ")
    assert hint in second
