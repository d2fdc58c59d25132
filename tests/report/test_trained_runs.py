"""The page of trainings: what knowing is worth, and when a policy finds out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile
from simgap.records import Record, plain, write_record
from simgap.report.figures import figures_of
from simgap.report.folder import read_folder
from simgap.report.part import Part
from simgap.report.parts import MAKERS
from simgap.report.plots import BarPlot, CurvePlot, GroupPlot
from simgap.report.scorecard import top_of
from tests.report import trained_cases as cases, transfer_cases
from tests.report.browsing import OVERLAPS, Watched, needs_a_browser
from tests.report.explorer_cases import page_of
from tests.report.tags import Tags

BLAME, IDENTIFY = "blame_run", "identify_run"


def made(record: Any) -> Part:
    return MAKERS[record.kind](plain(record), "record-1")


def page(folder: Path, *records: Record) -> str:
    for each in records:
        write_record(each, folder / f"{getattr(each, 'kind', '')}.json")
    return page_of(folder)


def plot_of(part: Part, kind: type) -> Any:
    (found,) = [each for each in part.plots if isinstance(each, kind)]
    return found


def test_shares_stand_between_told_first_and_told_last() -> None:
    found = plot_of(made(cases.blamed()), GroupPlot)
    assert found.groups == ("length", "mass")
    assert [name for name, _ in found.series] == ["told first", "share", "told last"]
    assert [each.value for each in found.series[1][1]] == [25.0, -5.0]
    assert "below 0" in found.note
    kind = replace(cases.blamed(), parameters=(cases.told("length", 20.0),))
    assert "below 0" not in plot_of(made(kind), GroupPlot).note


def test_every_set_has_its_bar_and_the_last_one_is_everything() -> None:
    bars = plot_of(made(cases.blamed()), BarPlot).bars
    assert [name for name, _ in bars] == ["nothing", "length", "mass", "length, mass"]
    names = [f"p{at}" for at in range(6)]
    many = [
        replace(cases.blamed().sets[0], told=tuple(names[:at])) for at in range(7)
    ] * 3
    drawn = plot_of(made(cases.blamed(sets=tuple(many))), BarPlot)
    assert len(drawn.bars) == 16 and drawn.bars[-1][0] == ", ".join(names)
    assert "5 more sets" in drawn.note


def test_what_the_line_and_the_facts_say_of_blame() -> None:
    found = made(cases.blamed())
    assert found.line.answer == "most: length"
    assert found.line.key.value == 25.0
    facts = {name: each.value for name, each in found.content.facts}  # type: ignore[attr-defined]
    assert facts["what knowing everything is worth"] == 20.0
    assert facts["mean return, told nothing"] == -40.0
    assert facts["mean return, told everything"] == -20.0
    assert [each.title for each in found.sheets][-1].startswith("The same policy")
    alone = made(cases.blamed(checks=(), leader=None, parameters=()))
    assert len(alone.sheets) == 2 and alone.line.answer == ""


def test_losses_have_a_band_and_a_mark_where_they_end() -> None:
    losses, memory = made(cases.identified()).plots
    assert isinstance(losses, CurvePlot) and isinstance(memory, CurvePlot)
    assert losses.band and losses.marks == ((10.0, "0 in the band"),)
    assert [len(each.points) for each in losses.curves] == [30, 30]
    for settled in (1, None):
        other, _ = made(cases.identified(settled=settled)).plots
        assert isinstance(other, CurvePlot) and other.marks == ()
    names = [(each.name, each.bound, len(each.points)) for each in memory.curves]
    assert names == [
        ("length", False, 4),
        ("mass", False, 3),
        ("length, wrong order", True, 4),
        ("mass, wrong order", True, 3),
    ]


def test_never_is_a_word_and_no_reference_is_no_loss() -> None:
    found = made(cases.identified())
    facts = {name: each.text for name, each in found.content.facts}  # type: ignore[attr-defined]
    assert facts["nothing is lost from step"] == "10"
    assert facts["of these very policies, from step"] == "never"
    alone = cases.identified(
        reference=None, losses=(), total=None, evaluation=None, settled=None
    )
    part = made(alone)
    assert part.line.answer == "" and len(part.plots) == 1 and len(part.sheets) == 1
    nothing = made(replace(alone, parameters=(), probed=()))
    assert nothing.plots == () and nothing.sheets == ()


def test_a_parameter_with_too_few_numbers_is_a_damaged_record(tmp_path: Path) -> None:
    wrong = cases.identified(probed=(1, 2))
    with pytest.raises(InvalidFile) as error:
        made(wrong)
    assert error.value.code == "damaged-record"
    write_record(wrong, tmp_path / "identify_run.json")
    found = read_folder(tmp_path)
    assert [each.name for each in found.troubles] == ["identify_run.json"]


def test_answers_about_trainings_alone_have_no_top_of_the_page(tmp_path: Path) -> None:
    page(tmp_path, cases.blamed(), cases.identified())
    parts = read_folder(tmp_path).parts
    assert [each.template for each in parts] == [f"{BLAME}.html", f"{IDENTIFY}.html"]
    assert top_of(parts) is None
    write_record(transfer_cases.transfer(), tmp_path / "transfer.json")
    assert top_of(read_folder(tmp_path).parts) is not None


def test_the_page_says_it_and_a_hostile_name_does_no_harm(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    mean = replace(cases.told("x", 25.0), name=name)
    html = page(tmp_path, cases.blamed(policy=name, parameters=(mean,), leader=name))
    assert name not in html
    text = re.sub(r"\s+", " ", Tags(html).text)
    assert "it has 125 % of the 20" in text
    assert "Which parameter is worth knowing" in text


def test_a_notebook_has_the_figures_of_both() -> None:
    assert len(figures_of(cases.blamed()).titles) == 2
    assert len(figures_of(cases.identified()).titles) == 2


@needs_a_browser
def test_everything_is_drawn_and_nothing_complains(
    tmp_path: Path, browser: Any
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(tmp_path, cases.blamed(), cases.identified()))
    for width in (1280, 390):
        watched = Watched(browser, path, viewport={"width": width, "height": 900})
        assert watched.complaints == []
        assert watched.page.locator(".canvas .main-svg").count() >= 4
        assert watched.page.evaluate(OVERLAPS) == []
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width


@needs_a_browser
def test_a_share_below_0_is_drawn_below_0(tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(tmp_path, cases.blamed()))
    watched = Watched(browser, path)
    key = plot_of(made(cases.blamed()), GroupPlot).title
    ends = watched.page.locator("figure.plot").filter(has_text=key).locator(".canvas")
    low, high = ends.evaluate("each => each._fullLayout.yaxis.range")
    assert low < -7.0 < 28.0 < high
