"""A page under watch, and how tests read what it shows."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from tests.sessions import HANGS

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
needs_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
DRAWN = "html[data-figures=drawn]"
OVERLAPS = """() => [...document.querySelectorAll('.canvas')].flatMap(canvas =>
  ['x', 'y'].flatMap(axis => {
    const boxes = [...canvas.querySelectorAll('.' + axis + 'tick text')]
      .map(each => each.getBoundingClientRect());
    const hits = (a, b) => a.left < b.right && b.left < a.right
      && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    return boxes.filter((a, i) => boxes.some((b, j) => i < j && hits(a, b)))
      .map(() => canvas.dataset.figure + ' ' + axis);
  }))"""


class Watched:
    """A page together with everything it complained of or asked for."""

    def __init__(self, browser: Any, path: Path, **settings: Any) -> None:
        self.page = browser.new_page(**settings)
        self.page.set_default_timeout(1e3 * HANGS)
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.add_init_script(
            "window.broken = []; document.addEventListener('securitypolicyviolation',"
            "event => window.broken.push(event.violatedDirective + event.blockedURI))"
        )
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(DRAWN)


def canvas(page: Any, title: str) -> Any:
    """Return the figure with this title."""
    return page.locator("figure.plot").filter(has_text=title).locator(".canvas")


def unfolded(found: Any) -> Any:
    """Open everything that is folded around something; return it."""
    found.evaluate(
        "each => { for (let box = each; box; box = box.parentElement)"
        " if (box.tagName === 'DETAILS') box.open = true; }"
    )
    return found


def rows_of(page: Any, button: Any) -> list[list[str]]:
    """Return the file behind a button."""
    unfolded(button)
    with page.expect_download() as waiting:
        button.click()
    name = waiting.value.suggested_filename
    assert re.fullmatch(r"record-[0-9a-z_-]+\.csv", name)
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text)))


def rgb(text: str) -> tuple[float, ...]:
    """Return a colour as the browser tells it."""
    inside = text[text.index("(") + 1 : text.index(")")]
    return tuple(float(part) / 255.0 for part in inside.split(",")[:3])


def contrast(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: tuple[float, ...]) -> float:
    parts = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
