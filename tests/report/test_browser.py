"""The page in a real browser; skipped where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simgap.report import render_page
from tests.report.browsing import contrast, needs_a_browser, rgb
from tests.report.tags import HOSTILE
from tests.report.test_oracle_part import TIMINGS, oracle_record

pytestmark = needs_a_browser


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    names = [*HOSTILE[:-1], "w" * 200]
    hostile = oracle_record(*names) | {
        "title": HOSTILE[2],
        "summary": HOSTILE[0],
        "notes": list(names),
    }
    path.write_text(render_page(hostile, TIMINGS), encoding="utf-8")
    return path


def test_nothing_runs_nothing_loads_nothing_complains(
    browser: Any, page_file: Path
) -> None:
    page = browser.new_page()
    told: list[str] = []
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_timeout(200)
    assert told == []
    assert asked == [page_file.as_uri()]
    page.close()


@pytest.mark.parametrize("width", [320, 500, 800, 1200, 1920])
def test_the_page_is_never_wider_than_the_screen(
    width: int, browser: Any, page_file: Path
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_can_be_read_on_every_colour_of_the_heat_map(
    scheme: str, browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        render_page(oracle_record(*"abcdefghijkl"), TIMINGS), encoding="utf-8"
    )
    page = browser.new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    pairs = page.evaluate(
        "[...document.querySelectorAll('.heat g')].map(each => ["
        "getComputedStyle(each.querySelector('rect')).fill,"
        "getComputedStyle(each.querySelector('text')).fill])"
    )
    assert len({tuple(pair) for pair in pairs}) == 7
    for paper, ink in pairs:
        assert contrast(rgb(paper), rgb(ink)) >= 4.5
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_text_and_paper_contrast(
    scheme: str, media: str, browser: Any, page_file: Path
) -> None:
    """WCAG AA, 4.5 to 1, for the body text and for every label of certainty."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(page_file.as_uri())
    page.emulate_media(media=media, color_scheme=scheme)
    paper = rgb(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    card = rgb(
        page.evaluate(
            "getComputedStyle(document.querySelector('.card')).backgroundColor"
        )
    )
    colours = page.evaluate(
        "[...document.querySelectorAll('body, dt, .sure, .summary, figcaption span')]"
        ".map(each => getComputedStyle(each).color)"
    )
    assert colours
    for colour in set(colours):
        assert min(contrast(rgb(colour), paper), contrast(rgb(colour), card)) >= 4.5
    page.close()


def test_the_keyboard_reaches_the_table(browser: Any, page_file: Path) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.goto(page_file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "scroll"
    page.close()
