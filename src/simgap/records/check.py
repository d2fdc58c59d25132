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
    simulator: str  # as the command line names it
    policy: str  # its name; several, separated by commas
    randomize: str  # nu, in the grammar of --randomize
    horizon: int
    passed: bool  # no check failed
    checks: tuple[Finding, ...]  # in the order to read them
    certainty: dict[str, Certainty]
    provenance: Provenance
