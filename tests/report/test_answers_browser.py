"""The page of a study in a real browser: slider, files, commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report import answer_cases as cases
from tests.report.answer_cases import HORIZONS, LAKES
from tests.report.browsing import (
    DRAWN,
    Watched,
    needs_a_browser,
    rows_of,
    unfolded,
)

pytestmark = needs_a_browser

TRAINED = "Trained on one model, put in another"


@pytest.fixture
def page(study: Watched) -> Any:
    return study.page


def figure_of(page: Any, title: str) -> Any:
    return page.locator("figure.plot").filter(has_text=title)


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
