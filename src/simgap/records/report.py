"""The page that was drawn from a folder: the record of `simgap report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(Record):
    """Where the page is, and which records are on it."""

    schema: int = SCHEMA
    kind: str = "report"
    path: str
    bytes: int
    drawn: int  # records on the page
    troubles: tuple[str, ...]  # records that could not be drawn, and why
    unknown: tuple[str, ...]  # records of a kind that the page does not draw
    changed: tuple[str, ...] = ()  # records that are not what simgap wrote
    unsealed: str = ""  # why nobody can tell which were changed; "": it is known
