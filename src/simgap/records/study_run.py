"""What randomization, memory and knowledge are worth: a `study` of a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means

Word = Literal["yes", "no", "undecided"]
Question = Literal[
    "memory", "information", "randomization", "parameter", "width", "time"
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAnswer:
    """The answer to one question, from intervals over trainings and episodes."""

    question: Annotated[Question, means("does memory pay, ...")]
    answer: Annotated[str, means('"yes", "no", "undecided", a name, a range, a number')]
    code: Annotated[str, means('what was found, for programs: "memory-pays"')]
    text: str
    value: Annotated[Estimate | None, means("the number behind it")]
    against: Annotated[Estimate | None, means("a number to compare it with")]
    not_converged: Annotated[
        tuple[str, ...], means("trainings that were not at their end")
    ]
    record: Annotated[str, means("the file that has more about it")]

    @property
    def firm(self) -> bool:
        """Return whether longer trainings would hardly change it."""
        return not self.not_converged

    @property
    def line(self) -> str:
        """Return the answer in a line, with what weakens it."""
        if self.firm:
            return self.text
        rough = ", ".join(self.not_converged)
        return f"{self.text} Trainings had not converged: {rough}."


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StudyRun(Record):
    """Whether a policy needs memory, what knowing is worth, and what to do about it."""

    schema: int = SCHEMA
    kind: str = "study_run"
    simulator: str
    randomize: Annotated[str, means("nu, in the grammar of --randomize")]
    parameters: Annotated[tuple[str, ...], means("that vary")]
    horizon: int
    verdict: Annotated[Word, means("does the policy need memory?")]
    headline: Annotated[str, means("why: the answer about memory")]
    reason: Annotated[str, means("about the informed policy and the seeds")]
    answers: Annotated[tuple[StudyAnswer, ...], means("one per answered question")]
    kinds: Annotated[tuple[str, ...], means("names of the trainings")]
    seeds: Annotated[int, means("of each")]
    steps: Annotated[int, means("of each seed")]
    time_budget: Annotated[float | None, means("seconds")]
    planned_seconds: Annotated[float, means("of the whole study, as the plan expected")]
    total_seconds: Annotated[float, means("of this command alone")]
    report: Annotated[str | None, means("null: no page was drawn")]
    records: Annotated[dict[str, str], means("question -> file")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
