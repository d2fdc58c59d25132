"""The page of a study in a real browser: slider, cards, maps, files, strangers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report import answer_cases as cases
from tests.report.answer_cases import HORIZONS, LAKES
from tests.report.browsing import (
    DRAWN,
    OVERLAPS,
    Watched,
    canvas,
    needs_a_browser,
    rows_of,
    unfolded,
)

pytestmark = needs_a_browser

TRAINED = "Trained on one model, put in another"
CELL = """([c, i, j]) => { const l = c._fullLayout;
  return [l._size.l + l.xaxis.d2p(j), l._size.t + l.yaxis.d2p(i)]; }"""


@pytest.fixture
def page(study: Watched) -> Any:
    return study.page


def figure_of(page: Any, title: str) -> Any:
    return page.locator("figure.plot").filter(has_text=title)


def hovered(page: Any, title: str, row: int, column: int) -> str:
    """Point at a cell of a map; return what is said about it."""
    drawn = canvas(page, title)
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    where = drawn.evaluate("(c, [i, j]) => (" + CELL + ")([c, i, j])", [row, column])
    page.mouse.move(box["x"] + where[0] - 3, box["y"] + where[1])
    page.mouse.move(box["x"] + where[0], box["y"] + where[1])
    drawn.locator(".hovertext").first.wait_for()
    text = str(drawn.locator(".hovertext").first.text_content())
    page.mouse.move(5, 5)
    return text


# it draws, and asks nobody


def test_the_study_is_drawn_and_nothing_complains(study: Watched) -> None:
    page = study.page
    count = page.locator("[data-figure]").count()
    assert count == 18
    assert page.locator("[data-state=drawn]").count() == count
    assert page.locator("[data-state=failed]").count() == 0
    assert not page.locator("#stopped").is_visible()
    assert page.evaluate("window.broken") == []
    assert study.complaints == []
    assert [url for url in study.asked if not url.startswith("blob:")] == [page.url]


def test_the_verdict_and_six_cards_are_on_the_first_screen(page: Any) -> None:
    box = page.locator(".verdict.first")
    assert box.locator(".answer").inner_text().startswith("Yes, with memory")
    assert box.locator(".lamp text").text_content() == "✓"
    assert box.locator(".lamp .half").count() == 1
    assert box.locator(".lamp").get_attribute("aria-hidden") == "true"
    cards = page.locator(".score")
    assert cards.count() == 6
    last = cards.last.bounding_box()
    assert last["y"] + last["height"] <= 800
    picture = page.locator(".first-screen figure").bounding_box()
    assert picture["y"] + picture["height"] < last["y"]
    assert page.locator(".answer", has_text="Yes").count() == 1  # said once
    tops = {round(cards.nth(at).bounding_box()["y"]) for at in range(6)}
    assert len(tops) == 2  # three beside each other, twice
    assert page.locator(".score.absent").count() == 0


def test_a_card_leads_to_its_part(page: Any) -> None:
    page.locator(".score", has_text="What causes the loss").locator("a").click()
    assert page.evaluate("location.hash") == "#record-4-blame"
    assert -1 <= page.locator("#record-4-blame").bounding_box()["y"] <= 900
    page.locator(".score", has_text="Numerical certainty").locator("a").click()
    assert page.evaluate("location.hash") == "#certainty"
    page.evaluate("history.replaceState(null, '', ' ')")
    page.evaluate("scrollTo(0, 0)")


def test_no_labels_overlap(page: Any) -> None:
    assert page.evaluate(OVERLAPS) == []


# the slider


def test_the_slider_by_keyboard_draws_every_horizon(page: Any) -> None:
    figure = figure_of(page, TRAINED)
    slider, output = figure.locator("input"), figure.locator("output")
    drawn = figure.locator(".canvas")
    colours = drawn.evaluate("c => [c._fullData[0].zmin, c._fullData[0].zmax]")
    given = cases.growing_gap(*LAKES)["by_horizon"]
    assert output.inner_text() == "200"
    slider.focus()
    for at, horizon in reversed(list(enumerate(HORIZONS))):
        assert output.inner_text() == str(horizon)
        assert slider.get_attribute("aria-valuetext") == str(horizon)
        wanted = given[at]["train"][0][3]
        shown = drawn.locator(".heatmap-label").nth(3).text_content()
        assert float(shown) == pytest.approx(wanted, rel=5e-3)
        assert (
            drawn.evaluate("c => [c._fullData[0].zmin, c._fullData[0].zmax]") == colours
        )
        page.keyboard.press("ArrowLeft")
    assert output.inner_text() == str(HORIZONS[0])
    page.keyboard.press("End")
    assert output.inner_text() == "200"
    page.keyboard.press("Home")
    assert output.inner_text() == str(HORIZONS[0])
    page.keyboard.press("End")


def test_longer_episodes_are_darker_because_the_scale_is_fixed(page: Any) -> None:
    figure = figure_of(page, TRAINED)
    slider, drawn = figure.locator("input"), figure.locator(".canvas")
    shades = []
    for key in ("Home", "End"):
        slider.focus()
        page.keyboard.press(key)
        shades.append(drawn.evaluate("c => c._fullData[0].z[0][3]"))
    assert shades[0] < shades[1] == 1.0


def test_the_slider_by_mouse(page: Any) -> None:
    figure = figure_of(page, TRAINED)
    slider, output = figure.locator("input"), figure.locator("output")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2.0
    page.mouse.move(box["x"] + box["width"] - 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 8, middle, steps=8)
    assert output.inner_text() == str(HORIZONS[0])
    page.mouse.move(box["x"] + box["width"] / 2.0, middle, steps=4)
    page.mouse.up()
    assert output.inner_text() in {str(HORIZONS[2]), str(HORIZONS[3])}
    page.mouse.click(box["x"] + box["width"] - 4, middle)
    assert output.inner_text() == "200"


def test_the_slider_has_a_label_and_a_name(page: Any) -> None:
    slider = figure_of(page, TRAINED).locator("input")
    name = slider.evaluate("e => [e.labels.length, e.labels[0].textContent]")
    assert name == [1, "horizon H"]
    slider.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    style = slider.evaluate("e => getComputedStyle(e).outlineStyle")
    assert style != "none"
    height = slider.bounding_box()["height"]
    assert height >= 24  # large enough for a finger


def test_a_slid_map_tells_its_horizon(page: Any) -> None:
    figure = figure_of(page, TRAINED)
    figure.locator("input").focus()
    page.keyboard.press("Home")
    text = hovered(page, TRAINED, 0, 3)
    wanted = cases.at_horizon(HORIZONS[0], 4)["train"][0][3]
    for word in ("trained on 0.333", "real: 0.9", "horizon H: 5", f"gap: {wanted:.5g}"):
        assert word in text, text
    figure.locator("input").focus()
    page.keyboard.press("End")


def test_the_reading_follows_the_slider(page: Any) -> None:
    figure = figure_of(page, TRAINED)
    figure.locator(".canvas").focus()
    page.keyboard.press("End")
    assert "horizon H: 200" in figure.locator(".reading").inner_text()
    figure.locator("input").focus()
    page.keyboard.press("ArrowLeft")
    assert "horizon H: 100" in figure.locator(".reading").inner_text()
    page.keyboard.press("ArrowRight")
    figure.locator(".canvas").focus()
    page.keyboard.press("Escape")


# figures


def test_gap_against_horizon_is_logarithmic_with_dashed_bounds(page: Any) -> None:
    drawn = canvas(page, "What is lost as episodes grow")
    kinds = drawn.evaluate("c => [c._fullLayout.xaxis.type, c._fullLayout.yaxis.type]")
    assert kinds == ["log", "log"]

    def dashed() -> list[bool]:
        found = drawn.locator(".js-line").evaluate_all(
            "lines => lines.map(line => line.style.strokeDasharray)"
        )
        return ["px" in dash for dash in found]

    def height() -> float:
        ends = drawn.evaluate("c => c._fullLayout.yaxis.range")
        return float(ends[1] - ends[0])

    before = height()
    assert dashed() == [False, False, False, True]  # Theorem 2 says nothing here
    figure = figure_of(page, "What is lost as episodes grow")
    theorem = figure.locator(".legend button", has_text="Theorem 2")
    assert theorem.get_attribute("aria-pressed") == "false"
    theorem.click()
    assert dashed() == [False, False, False, True, True]
    assert height() > before + 1.0
    theorem.click()
    assert "Theorem 1 says something" in drawn.locator(".annotation").text_content()


def test_posteriors_have_bands_and_the_pairs_their_upper_end(page: Any) -> None:
    drawn = canvas(page, "Posterior of the real model over time")
    assert drawn.locator(".scatterlayer .trace").count() == 4
    assert drawn.locator(".errorbar").count() == 36
    text = hovered(page, "Steps that are enough", 0, 1)
    for word in ("0.333", "or 0.5", "steps: 57", "between 40 and 57", "certified"):
        assert word in text, text
    assert "infinite" in hovered(page, "Steps that are enough", 0, 3)


def test_blame_has_bars_with_intervals_dearest_first(page: Any) -> None:
    figure = figure_of(page, "What not knowing each parameter costs")
    names = figure.locator(".ytick text").all_text_contents()
    assert names == ["success_rate", "friction"]
    assert figure.locator(".errorbar").count() == 2
    assert figure.locator(".legend span bdi").all_inner_texts() == [
        "estimated",
        "certified",
    ]
    assert page.locator("figure.plot", has_text="has one value").count() == 2


def test_the_width_curve_is_marked_and_its_map_tells_both_names(page: Any) -> None:
    drawn = canvas(page, "What a range of success_rate loses")
    assert drawn.locator(".shapelayer path").count() == 1
    assert "recommended: 0.4" in drawn.locator(".annotation").text_content()
    text = hovered(page, "Every range in every real model", 2, 0)
    for word in ("trained on 0.4 to 0.8", "real: 0.333", "gap: 0.712"):
        assert word in text, text


def test_the_posterior_has_a_mark_where_each_model_was_before(page: Any) -> None:
    figure = figure_of(page, "How likely each model is")
    assert figure.locator(".bars .point").count() == 4
    assert figure.locator(".scatterlayer .point").count() == 4
    assert "before" in figure.locator(".legend").inner_text()
    figure.locator(".canvas").focus()
    page.keyboard.press("Home")
    text = figure.locator(".reading").inner_text()
    assert text == "success_rate=0.333; probability: 0.5333; exact; before: 0.25"
    page.keyboard.press("Escape")


# files


def test_the_file_of_a_slider_has_all_horizons(page: Any) -> None:
    rows = rows_of(page, figure_of(page, TRAINED).locator("[data-csv]"))
    assert rows[0] == [
        "horizon H", "trained on, by success_rate", "real model, by success_rate",
        "gap", "lower", "upper",
    ]  # fmt: skip
    assert len(rows) == 1 + len(HORIZONS) * 16
    given = cases.growing_gap(*LAKES)["by_horizon"]
    flat = [
        (row["horizon"], value)
        for row in given
        for line in row["train"]
        for value in line
    ]
    assert [(int(row[0]), float(row[3])) for row in rows[1:]] == flat


def test_tables_of_answers_are_files(page: Any) -> None:
    checks = page.locator(".sheet").filter(has_text="Every check")
    rows = rows_of(page, checks.locator("[data-csv]"))
    assert [row[:2] for row in rows[1:]] == [
        [each["check"], each["status"]] for each in cases.audit(*LAKES)["findings"]
    ]
    bars = figure_of(page, "How likely each model is")
    rows = rows_of(page, bars.locator("[data-csv]"))
    assert rows[0][-1] == "before"
    assert [float(row[-1]) for row in rows[1:]] == [0.25] * 4
    sure = page.locator(".sheet").filter(has_text="What is exact, certified")
    rows = rows_of(page, sure.locator("[data-csv]"))
    assert len(rows) == 8
    assert rows[0][1:4] == ["exact", "certified", "estimated"]


def test_all_commands_are_copied_at_once(browser: Any, study_file: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(study_file.as_uri())
    page.wait_for_selector(DRAWN)
    unfolded(page.locator("#copy")).click()
    page.locator(".said", has_text="Copied.").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == 7
    assert all(line.startswith("simgap ") for line in lines)
    context.close()
