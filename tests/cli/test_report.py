"""`simgap report`: what the verbs write is what the page draws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simgap.cli.app.main import main
from simgap.report.commands import is_plain_call
from simgap.report.folder import read_folder
from simgap.report.scorecard import top_of
from tests.report.answer_cases import audit, blame, growing_gap, identify, width
from tests.report.explorer_cases import oracle, run, whole_folder

FREE = (".certainty", ".provenance", ".left_out")  # their keys are not promised
RIVER = "riverswim?states=3&success=0.3:0.6:2&left_reward=0.4"


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return capsys.readouterr().out


def test_it_says_where_the_page_is_and_how_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = whole_folder(tmp_path / "records"), tmp_path / "page.html"
    (folder / "gap.json").write_text("{", encoding="utf-8")
    (folder / "diary.json").write_text("{}", encoding="utf-8")
    answer = json.loads(told(capsys, "report", str(folder), "-o", str(page), "--json"))
    assert answer["path"] == str(page)
    assert answer["bytes"] == page.stat().st_size
    assert answer["drawn"] == 5
    assert answer["troubles"][0].startswith("gap.json: it is not a JSON record")
    assert answer["unknown"] == ["diary.json"]
    text = told(capsys, "report", str(folder))
    assert "5 records drawn, 1.6" in text
    assert "not drawn: gap.json" in text
    assert "not known: diary.json" in text
    assert (folder / "report.html").read_bytes() == page.read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere",), "cannot read the folder nowhere"),
        ((".", "-o", "no/such/page.html"), "there is no folder no/such"),
        ((".", "-o", "."), "it is a folder"),
        ((), "missing argument"),
    ],
)
def test_misuse_is_two_lines(
    words: tuple[str, ...],
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_text("{}")  # a record, if a damaged one
    assert main(["report", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert "\nhint: " in err
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_a_folder_without_records_is_misuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "there is no record" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def _same_shape(made: Any, given: Any, where: str = "") -> None:
    """Every field of a record is a field of the case that stands for it in tests."""
    if isinstance(made, dict) and isinstance(given, dict) and where != ".baselines":
        assert set(made) - set(given) <= {"method", "standard_error"}, where
        for key in set(made) & set(given):
            _same_shape(made[key], given[key], f"{where}.{key}")
    elif isinstance(made, list) and isinstance(given, list) and made and given:
        _same_shape(made[0], given[0], where)


def test_records_of_the_verbs_are_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = {
        "oracle": ("oracle", RIVER, "-H", "6"),
        "gap": (
            "gap",
            RIVER,
            "-H",
            "6",
            "--policy",
            "memoryless",
            "--policy",
            "random",
        ),
    }
    for name, words in commands.items():
        record = told(capsys, *words, "--json")
        (tmp_path / f"{name}.json").write_text(record, encoding="utf-8")
    told(
        capsys,
        "run",
        "random",
        RIVER,
        "-H",
        "50",
        "--seeds",
        "3",
        "--out",
        str(tmp_path),
    )
    cases = {
        "oracle": oracle("a", "b"),
        "gap": growing_gap("a", "b"),
        "run-random": run("b", "a"),
    }
    for name, case in cases.items():
        _same_shape(json.loads((tmp_path / f"{name}.json").read_bytes()), case)
    found = read_folder(tmp_path)
    assert found.troubles == ()
    assert found.unknown == ()
    assert [part.template for part in found.parts] == [
        "oracle.html",
        "gap.html",
        "run.html",
    ]
    assert all(part.plots and part.sheets for part in found.parts)
    assert all(part.line.key.value is not None for part in found.parts)
    assert all(part.origin.command.startswith("simgap ") for part in found.parts)
    told(capsys, "report", str(tmp_path))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "success=0.3" in page


def _read(made: Any, given: Any, where: str = "") -> None:
    """Every field that the page reads in its case is a field of the verb's record."""
    if isinstance(made, dict) and isinstance(given, dict):
        missing = set(given) - set(made) - {"method", "standard_error", "guaranteed"}
        if {"lower", "upper"} <= set(made):  # a bracket may stand for an estimate
            missing -= {"estimate", "confidence"}
        assert not missing or where.endswith(FREE), where
        for key in set(made) & set(given):
            _read(made[key], given[key], f"{where}.{key}")
    elif isinstance(made, list) and isinstance(given, list) and made and given:
        _read(made[0], given[0], where)


def test_a_study_is_drawn_and_its_records_are_those_of_the_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "study", RIVER, "-H", "6", "--out", str(tmp_path))
    found = read_folder(tmp_path)
    assert found.troubles == ()
    assert [part.template.removesuffix(".html") for part in found.parts] == [
        "audit",
        "oracle",
        "gap",
        "blame",
        "width",
        "identify",
    ]
    names = ("a", "b")
    cases = {
        "audit": audit(*names),
        "gap": growing_gap(*names),
        "blame": blame(*names),
        "width-success": width(*names),
        "identify": identify(*names),
    }
    for name, case in cases.items():
        _read(json.loads((tmp_path / f"{name}.json").read_bytes()), case, name)
    top = top_of(found.parts)
    assert top is not None
    assert top.verdict is not None
    assert all(score.entries for score in top.scores)
    for part in found.parts:
        assert part.sheets
        assert part.certainties.labels
        assert is_plain_call(part.origin.command)
    assert (tmp_path / "report.html").stat().st_size < 2_000_000
