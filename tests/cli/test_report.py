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

FREE = (".certainty", ".provenance", ".left_out")  # their keys are not promised
RIVER = "riverswim?states=3&success=0.3:0.6:2&left_reward=0.4"


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == status
    return capsys.readouterr().out


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
