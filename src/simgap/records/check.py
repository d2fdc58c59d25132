"""Can this be measured? The record of `simgap check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.records.audit import Finding
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulatorCheck(Record):
    """What would make a measurement wrong, looked for before it is made."""

    schema: int = SCHEMA
    kind: str = "check"
    simulator: Annotated[str, means("as the command line names it")]
    policy: Annotated[str, means("its name; several, separated by commas")]
    randomize: Annotated[str, means("nu, in the grammar of --randomize")]
    horizon: int
    passed: Annotated[bool, means("no check failed")]
    checks: Annotated[tuple[Finding, ...], means("in the order to read them")]
    certainty: dict[str, Certainty]
    provenance: Provenance
