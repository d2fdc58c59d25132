"""The page that was drawn from a folder: the record of `simgap report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(Record):
    """Where the page is, and which records are on it."""

    schema: int = SCHEMA
    kind: str = "report"
    path: str
    bytes: int
    drawn: Annotated[int, means("records on the page")]
    troubles: Annotated[tuple[str, ...], means("records that are not drawn, and why")]
    unknown: Annotated[tuple[str, ...], means("records that the page does not draw")]
    changed: Annotated[tuple[str, ...], means("records that simgap did not write")] = ()
    unsealed: Annotated[str, means('why changes cannot be seen; "": they can')] = ""
