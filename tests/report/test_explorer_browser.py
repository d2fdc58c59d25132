"""The page about a folder in a real browser: figures, pointing, keyboard, files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.report import explorer_cases as cases
from tests.report.browsing import (
    OVERLAPS,
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


# it draws, and asks nobody


def test_every_figure_is_drawn_and_nothing_complains(watched: Watched) -> None:
    page = watched.page
    assert page.locator("[data-figure]").count() == 9
    assert page.locator("[data-state=drawn]").count() == 9
    assert page.locator("[data-state=failed]").count() == 0
    assert page.locator(".canvas .main-svg").count() >= 8
    assert page.evaluate("window.broken") == []
    assert watched.complaints == []
    assert [url for url in watched.asked if not url.startswith("blob:")] == [page.url]


def test_the_figure_of_a_claim_shows_all_it_has(page: Any) -> None:
    drawn = canvas(page, "Gap against the horizon")
    assert drawn.locator(".scatterlayer .trace").count() == 4
    assert drawn.locator(".errorbar").count() == 12
    assert drawn.locator(".shapelayer path").count() == 1
    assert "from here on Theorem 2" in drawn.locator(".annotation").text_content()
    dashes = drawn.locator(".js-line").evaluate_all(
        "lines => lines.map(line => line.style.strokeDasharray)"
    )
    assert ["px" in dash for dash in dashes] == [False, False, True, True]
    kinds = page.evaluate(
        "[...document.querySelectorAll('.canvas')].map(c => c._fullLayout)"
        ".filter(l => l.xaxis.type === 'log' && l.yaxis.type === 'log').length"
    )
    assert kinds == 2
    band = canvas(page, "Candidates left over time")
    assert band.locator(".scatterlayer .js-fill").count() == 1


def test_the_legend_is_text_and_hides_curves(page: Any) -> None:
    figure = page.locator("figure.plot").filter(has_text="Gap against the horizon")
    buttons = figure.locator(".legend button")
    assert buttons.all_inner_texts() == ["oracle", "Algorithm 3", "Theorem 2", "H"]
    buttons.nth(3).focus()
    page.keyboard.press("Space")
    assert buttons.nth(3).get_attribute("aria-pressed") == "false"
    assert figure.locator(".scatterlayer .trace").count() == 3
    assert page.evaluate("document.activeElement.innerText") == "H"
    page.keyboard.press("Enter")
    assert buttons.nth(3).get_attribute("aria-pressed") == "true"
    assert figure.locator(".scatterlayer .trace").count() == 4


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


def test_pointing_at_a_cell_tells_policy_model_and_gap(page: Any) -> None:
    drawn = canvas(page, "Every policy in every real model")
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    where = drawn.evaluate(
        "c => { const l = c._fullLayout; return [l._size.l + l.xaxis.d2p(2),"
        " l._size.t + l.yaxis.d2p(1)]; }"
    )
    page.mouse.move(box["x"] + where[0], box["y"] + where[1])
    page.mouse.move(box["x"] + where[0] + 1, box["y"] + where[1])
    text = drawn.locator(".hovertext", has_text="likelihood").text_content()
    for word in ("likelihood", "0.35", "gap: 2.9", "between 2.7 and 3.1", "estimated"):
        assert word in text, text
    assert drawn.locator(".heatmap-label").count() == 20
    page.mouse.move(5, 5)


def test_links_of_the_overview_lead_to_their_sections(page: Any) -> None:
    links = page.locator(".overview a")
    assert links.all_inner_texts() == [
        "oracle",
        "gap",
        "likelihood",
        "lemma-6",
        "theorem-2",
        "theorem-10",
    ]
    page.locator(".overview a", has_text="theorem-10").click()
    assert page.evaluate("location.hash") == "#record-6-theorem-10"
    top = page.locator("#record-6-theorem-10").bounding_box()["y"]
    assert -1 <= top <= 900
    page.evaluate("history.replaceState(null, '', ' ')")
    page.evaluate("scrollTo(0, 0)")


def test_the_overview_of_a_study_is_one_screen(page: Any) -> None:
    assert page.locator(".overview").bounding_box()["height"] <= 400
    assert page.locator(".overview .mood.good").count() == 2
    assert page.locator(".overview .mood.open").count() == 1
    heights = page.locator(".overview tbody tr").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().height)"
    )
    assert max(heights) < 36  # one line each


def test_labels_of_axes_do_not_overlap_also_after_zooming(page: Any) -> None:
    assert page.evaluate(OVERLAPS) == []
    drawn = canvas(page, "Regret against steps")
    wide = drawn.locator(".xtick text").all_text_contents()
    assert {"1", "100", "10000"} <= set(wide)
    drawn.evaluate("c => Plotly.relayout(c, {'xaxis.range': [2, 2.65]})")
    close = drawn.locator(".xtick text").all_text_contents()
    assert {"100", "200", "300", "400"} <= set(close)
    assert page.evaluate(OVERLAPS) == []
    drawn.evaluate("c => Plotly.relayout(c, {'xaxis.autorange': true})")
    assert drawn.locator(".xtick text").all_text_contents() == wide


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


def test_arrows_walk_through_cells_and_bars(page: Any) -> None:
    drawn = canvas(page, "Every policy in every real model")
    reading = (
        page.locator("figure.plot").filter(has_text="Every policy").locator(".reading")
    )
    drawn.focus()
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("oracle; 0.1; gap: 0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert reading.inner_text().startswith("memoryless; 0.225; gap: 35.2")
    drawn.locator(".hovertext").wait_for()
    page.keyboard.press("Escape")
    bars = canvas(page, "What each policy loses")
    bars.focus()
    page.keyboard.press("End")
    text = (
        page.locator("figure.plot")
        .filter(has_text="What each policy")
        .locator(".reading")
    )
    assert text.inner_text().startswith("memoryless; average gap: 5.5")
    page.keyboard.press("Escape")


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


def test_numbers_of_a_figure_unfold(page: Any) -> None:
    figure = page.locator("figure.plot").filter(has_text="Gap against the horizon")
    details = figure.locator("details")
    if details.evaluate("each => each.open"):  # another test has opened it
        details.locator("summary").click()
    details.locator("summary").click()
    details.locator("tr").first.wait_for()
    assert details.locator("tr").count() == 25
    assert "bound Theorem 2 (exact)" in details.locator("p").first.inner_text()
    details.locator("summary").click()
