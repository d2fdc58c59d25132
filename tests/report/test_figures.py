"""The figures of a record in Python: those of the page, in a notebook or a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidArgument
from simgap.records.claim import ClaimRecord
from simgap.records.files import as_record
from simgap.records.gap import Gap
from simgap.records.identify import Identify
from simgap.records.oracle import Oracle
from simgap.report.figures import DRAWN, Figures
from tests.report import answer_cases as cases
from tests.report.answer_cases import LAKES
from tests.report.browsing import Watched, needs_a_browser
from tests.report.explorer_cases import claim, oracle


def drawn(kind: type[Any], found: dict[str, Any]) -> Figures:
    made = as_record(found, kind, "it").plot()
    assert isinstance(made, Figures)
    return made


def test_figures_are_those_of_the_page() -> None:
    for kind, found in (
        (Gap, cases.growing_gap(*LAKES)),
        (Identify, cases.identify(*LAKES)),
        (Oracle, oracle(*LAKES)),
        (ClaimRecord, claim()),
    ):
        part = DRAWN[found["kind"]](found, "record-1")
        first = [] if part.picture is None else [part.picture]
        wanted = [plot.title for plot in (*first, *part.plots, *part.theory_plots)]
        assert list(drawn(kind, found).titles) == wanted


def test_a_record_without_figures_says_so() -> None:
    found = cases.identify(*LAKES) | {"pairs": [], "slowest": None, "timeline": None}
    with pytest.raises(InvalidArgument) as caught:
        drawn(Identify, found)
    assert caught.value.code == "no-figure"


def test_figures_in_a_notebook_are_a_frame_of_their_own() -> None:
    made = drawn(Identify, cases.identify(*LAKES))
    frame = made._repr_html_()
    assert frame.count("<") == 2  # the frame alone: the page is an attribute of it
    assert set(re.findall(r"https?://[^/\"' ]*", made.html)) == {"http://www.w3.org"}


@needs_a_browser
def test_saved_figures_are_drawn(browser: Any, tmp_path: Path) -> None:
    made = drawn(Identify, cases.identify(*LAKES))
    opened = Watched(browser, made.save(tmp_path / "figures.html"))
    assert opened.page.locator("[data-state=drawn]").count() == len(made.titles) == 2
    assert opened.complaints == []
    assert opened.page.evaluate("window.broken") == []
    framed = tmp_path / "notebook.html"
    framed.write_text(made._repr_html_(), encoding="utf-8")
    opened.page.goto(framed.as_uri())
    inside = opened.page.frame_locator("iframe")
    inside.locator("[data-state=drawn]").nth(1).wait_for()
    opened.page.close()
