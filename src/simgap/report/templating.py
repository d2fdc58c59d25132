"""How pages are made from templates: everything a record says is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from simgap.text import clean_lines

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent / "templates"


@cache
def template(name: str) -> Template:
    """Return a template of this room, compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _harmless(value: object) -> object:
    """Return words of a record without control characters; our own markup as it is."""
    return clean_lines(value) if type(value) is str else value
