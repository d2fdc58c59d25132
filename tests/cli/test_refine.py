"""`--refine`: the ladder in the record, on the terminal and on the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.answers.audit.refine import LadderEnd
from simgap.cli.app.main import main
from simgap.records import ON_GRID

PENDULUM = "discretise:Pendulum-v1?mass=0.6,1.4&cells=7x7&actions=2"
ASKED = ["audit", PENDULUM, "-H", "6", "--refine", "--time-limit", "3"]


def test_the_record_and_the_page_have_the_ladder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, "--out", str(tmp_path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    ladder = record["ladder"]
    assert ladder["outcome"] in {end.value for end in LadderEnd}
    assert len(ladder["rungs"]) > 1
    first, second = ladder["rungs"][:2]
    assert first["cells"] == [7, 7] and second["cells"] == [11, 11]
    assert first["states"] < second["states"] and first["noise"] > second["noise"]
    assert record["states"] == ladder["rungs"][-1]["states"]
    for rung in ladder["rungs"]:
        assert rung["average_gap"]["lower"] <= rung["average_gap"]["upper"]
        assert rung["verdict"] == "yes"
        graded = rung["in_simulator"][0]
        assert graded["simulator"]["lower"] <= graded["simulator"]["upper"]
        assert graded["table"]["lower"] <= graded["table"]["upper"] <= 0.0
    assert record["verdict_certainty"] == ON_GRID
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 0
    drawn = page.read_text()
    assert f"Finer and finer grids: {ladder['outcome']}" in drawn
    assert "11x11" in drawn
    assert "plot-ladder" in drawn
    assert "What the same policies earn in the table" in drawn


def test_a_grid_that_is_too_coarse_has_a_code_and_the_way_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", PENDULUM, "-H", "6", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "undecided: grid too coarse"
    assert record["verdict_code"] in ("grid-too-coarse", "simulator-disagrees")
    assert record["everywhere"] is None
    assert record["next"][0].endswith("--refine")
    assert record["ladder"] is None


@pytest.mark.parametrize(
    "model", ["riverswim?success=0.2,0.5", "discretise:Pendulum-v1?cells=7x7"]
)
def test_what_cannot_be_refined_is_refused(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plain table, and a question without a horizon."""
    steps = ["-H", "5"] if model.startswith("river") else []
    assert main(["audit", model, "--refine", *steps]) == 2
    assert "hint:" in capsys.readouterr().err
