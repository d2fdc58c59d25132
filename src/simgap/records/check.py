"""Can this be measured? The record of `simgap check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.audit import Finding
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulatorCheck(Record):
    """What would make a measurement wrong, looked for before it is made."""

    schema: int = SCHEMA
    kind: str = "check"
    simulator: str
    policy: str
    randomize: str
    horizon: int
    passed: bool  # no check failed
    checks: tuple[Finding, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
