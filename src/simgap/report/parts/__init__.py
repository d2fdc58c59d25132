"""One module for every kind of record that the page can draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from simgap.records import (
    Adapt,
    Audit,
    Blame,
    Gap,
    Identify,
    Oracle,
    Run,
    Width,
    as_record,
)
from simgap.report.part import Part
from simgap.report.parts.adapt import adapt_part
from simgap.report.parts.audit import audit_part
from simgap.report.parts.blame import blame_part
from simgap.report.parts.claim import claim_part
from simgap.report.parts.gap import gap_part
from simgap.report.parts.identify import identify_part
from simgap.report.parts.oracle import oracle_part
from simgap.report.parts.run import run_part
from simgap.report.parts.width import width_part

__all__ = ["CLAIMS", "MAKERS", "claim_part"]

Kind = TypeVar("Kind")


def _typed(
    kind: type[Kind], make: Callable[[Kind, str], Part]
) -> Callable[[Mapping[str, Any], str], Part]:
    """Return what draws the JSON of a record: it is read as its kind first."""
    return lambda found, anchor: make(as_record(found, kind, "it"), anchor)


CLAIMS = "claims"  # the folder in which every file is a claim
MAKERS: dict[str, Callable[[Mapping[str, Any], str], Part]] = {
    "audit": _typed(Audit, audit_part),  # in the order of the page
    "oracle": _typed(Oracle, oracle_part),
    "gap": _typed(Gap, gap_part),
    "blame": _typed(Blame, blame_part),
    "width": _typed(Width, width_part),
    "identify": _typed(Identify, identify_part),
    "adapt": _typed(Adapt, adapt_part),
    "run": _typed(Run, run_part),
}
