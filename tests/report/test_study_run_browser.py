"""The page of a study of a simulator in a real browser: first screen, narrow screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.report import write_explorer
from tests.report import study_cases as cases
from tests.report.browsing import OVERLAPS, Watched, needs_a_browser

pytestmark = needs_a_browser


@pytest.fixture(scope="module")
def page_of_a_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = cases.folder(tmp_path_factory.mktemp("study"))
    write_explorer(made, made / "report.html")
    return made / "report.html"


@pytest.fixture(scope="module")
def wide(browser: Any, page_of_a_study: Path) -> Iterator[Watched]:
    opened = Watched(browser, page_of_a_study, viewport={"width": 1280, "height": 900})
    yield opened
    opened.page.close()


def test_everything_is_drawn_and_nothing_complains(wide: Watched) -> None:
    assert wide.page.locator("[data-state=failed]").count() == 0
    assert wide.page.locator("[data-state=drawn]").count() >= 12
    assert wide.complaints == []
    assert wide.page.evaluate(OVERLAPS) == []


def test_the_answers_fit_on_the_first_screen(wide: Watched) -> None:
    for found in (".verdict.first", ".first-screen figure", ".scorecard"):
        box = wide.page.locator(found).bounding_box()
        assert box["y"] + box["height"] <= 900, found
    assert wide.page.locator(".scorecard .score").count() == 6


def test_a_narrow_dark_screen(browser: Any, page_of_a_study: Path) -> None:
    size = {"width": 380, "height": 800}
    narrow = Watched(browser, page_of_a_study, viewport=size, color_scheme="dark")
    assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 380
    assert narrow.page.evaluate(OVERLAPS) == []
    assert narrow.complaints == []
    narrow.page.close()
