"""One browser for all tests of pages; they are skipped where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.report.explorer import write_explorer
from tests.report.answer_cases import study_folder
from tests.report.browsing import CHROMIUM, Watched
from tests.report.explorer_cases import whole_folder


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-quic"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a folder with one record of every kind."""
    folder = whole_folder(tmp_path_factory.mktemp("whole") / "river-study")
    write_explorer(folder, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="package")
def watched(browser: Any, page_file: Path) -> Iterator[Watched]:
    """That page on a wide light screen; tests put back what they change."""
    size = {"width": 1280, "height": 900}
    opened = Watched(browser, page_file, viewport=size, color_scheme="light")
    yield opened
    opened.page.close()


@pytest.fixture(scope="package")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study of four lakes."""
    folder = study_folder(tmp_path_factory.mktemp("study") / "lakes")
    write_explorer(folder, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="package")
def study(browser: Any, study_file: Path) -> Iterator[Watched]:
    """That page on a wide light screen; tests put back what they change."""
    size = {"width": 1280, "height": 900}
    opened = Watched(browser, study_file, viewport=size, color_scheme="light")
    yield opened
    opened.page.close()
