"""`simgap width SIMULATOR --randomize SPEC`: the record, the words, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.cli.app.main import main
from simgap.cli.verbs.width import print_answer
from simgap.records import WidthRun, read_record
from tests.cli.test_contract import answer

HEADING = ("width", "heading", "--randomize", "mounting_angle=-3..3")
FEW = ("--widths", "0,1", "--memory", "none", "--steps", "5120", "--seeds", "1")
SHORT = ("-H", "5", "--design", "sobol:8", "--episodes", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    assert main([*HEADING, *FEW, *SHORT, "--out", str(out)]) == 0
    return out


def test_the_record_is_kept_and_made_again_without_training(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, *HEADING, *FEW, *SHORT, "--out", str(folder))
    assert (found["kind"], found["horizon"], found["steps"]) == ("width_run", 5, 5120)
    assert [each["width"] for each in found["widths"]] == [0.0, 1.0]
    assert found["training_steps"] == 3 * 2560
    kept = json.loads((folder / "width_run.json").read_text())
    assert kept["widths"] == found["widths"]
    assert len(list(folder.glob("width-*/seed-0.onnx"))) == 2


def test_a_reader_sees_every_width_and_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = read_record(folder / "width_run.json", WidthRun)
    print_answer(record)
    text = capsys.readouterr().out
    assert record.reason.split(".")[0] in " ".join(text.split())
    assert all(each.verdict in text for each in record.widths)


def test_the_page_has_a_part_of_it(folder: Path) -> None:
    assert main(["report", str(folder), "-o", str(folder / "page.html")]) == 0
    page = (folder / "page.html").read_text()
    assert "What training on a part of the ranges gets" in page
    assert "What every width gets less than the best one" in page


@pytest.mark.parametrize(
    "words",
    [
        (*HEADING, "--param", "mounting_angle"),
        (*HEADING, "--criterion", "worst"),
        (*HEADING, "--nominal", "0"),
        (*HEADING, "--time-limit", "5"),
        (*HEADING, "--widths", "0,2"),
        (*HEADING, "--widths", "1"),
        (*HEADING, "--steps", "100"),
        (*HEADING, "--slack", "2"),
        ("width", "riverswim?success=0.1:0.6:3", "-H", "20", "--seeds", "3"),
        ("width", "riverswim?success=0.1:0.6:3", "-H", "20", "--beyond", "2"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "hint" in capsys.readouterr().err
