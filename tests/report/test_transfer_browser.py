"""The page of a transfer in a real browser: map, slider, bands, a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.records import write_record
from simgap.report import write_explorer
from tests.report import transfer_cases as cases
from tests.report.browsing import OVERLAPS, Watched, needs_a_browser

pytestmark = needs_a_browser
MAP = "[data-figure=record-1-transfer-map-1]"
DOTS = "c => [c.data[1].x, c.data[1].y, c.data[1].marker.color]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("transfer")
    write_record(cases.transfer(), made / "transfer.json")
    write_record(cases.check("ok"), made / "check.json")
    write_explorer(made, made / "report.html")
    return made / "report.html"


@pytest.fixture(scope="module")
def wide(browser: Any, folder: Path) -> Iterator[Watched]:
    opened = Watched(browser, folder, viewport={"width": 1280, "height": 900})
    yield opened
    opened.page.close()


def test_everything_is_drawn_and_nothing_complains(wide: Watched) -> None:
    page = wide.page
    assert page.locator("[data-state=drawn]").count() == 6
    assert page.locator("[data-state=failed]").count() == 0
    assert wide.complaints == []
    assert page.evaluate("window.broken") == []


def test_verdict_map_and_cards_fit_on_the_first_screen(wide: Watched) -> None:
    for found in (".verdict.first", MAP, ".scorecard"):
        box = wide.page.locator(found).bounding_box()
        assert box["y"] + box["height"] <= 900, found


def test_the_slider_changes_colours_and_the_points_on_top(wide: Watched) -> None:
    drawn, slider = wide.page.locator(MAP), wide.page.locator("[data-slider]")
    found = []
    for place in range(3):
        slider.fill(str(place))
        assert slider.locator("xpath=../output").inner_text() == f"0.{place + 1}"
        x, y, colours = drawn.evaluate(DOTS)
        assert len(x) == len(y) == len(colours) == 4 * len(cases.DELAYS)
        assert max(colours) == 1  # the worst point is as dark as colours go
        found.append(drawn.evaluate("c => c.data[0].z"))
    assert found[0] != found[1] != found[2]


def test_bands_are_drawn_for_few_places_too(wide: Watched) -> None:
    drawn = wide.page.locator("[data-figure=record-1-transfer-over-1]")
    fills = drawn.evaluate("c => c.data.map(each => each.fill || '')")
    assert fills.count("tonexty") == 1  # ppo; the reference is the same everywhere


def test_a_narrow_dark_screen_and_paper(browser: Any, folder: Path) -> None:
    size = {"width": 380, "height": 800}
    narrow = Watched(browser, folder, viewport=size, color_scheme="dark")
    page = narrow.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.evaluate(OVERLAPS) == []
    page.emulate_media(media="print")
    page.wait_for_selector("html[data-theme=light]")
    assert page.locator("[data-state=failed]").count() == 0
    assert narrow.complaints == []
    page.close()
