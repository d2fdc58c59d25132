"""What `simgap study` and `simgap demo` print as JSON: as `oracle`, and where it is.

The oracle's keys stand at the top so that a script reads both in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from simgap.cli.verbs.baseline_answer import BaselineAnswer
    from simgap.cli.verbs.oracle import OracleAnswer
    from simgap.cli.verbs.oracle_answer import OracleModel, TracePoint
    from simgap.cli.verbs.story import Chapter
    from simgap.intervals import Certified, Estimate
    from simgap.records import Memory, PairPrices, Provenance


@final
@dataclass(frozen=True, slots=True)
class StudyAnswer:
    """The answer of `simgap study`."""

    schema: int
    kind: str
    verdict: str  # of the audit
    headline: str
    reason: str
    story: tuple[Chapter, ...]
    findings: tuple[str, ...]  # one line for each question
    horizon: int | None
    discount: float | None
    lower: float  # of W*
    upper: float
    informed: float
    average_gap: Certified
    estimated_gap: Estimate
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    models: tuple[OracleModel, ...]
    pair_prices: PairPrices
    nodes: int
    rounding: float
    baselines: dict[str, BaselineAnswer]
    memory: Memory | None
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    trace: tuple[TracePoint, ...]
    seconds: float  # of planning
    compile_seconds: float
    total_seconds: float
    policy_file: str | None
    belief_policy_file: str | None
    model_file: str
    report: str
    records: dict[str, str]
    certainty: dict[str, str]
    provenance: Provenance


def study_answer(oracle: OracleAnswer, **told: Any) -> StudyAnswer:
    """Return the answer: the oracle's own fields, and what is told about the study."""
    wanted = {each.name for each in fields(StudyAnswer)}
    shared = {
        each.name: getattr(oracle, each.name)
        for each in fields(oracle)
        if each.name in wanted and each.name not in told
    }
    return StudyAnswer(**shared, **told)
