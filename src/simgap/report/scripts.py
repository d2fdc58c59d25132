"""The scripts of a page: inside the page, allowed by their digests and nothing else.

plotly.js is kept as it is published, with its licence beside it. In the page it names
no other computer: the addresses in it are of services that the page must not know.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import final

from simgap.errors import SimgapError

STATIC = Path(__file__).parent / "static"
BUNDLE = "plotly-cartesian.min.js"
LICENCE = "plotly-LICENSE.txt"
DRAWING, SWEEPS, PAGE = "figures.js", "sweep.js", "page.js"
ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)")  # names of SVG are no addresses
ENDS_A_SCRIPT = re.compile(r"</script|<script|<!--|\r", re.IGNORECASE)


@final
@dataclass(frozen=True, slots=True)
class Script:
    """A script as it stands in a page."""

    text: str
    digest: str  # as in a content security policy


def page_scripts(*, figures: bool, sweeps: bool = False) -> tuple[Script, ...]:
    """Return the scripts of a page; plotly only where there is something to draw."""
    names = (DRAWING, SWEEPS, PAGE) if sweeps else (DRAWING, PAGE)
    own = tuple(_script(_read(name)) for name in names)
    return (_script(_bundle()), *own) if figures else own


def _bundle() -> str:
    licence = _read(LICENCE).strip()
    return f"/*\n{licence}\n*/\n{ADDRESS.sub('', _read(BUNDLE))}"


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _script(text: str) -> Script:
    if ENDS_A_SCRIPT.search(text):
        raise SimgapError(
            "a script of the page would end before its end",
            hint="this is a defect of simgap; please report it",
        )
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return Script(text, f"sha256-{digest}")
