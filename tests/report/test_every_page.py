"""Every page in a browser: all is drawn, nothing complains, on every screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simgap.records.kept import write_record
from simgap.report.explorer import write_explorer
from tests.report import study_cases, trained_cases, transfer_cases
from tests.report.answer_cases import study_folder
from tests.report.browsing import OVERLAPS, Watched, needs_a_browser
from tests.report.explorer_cases import whole_folder
from tests.report.sweep_cases import write_sweep

pytestmark = needs_a_browser

FITTED = """() => [...document.querySelectorAll('.canvas')].every(each =>
  Math.abs(each.querySelector('.main-svg').clientWidth
    - Math.max(240, each.clientWidth)) <= 1)"""


def _transfer(folder: Path) -> Path:
    write_record(transfer_cases.transfer(), folder / "transfer.json")
    write_record(transfer_cases.check("ok"), folder / "check.json")
    return folder


def _little(folder: Path) -> Path:
    write_record(transfer_cases.bare(), folder / "transfer.json")
    return folder


def _trained(folder: Path) -> Path:
    write_record(trained_cases.blamed(), folder / "blame_run.json")
    write_record(trained_cases.identified(), folder / "identify_run.json")
    return folder


PAGES: dict[str, tuple[Callable[[Path], Path], int]] = {  # and how many figures
    "claims, gap and run": (lambda folder: whole_folder(folder / "rivers"), 9),
    "study of a class": (lambda folder: study_folder(folder / "lakes"), 18),
    "study of a simulator": (study_cases.folder, 12),
    "sweep": (write_sweep, 1),
    "transfer": (_transfer, 6),
    "transfer that tells little": (_little, 0),
    "trainings": (_trained, 4),
}


@pytest.mark.parametrize("name", list(PAGES))
def test_all_is_drawn_and_nothing_complains_on_every_screen(
    name: str, browser: Any, tmp_path: Path
) -> None:
    make, least = PAGES[name]
    write_explorer(make(tmp_path), tmp_path / "report.html")
    size = {"width": 1280, "height": 900}
    watched = Watched(browser, tmp_path / "report.html", viewport=size)
    page = watched.page
    figures = page.locator("[data-figure]").count()
    assert figures >= least
    for width, scheme in ((1280, "light"), (380, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(FITTED)
        assert page.locator("[data-state=drawn]").count() == figures
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OVERLAPS) == []
    page.emulate_media(media="print")
    page.wait_for_selector("html[data-theme=light]")
    assert page.locator("[data-state=failed]").count() == 0
    assert page.evaluate("window.broken") == []
    assert watched.complaints == []
    assert [url for url in watched.asked if not url.startswith("blob:")] == [page.url]
    page.close()
