"""The figure of a sweep in a real browser: what the reader chooses is what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.report.explorer import write_explorer
from tests.report import sweep_cases as cases
from tests.report.browsing import Watched, needs_a_browser, rows_of

pytestmark = needs_a_browser

TRACES = "c => c.data.filter(each => each.hoverinfo !== 'skip').length"


@pytest.fixture(scope="module")
def page_of_a_sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = cases.write_sweep(tmp_path_factory.mktemp("sweep"))
    write_explorer(made, made / "report.html")
    return made / "report.html"


@pytest.fixture
def wide(browser: Any, page_of_a_sweep: Path) -> Iterator[Watched]:
    size = {"width": 1280, "height": 900}
    opened = Watched(browser, page_of_a_sweep, viewport=size, color_scheme="light")
    yield opened
    assert opened.complaints == []
    assert opened.page.evaluate("window.broken") == []
    assert opened.page.locator("[data-state=failed]").count() == 0
    opened.page.close()


def choose(page: Any, role: str, label: str) -> None:
    page.locator(f"[data-role={role}]").select_option(label=label)


def shown(page: Any) -> dict[str, str]:
    """Return what the selectors on the screen say."""
    return {
        each.get_attribute("data-role"): each.locator("option:checked").inner_text()
        for each in page.locator("[data-choice]").all()
        if each.is_visible()
    }


def test_an_axis_that_has_no_role_is_held_at_a_value(wide: Watched) -> None:
    page, drawn = wide.page, wide.page.locator(".canvas")
    choose(page, "panel", "none")
    assert shown(page)["at-0"] == "3"
    assert drawn.evaluate(TRACES) == 3 * 2
    first = drawn.evaluate("c => c.data[0].y[0]")
    choose(page, "at-0", "6")
    assert drawn.evaluate("c => c.data[0].y[0]") == pytest.approx(2 * first, rel=1e-5)
    choose(page, "at-3", "1")
    assert drawn.evaluate(TRACES) == 3
    choose(page, "y", "worst")
    low = 0.02 * 5**0.7 * 6
    assert drawn.evaluate("c => c.data[0].y[0]") == pytest.approx(2.25 * low, rel=1e-5)


def test_the_file_has_every_cell(wide: Watched) -> None:
    rows = rows_of(wide.page, wide.page.locator("figure [data-csv]"))
    assert rows[0][:8] == [
        "states",
        "horizon",
        "policy",
        "seed",
        "average",
        "average, lower",
        "average, upper",
        "average, certainty",
    ]
    assert len(rows) == 91
    failed = [row for row in rows if row[-1] == "failed"]
    assert [row[:5] for row in failed] == [
        ["4", "20", "memoryless", "0", ""],
        ["4", "20", "memoryless", "1", ""],
    ]
