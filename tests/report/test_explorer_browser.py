"""The page about a folder in a real browser: pointing, keyboard, files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.report import explorer_cases as cases
from tests.report.browsing import (
    Watched,
    canvas,
    needs_a_browser,
    rows_of,
    unfolded,
)
from tests.report.explorer_cases import RIVERS

pytestmark = needs_a_browser


@pytest.fixture
def page(watched: Watched) -> Any:
    return watched.page


def test_pointing_at_a_curve_tells_the_number_and_its_interval(page: Any) -> None:
    drawn = canvas(page, "Gap against the horizon")
    drawn.scroll_into_view_if_needed()
    drawn.locator(".points path").nth(2).hover(force=True)
    text = drawn.locator(".hovertext").text_content()
    for word in (
        "oracle",
        "horizon H: 256",
        "rewards: 24",
        "23.2",
        "24.8",
        "certified",
    ):
        assert word in text, text
    page.mouse.move(5, 5)


# keyboard


def test_the_keyboard_reaches_everything_and_one_sees_where(
    browser: Any, page_file: Path
) -> None:
    page = Watched(browser, page_file, viewport={"width": 900, "height": 700}).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"
    seen = []
    page.evaluate("document.querySelectorAll('.fold').forEach(e => e.open = true)")
    for _ in range(90):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "(() => { const e = document.activeElement;"
                "return [e.tagName + '.' + e.className,"
                "getComputedStyle(e).outlineStyle]; })()"
            )
        )
    names = {name for name, _ in seen}
    assert {"A.", "DIV.scroll overview", "SUMMARY.", "BUTTON.", "PRE."} <= names
    assert any("canvas" in name for name in names)
    assert all(outline != "none" for name, outline in seen if name != "BODY.")
    page.close()


def test_arrows_walk_along_a_curve_and_say_its_numbers(page: Any) -> None:
    drawn = canvas(page, "Gap against the horizon")
    reading = (
        page.locator("figure.plot").filter(has_text="Gap against").locator(".reading")
    )
    assert reading.get_attribute("aria-live") == "polite"
    drawn.focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("oracle; horizon H: 64; gap, in rewards: 12")
    drawn.locator(".hovertext").wait_for()
    page.keyboard.press("End")
    assert "horizon H: 2048" in reading.inner_text()
    page.keyboard.press("ArrowRight")
    assert "horizon H: 2048" in reading.inner_text()
    page.keyboard.press("ArrowDown")
    assert reading.inner_text().startswith("Algorithm 3; horizon H: 2048")
    page.keyboard.press("Home")
    assert "horizon H: 64" in reading.inner_text()
    page.keyboard.press("Escape")
    assert reading.inner_text() == ""


def test_names_and_roles_are_there_for_those_who_listen(page: Any) -> None:
    missing = page.evaluate(
        "[...document.querySelectorAll('[aria-labelledby],[aria-describedby]')]"
        ".flatMap(e => ((e.getAttribute('aria-labelledby') || '') + ' ' +"
        "(e.getAttribute('aria-describedby') || '')).split(' ').filter(Boolean))"
        ".filter(id => !document.getElementById(id) ||"
        "!document.getElementById(id).textContent.trim())"
    )
    assert missing == []
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
    )
    assert all(b - a <= 1 for a, b in pairwise(levels))
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button,a')]"
        ".filter(e => !e.textContent.trim()).length"
    )
    assert unnamed == 0


# files


def test_the_data_of_a_figure_is_a_file(page: Any) -> None:
    figure = page.locator("figure.plot").filter(has_text="Gap against the horizon")
    rows = rows_of(page, figure.locator("[data-csv]"))
    assert rows[0] == [
        "curve", "kind", "certainty", "horizon H", "gap, in rewards", "lower", "upper",
    ]  # fmt: skip
    given = cases.claim()["figures"][0]["curves"]
    assert len(rows) == 1 + sum(len(curve["points"]) for curve in given)
    flat = [(curve, point) for curve in given for point in curve["points"]]
    for row, (curve, point) in zip(rows[1:], flat, strict=True):
        kind = "bound" if curve["bound"] else "measured"
        assert row[:3] == [curve["name"], kind, curve["certainty"]]
        assert [float(cell) for cell in row[3:]] == list(point.values())


def test_tables_and_heat_maps_are_files_in_full_precision(page: Any) -> None:
    table = page.locator(".sheet").filter(has_text="Loss by horizon").first
    rows = rows_of(page, table.locator("[data-csv]"))
    given = cases.claim()["tables"][0]
    assert rows[0] == given["columns"]
    for row, wanted in zip(rows[1:], given["rows"], strict=True):
        assert [float(cell) for cell in row[:4]] == wanted[:4]
        assert row[4] == wanted[4]
    heat = page.locator("figure.plot").filter(has_text="Every policy in every")
    rows = rows_of(page, heat.locator("[data-csv]"))
    assert rows[0] == ["policy", "real model, by success", "gap", "lower", "upper"]
    first = cases.gap(*RIVERS)["policies"][1]["models"][0]["gap"]
    wanted = [first[key] for key in ("estimate", "lower", "upper")]
    assert [float(cell) for cell in rows[6][2:]] == wanted
    assert rows[6][:2] == ["likelihood", "0.1"]


def test_a_figure_is_an_image(page: Any) -> None:
    figure = page.locator("figure.plot").filter(has_text="How the bracket closed")
    with page.expect_download() as waiting:
        unfolded(figure.locator("[data-svg]")).click()
    assert waiting.value.suggested_filename.endswith("-trace.svg")
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "seconds of planning" in text
    assert page.evaluate("window.broken") == []
