"""One module for every kind of record that the page can draw.

The module `width` has a function `width_part`, which draws the record `Width` of the
module of records that is called the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from simgap.records.files import as_record
from simgap.records.provenance import for_this_grid
from simgap.report.part import Answer, Part

Make = Callable[[Mapping[str, Any], str], Part]

CLAIMS = "claims"  # the folder in which every file is a claim
KINDS = (  # in the order of the page
    "sweep",
    "study_run",
    "transfer",
    "blame_run",
    "identify_run",
    "width_run",
    "check",
    "audit",
    "oracle",
    "gap",
    "blame",
    "width",
    "identify",
    "adapt",
    "run",
    "train",
)
NAMED = {  # records that are not called after their kind
    "check": "SimulatorCheck",
    "blame_run": "BlamedRun",
    "identify_run": "IdentifiedRun",
    "study_run": "StudyRun",
    "width_run": "WidthRun",
}


def _maker(kind: str, record: str) -> Make:
    """Return what draws the JSON of a record: it is read as its kind first."""

    def make(found: Mapping[str, Any], anchor: str) -> Part:
        drawn: Callable[[Any, str], Part] = getattr(
            import_module(f"simgap.report.parts.{kind}"), f"{kind}_part"
        )
        known = getattr(import_module(f"simgap.records.{kind}"), record)
        return drawn(as_record(found, known, "it"), anchor)

    return make


def part_of(record: Answer) -> Part:
    """Return the part of a record that was made just now."""
    name = type(record).__name__
    kind = next((k for k in KINDS if NAMED.get(k, k.capitalize()) == name), "")
    make = getattr(import_module(f"simgap.report.parts.{kind}"), f"{kind}_part")
    part: Part = make(record, kind)
    return for_this_grid(part) if record.provenance.grid else part


CLAIM = _maker("claim", "ClaimRecord")
MAKERS: dict[str, Make] = {
    kind: _maker(kind, NAMED.get(kind, kind.capitalize())) for kind in KINDS
}
