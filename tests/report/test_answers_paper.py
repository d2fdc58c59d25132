"""The page of a study on every paper, with strangers' words, and of many models."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import isqrt
from pathlib import Path
from typing import Any

import pytest

from simgap.records import write_record
from simgap.report import write_explorer
from simgap.report.heat_plots import spread_out
from simgap.report.parts.horizons import MOST_CELLS
from tests.report import answer_cases as cases, explorer_cases
from tests.report.answer_cases import HORIZONS
from tests.report.browsing import (
    OVERLAPS,
    Watched,
    canvas,
    contrast,
    needs_a_browser,
    rgb,
    rows_of,
    unfolded,
)
from tests.report.test_explorer_hostile import PAYLOADS, unharmed

pytestmark = needs_a_browser

TRAINED = "Trained on one model, put in another"
CELL = """([c, i, j]) => { const l = c._fullLayout;
  return [l._size.l + l.xaxis.d2p(j), l._size.t + l.yaxis.d2p(i)]; }"""


# paper


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_top_and_tables_can_be_read_on_both_papers(
    scheme: str, browser: Any, study_file: Path
) -> None:
    page = Watched(browser, study_file, color_scheme=scheme).page
    paper = rgb(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (sum(paper) < 1.0) is (scheme == "dark")
    card = rgb(
        page.locator(".score").first.evaluate(
            "e => getComputedStyle(e).backgroundColor"
        )
    )
    colours = page.evaluate(
        "[...document.querySelectorAll('.answer, .question, .score *, .mood,"
        " .slider label, .slider output, .cut, .verdict p')].map(e =>"
        " getComputedStyle(e).color)"
    )
    assert len(colours) > 30
    for colour in set(colours):
        assert min(contrast(rgb(colour), back) for back in (paper, card)) >= 4.5
    lamp = page.locator(".lamp .on").evaluate("e => getComputedStyle(e).fill")
    sign = page.locator(".lamp text").evaluate("e => getComputedStyle(e).fill")
    assert contrast(rgb(lamp), rgb(sign)) >= 4.5
    page.close()


def test_print_shows_the_chosen_horizon_and_no_slider(
    browser: Any, study_file: Path
) -> None:
    page = Watched(browser, study_file, color_scheme="dark").page
    page.locator("[data-slider]").focus()
    page.keyboard.press("Home")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
    assert not page.locator("[data-slider]").is_visible()
    assert not page.locator("#copy").is_visible()
    assert page.locator(".slider output").inner_text() == str(HORIZONS[0])
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert rgb(white) == (1.0, 1.0, 1.0)
    assert page.locator(".score").count() == 6
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


@pytest.mark.parametrize("width", [380, 320])
def test_a_telephone_shows_all_of_it(
    width: int, browser: Any, study_file: Path
) -> None:
    page = Watched(browser, study_file, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERLAPS) == []
    slider = page.locator("[data-slider]").bounding_box()
    assert slider["width"] >= 120
    assert slider["x"] + slider["width"] <= width
    page.close()


def test_a_narrow_screen_stacks_rows_of_words_and_says_where_tables_go_on(
    browser: Any, study_file: Path
) -> None:
    page = Watched(browser, study_file, viewport={"width": 380, "height": 800}).page
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    stacked = page.locator(".sheet.stacked .scroll")
    fits = "boxes => boxes.every(box => box.scrollWidth <= box.clientWidth + 1)"
    assert stacked.count() >= 4
    assert stacked.evaluate_all(fits)
    assert not page.locator(".sheet.stacked .swipe").first.is_visible()
    wide = page.locator(".sheet:not(.stacked)", has_text="if this model is real")
    box, words = wide.locator(".scroll").first, wide.locator(".swipe").first
    assert "more" in str(box.get_attribute("class"))
    assert words.inner_text() == "The table goes on to the right: move it sideways."
    box.evaluate("each => { each.scrollLeft = each.scrollWidth; }")
    page.wait_for_function("box => !box.matches('.more')", arg=box.element_handle())
    page.set_viewport_size({"width": 1600, "height": 800})
    page.wait_for_function("p => p.hidden", arg=words.element_handle())
    page.close()


def test_without_scripts_the_verdict_and_tables_are_there(
    browser: Any, study_file: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(study_file.as_uri())
    assert page.locator(".verdict.first").is_visible()
    assert page.locator(".score").count() == 6
    assert page.locator("[data-slider]").count() == 1
    assert page.locator(".sheet table").count() >= 10
    context.close()


# strangers


@pytest.fixture(scope="module")
def strange(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("strange")
    cases.strange_answers(folder, *PAYLOADS)
    write_explorer(folder, folder / "report.html")
    opened = Watched(
        browser, folder / "report.html", viewport={"width": 1000, "height": 900}
    )
    yield opened
    opened.page.close()


def test_strangers_words_run_nothing_in_the_new_parts(strange: Watched) -> None:
    page = strange.page
    unharmed(strange)
    assert page.locator("[data-state=failed]").count() == 0
    figures = page.locator("[data-figure]").count()
    assert page.locator("[data-state=drawn]").count() == figures >= 10
    odd = page.evaluate(
        "document.querySelectorAll('img, iframe, object, embed, form, video, marquee,"
        " base, link, svg a, [onload], [onerror], [onmouseover], [onfocus],"
        ' input:not([type=range]), a:not([href^="#"]), body style, body meta\').length'
    )
    assert odd == 0
    assert page.locator("script").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000


def test_strangers_words_are_shown_letter_by_letter(strange: Watched) -> None:
    cells = set(strange.page.locator(".sheet bdi").all_text_contents())
    assert set(PAYLOADS) <= cells
    notes = set(strange.page.locator(".notes bdi").all_text_contents())
    assert set(PAYLOADS) <= notes
    script = strange.page.locator("#commands").inner_text()
    assert all(line.startswith("#") for line in script.splitlines())


def test_strangers_words_in_a_map_are_text(strange: Watched) -> None:
    """Pointing at cells shows their names, letter by letter."""
    page = strange.page
    drawn = canvas(page, TRAINED)
    kept = spread_out(len(PAYLOADS) + 1, isqrt(MOST_CELLS // len(HORIZONS)))
    assert drawn.evaluate("c => c._fullData[0].customdata.length") == len(kept)
    for row, at in list(enumerate(kept))[:-1:4]:
        text = PAYLOADS[at]
        wanted = text if len(text) <= 40 else f"{text[:39]}…"
        column = 0 if row else 1
        drawn.evaluate(
            "(c, [i, j]) => Plotly.Fx.hover(c, {xval: j, yval: i})", [row, column]
        )
        page.wait_for_function(
            "([c, wanted]) => [...c.querySelectorAll('.hovertext')]"
            ".some(each => each.textContent.includes('trained on ' + wanted))",
            arg=[drawn.element_handle(), wanted],
        )
    assert drawn.locator("svg a").count() == 0
    unharmed(strange)


# size


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of a thousand models, with numbers that cannot be packed well."""
    folder = tmp_path_factory.mktemp("thousand")
    noise = random.Random(1)
    names = tuple(f"friction={at / 1000:.3f}" for at in range(1000))
    few = names[:: len(names) // 60][:60]
    gap = cases.growing_gap(*names)
    gap["trained"] = list(range(0, 960, 16))
    gap["by_horizon"] = [cases.at_horizon(h, 60) for h in HORIZONS]
    pairs = cases.identify(*few)
    pairs["pairs"] = pairs["pairs"][:1700]
    blame = cases.blame(*few) | {"names": list(few)}
    records = {
        "audit": cases.audit(*names),
        "gap": gap,
        "blame": blame,
        "width-friction": cases.width(*names, param="friction"),
        "identify": pairs,
        "adapt": cases.adapt(*names),
        "oracle": explorer_cases.oracle(*few)
        | {
            "pair_prices": None,
            "models": [
                {
                    "name": name,
                    "prior": 0.001,
                    "optimal": 12.0 + noise.random(),
                    "value": 10.0 + noise.random(),
                    "gap": 2.0 * noise.random(),
                    "relative_gap": noise.random(),
                    "gap_interval": explorer_cases.certified(0.0, 2.0),
                }
                for name in names
            ],
        },
    }
    for kind, record in records.items():
        write_record(_noisy(record, noise), folder / f"{kind}.json")
    write_explorer(folder, folder / "report.html")
    return folder / "report.html"


def _noisy(value: Any, noise: random.Random) -> Any:
    """Every interval and number a little larger, each by another amount."""
    if isinstance(value, float) and value > 0.0:
        return value * (1.0 + 1e-3 * noise.random())
    if isinstance(value, dict) and {"lower", "upper"} <= set(value):
        return value
    if isinstance(value, dict):
        kept = {"at_stake", "recommended", "width", "confidence", "error"}
        return {k: v if k in kept else _noisy(v, noise) for k, v in value.items()}
    if isinstance(value, list):
        return [_noisy(each, noise) for each in value]
    return value


def test_a_thousand_models_are_less_than_two_megabytes(thousand: Path) -> None:
    assert thousand.stat().st_size < 2_000_000


def test_a_page_of_a_thousand_models_is_usable(browser: Any, thousand: Path) -> None:
    opened = Watched(browser, thousand, viewport={"width": 1280, "height": 900})
    page = opened.page
    assert page.locator("[data-state=failed]").count() == 0
    assert opened.complaints == []
    assert page.evaluate("document.querySelectorAll('*').length") < 40_000
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    figure = page.locator("figure.plot").filter(has_text=TRAINED)
    assert "36 of 60 models are drawn." in figure.inner_text()
    figure.locator("input").focus()
    page.keyboard.press("Home")
    assert figure.locator("output").inner_text() == str(HORIZONS[0])
    assert "seven digits" in unfolded(figure.locator(".tools")).inner_text()
    table = page.locator(".sheet").filter(has_text="Every model, the likeliest first")
    unfolded(table)
    assert table.locator("tbody tr").count() == 60
    assert "940 more rows are in the CSV file." in table.inner_text()
    assert len(rows_of(page, table.locator("[data-csv]"))) == 1001
    page.close()
