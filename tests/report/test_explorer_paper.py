"""The page about a folder on light, dark and printed paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.report.browsing import (
    DRAWN,
    OVERLAPS,
    Watched,
    canvas,
    contrast,
    needs_a_browser,
    rgb,
)

pytestmark = needs_a_browser


LOOKS = """() => {
  const styles = (what, key) => [...new Set([...document.querySelectorAll(what)]
    .map(each => getComputedStyle(each)[key]))];
  const heat = document.querySelector('.canvas:has(.heatmap-label)');
  const inks = [...heat.querySelectorAll('.heatmap-label text')].map(e => e.style.fill);
  const trace = heat._fullData[0];
  return {
    paper: getComputedStyle(document.body).backgroundColor,
    card: getComputedStyle(document.querySelector('.card')).backgroundColor,
    texts: styles('body, dt, .sure, .detail, .mood, .check, a, summary, .from, .note,'
      + '.key-name, button, .legend bdi', 'color'),
    ticks: styles('.canvas .xtick text, .canvas .ytick text', 'fill'),
    lines: styles('.canvas .js-line', 'stroke'),
    cells: trace.z.flat().filter(z => z !== null)
      .map((z, at) => [trace.colorscale[Math.round(z * 6)][1], inks[at]]),
  };
}"""


def readable(looks: dict[str, Any]) -> bool:
    """Check WCAG AA, 4.5 to 1 for text and 3 to 1 for lines; return if it is dark."""
    paper, card = rgb(looks["paper"]), rgb(looks["card"])
    assert len(looks["texts"]) >= 6
    for colour in looks["texts"]:
        assert min(contrast(rgb(colour), back) for back in (paper, card)) >= 4.5, colour
    for colour in looks["ticks"]:
        assert contrast(rgb(colour), card) >= 4.5, colour
    assert len(looks["lines"]) >= 5
    for colour in looks["lines"]:
        assert contrast(rgb(colour), card) >= 3.0, colour
    assert len(looks["cells"]) == 20
    for colour, ink in looks["cells"]:
        assert contrast(_hex(colour), rgb(ink)) >= 3.0, (colour, ink)
    return sum(paper) < 1.0


def test_the_page_can_be_read_on_both_papers(browser: Any, page_file: Path) -> None:
    """It follows the system from light to dark, and its button turns it back."""
    page = Watched(browser, page_file, color_scheme="light").page
    assert readable(page.evaluate(LOOKS)) is False
    assert page.locator("#theme").inner_text() == "Dark paper"
    page.emulate_media(color_scheme="dark")
    page.locator("#theme", has_text="Light paper").wait_for()
    page.wait_for_selector(DRAWN)
    assert readable(page.evaluate(LOOKS)) is True
    page.locator("#theme").click()
    page.wait_for_selector(DRAWN)
    assert readable(page.evaluate(LOOKS)) is False
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.close()


def _hex(text: str) -> tuple[float, ...]:
    return tuple(int(text[at : at + 2], 16) / 255.0 for at in (1, 3, 5))


def test_print_is_on_white_without_buttons(browser: Any, page_file: Path) -> None:
    opened = Watched(
        browser, page_file, color_scheme="dark", viewport={"width": 1280, "height": 900}
    )
    page = opened.page
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert rgb(paper) == (1.0, 1.0, 1.0)
    assert rgb(page.evaluate("getComputedStyle(document.body).color")) == (0, 0, 0)
    ink = canvas(page, "Gap against").locator(".xtick text").first
    assert rgb(ink.evaluate("e => getComputedStyle(e).fill")) == (0, 0, 0)
    for hidden in (".tools button", "#theme", ".numbers", ".back"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator(".legend button").first.is_visible()
    widths = page.locator(".canvas .main-svg").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().width)"
    )
    assert max(widths) <= 661
    assert (
        page.evaluate(
            "getComputedStyle(document.querySelector('.sheet .scroll')).overflow"
        )
        == "visible"
    )
    for shown in (".sheet table", ".checks", "#commands", ".origins"):
        assert page.locator(shown).first.is_visible()
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_function("() => !document.documentElement.dataset.theme")
    sheets = page.pdf(format="A4")
    assert sheets.startswith(b"%PDF")
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b", sheets)) <= 14
    assert opened.complaints == []
    page.close()


def test_the_page_fits_every_screen(browser: Any, page_file: Path) -> None:
    page = Watched(browser, page_file, viewport={"width": 1920, "height": 800}).page
    for width in (1920, 768, 360, 320):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(
            "() => [...document.querySelectorAll('.canvas')].every(each =>"
            " Math.abs(each.querySelector('.main-svg').clientWidth"
            " - Math.max(240, each.clientWidth)) <= 1)"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERLAPS) == []
    page.close()


def test_without_scripts_the_tables_are_there(browser: Any, page_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("noscript p").is_visible()
    assert page.locator(".sheet table").count() == 8
    assert page.locator(".checks").count() == 3
    assert not page.locator("#theme").is_visible()
    context.close()
