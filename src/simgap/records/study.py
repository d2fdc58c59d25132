"""Every question about a class: the record of `simgap study` and `simgap demo`.

The oracle's keys stand at the top of the JSON, so that a script reads `oracle`, `study`
and `demo` in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Certified
from simgap.records.oracle import Oracle
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, flat
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class Chapter:
    """One way to train, and what it loses."""

    title: str
    average_gap: Certified
    worst_gap: Annotated[float, means("over the models of positive prior")]
    worst_model: str
    certainty: Certainty
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Study(Record):
    """The verdict, the story, one line for each question, and where the files are."""

    schema: int = SCHEMA
    kind: str = "study"
    verdict: Annotated[str, means("of the audit")]
    headline: str
    reason: str
    story: Annotated[tuple[Chapter, ...], means("from one model to the best of all")]
    findings: Annotated[tuple[str, ...], means("one line for each question")]
    oracle: Oracle = flat()
    total_seconds: float
    model_file: str
    report: Annotated[str | None, means("null: no page was drawn")]
    records: dict[str, str]
    provenance: Provenance
