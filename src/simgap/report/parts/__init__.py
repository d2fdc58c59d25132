"""One module for every kind of record that the page can draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simgap.report.part import Part
from simgap.report.parts.claim import claim_part
from simgap.report.parts.gap import gap_part
from simgap.report.parts.oracle import oracle_part
from simgap.report.parts.run import run_part

__all__ = ["CLAIMS", "MAKERS", "claim_part"]

CLAIMS = "claims"  # the folder in which every file is a claim
MAKERS: dict[str, Callable[[Mapping[str, Any], str], Part]] = {
    "oracle": oracle_part,  # in the order of the page
    "gap": gap_part,
    "run": run_part,
}
