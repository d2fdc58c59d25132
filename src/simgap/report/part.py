"""What a part of the page is: a record turned into words, figures and tables.

A part is made by one module in `parts` and drawn by the template of the same name. It
holds what is to be drawn and nothing that has to be worked out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from simgap.report.plots import Plot
from simgap.report.reading import as_object, as_text
from simgap.report.sheet import Sheet
from simgap.report.told import Told


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One line of the overview."""

    what: str
    about: str
    answer: str
    mood: str  # good, bad, open or plain: its colour and its sign
    key_name: str
    key: Told


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """What somebody else needs to get the same numbers again."""

    command: str
    facts: tuple[tuple[str, str], ...]  # seed, scale, model and its hash
    versions: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A record as the page shows it."""

    group: str  # the heading it stands under
    template: str
    anchor: str
    title: str
    line: Line
    content: object  # a record of its own, known to the template
    origin: Origin
    plots: tuple[Plot, ...] = ()
    sheets: tuple[Sheet, ...] = ()


def origin_of(record: Mapping[str, Any]) -> Origin:
    """Return where the record of a verb comes from."""
    source = as_object(record.get("provenance"))
    return Origin(
        command=as_text(source.get("command")),
        facts=_pairs(source, ("model", "model_hash", "seed")),
        versions=_pairs(source, ("simgap", "python", "numpy")),
    )


def _pairs(source: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(
        (key.replace("_", " "), as_text(source[key]))
        for key in keys
        if source.get(key) is not None and source[key] != ""
    )
