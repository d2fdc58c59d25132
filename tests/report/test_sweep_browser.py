"""The figure of a sweep in a real browser: what the reader chooses is what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.report import write_explorer
from tests.report import sweep_cases as cases
from tests.report.browsing import OVERLAPS, Watched, needs_a_browser, rows_of

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


def test_first_all_of_it_is_drawn_every_seed_alone(wide: Watched) -> None:
    page, drawn = wide.page, wide.page.locator(".canvas")
    assert shown(page) == {
        "y": "average",
        "x": "horizon",
        "colour": "policy",
        "panel": "states",
        "scale": "as it fits",
        "at-3": "every one",
    }
    assert drawn.evaluate(TRACES) == 3 * 3 * 2  # panels, policies, seeds
    assert drawn.evaluate("c => c._fullLayout.xaxis.type") == "log"
    assert drawn.evaluate("c => c._fullLayout.yaxis.range") == drawn.evaluate(
        "c => c._fullLayout.yaxis3.range"
    )
    assert page.locator(".legend bdi").all_inner_texts() == [
        "oracle",
        "likelihood",
        "memoryless",
        "certified",
        "estimated",
    ]
    told = page.locator(".told").inner_text()
    assert "Of the 90 cells that belong here, 2 failed" in told
    assert "Not there yet: 1." in told
    assert page.evaluate(OVERLAPS) == []


def test_a_failed_cell_leaves_a_gap_and_estimates_are_open(wide: Watched) -> None:
    drawn = wide.page.locator(".canvas")
    gap = drawn.evaluate("c => c.data.filter(each => each.yaxis === 'y2').at(-1).y")
    assert [each is None for each in gap] == [False, False, True, False, False]
    ink = drawn.evaluate("c => [...new Set(c.data[0].marker.color)]")
    paper = drawn.evaluate("c => [...new Set(c.data[2].marker.color)]")
    assert len(ink) == len(paper) == 1
    card = wide.page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--card').trim()"
    )
    assert paper == [card] != ink


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


def test_axes_change_places(wide: Watched) -> None:
    page, drawn = wide.page, wide.page.locator(".canvas")
    choose(page, "x", "policy")  # words: bars
    assert shown(page)["colour"] == "horizon"
    assert drawn.evaluate("c => new Set(c.data.map(each => each.type)).size") == 1
    assert drawn.evaluate("c => c.data[0].type") == "bar"
    assert drawn.evaluate(TRACES) == 3 * 5 * 2
    shapes = drawn.evaluate("c => c.data[0].marker.pattern.shape")
    assert shapes == ["", "/", ""]  # the middle one is estimated
    low, high = drawn.evaluate("c => c._fullLayout.yaxis.range")
    assert low == 0
    assert high > 28
    choose(page, "x", "seed")
    assert "at-3" not in shown(page)
    assert shown(page)["at-2"] == "oracle"
    assert drawn.evaluate("c => c._fullData[0].type") == "scatter"
    choose(page, "colour", "none")
    choose(page, "panel", "seed")  # taken from the axis across, which gets another
    assert shown(page)["panel"] == "seed"
    assert shown(page)["x"] == "states"
    assert page.evaluate(OVERLAPS) == []


def test_a_logarithmic_axis_has_no_place_for_nought(
    browser: Any, tmp_path: Path
) -> None:
    axes = {"horizon": [5, 10, 20], "seed": [0]}

    def numbers(cell: Any) -> Any:
        return [cases.certified(cell["horizon"] - 5.0, cell["horizon"] - 5.0)]

    folder = cases.write_sweep(tmp_path, axes, numbers, columns={"loss": "loss"})
    write_explorer(folder, tmp_path / "report.html")
    opened = Watched(browser, tmp_path / "report.html")
    choose(opened.page, "scale", "logarithmic both")
    told = opened.page.locator(".told").inner_text()
    assert told == "Numbers without a place on this axis: 1."
    assert opened.page.locator(".canvas").evaluate("c => c.data[0].y") == [None, 5, 15]
    opened.page.close()


def test_the_keyboard_chooses_and_reads(wide: Watched) -> None:
    page = wide.page
    page.locator("[data-role=y]").focus()
    page.keyboard.press("ArrowDown")
    assert shown(page)["y"] == "worst"
    page.locator(".canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    reading = page.locator(".reading").inner_text()
    assert reading.startswith(
        "likelihood, seed 0; horizon: 5; states: 3; worst: 1.8511"
    )
    assert reading.endswith("estimated, 95 %")


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


def test_a_legend_hides_all_seeds_of_a_colour(wide: Watched) -> None:
    page, drawn = wide.page, wide.page.locator(".canvas")
    page.locator(".legend button").first.click()
    hidden = "c => c.data.filter(each => each.visible === false).length"
    assert drawn.evaluate(hidden) == 3 * 2
    choose(page, "colour", "states")
    assert drawn.evaluate(hidden) == 0


def test_all_numbers_are_drawn_beside_each_other(browser: Any, tmp_path: Path) -> None:
    axes = {"horizon": [5, 10], "seed": [0]}

    def numbers(cell: Any) -> Any:
        return [cases.certified(at, at) for at in (1.0, 2.0, 1000.0)]

    columns = {"with": "with memory", "without": "without", "value": "reward"}
    folder = cases.write_sweep(tmp_path, axes, numbers, columns=columns)
    write_explorer(folder, tmp_path / "report.html")
    opened = Watched(browser, tmp_path / "report.html")
    page = opened.page
    choose(page, "colour", "all numbers")
    assert page.locator(".legend bdi").all_inner_texts() == list(columns)
    visible = "c => c.data.filter(each => each.visible).map(each => each.y[0])"
    assert page.locator(".canvas").evaluate(visible) == [1, 2]  # the third is far away
    page.locator(".legend button").last.click()
    assert page.locator(".canvas").evaluate(visible) == [1, 2, 1000]
    choose(page, "y", "value")
    assert page.locator(".canvas").evaluate(visible) == [1000]
    assert opened.complaints == []
    page.close()


def test_a_narrow_dark_screen(browser: Any, page_of_a_sweep: Path) -> None:
    size = {"width": 380, "height": 800}
    narrow = Watched(browser, page_of_a_sweep, viewport=size, color_scheme="dark")
    page = narrow.page
    for across in ("horizon", "policy", "seed"):
        choose(page, "x", across)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        assert page.evaluate(OVERLAPS) == []
    assert narrow.complaints == []
    page.close()
