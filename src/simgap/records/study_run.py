"""What randomization, memory and knowledge are worth: a `study` of a simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record

Word = Literal["yes", "no", "undecided"]
Question = Literal[
    "memory", "information", "randomization", "parameter", "width", "time"
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAnswer:
    """The answer to one question, from intervals over trainings and episodes."""

    question: Question  # does memory pay, is it near the informed policy, ...
    answer: str  # "yes", "no", "undecided", a parameter, a range, a number of steps
    code: str  # what was found, for programs: "memory-pays"
    text: str  # a sentence
    value: Estimate | None  # the number behind it
    against: Estimate | None  # a number to compare it with
    not_converged: tuple[str, ...]  # trainings it rests on that were not at their end
    record: str  # the file that has more about it

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
    simulator: str  # its name
    randomize: str  # nu, in the grammar of --randomize
    parameters: tuple[str, ...]  # that vary
    horizon: int
    verdict: Word  # does the policy need memory?
    headline: str  # why: the answer about memory
    reason: str  # the answer about the informed policy, and the number of seeds
    answers: tuple[StudyAnswer, ...]  # one for each question that was answered
    kinds: tuple[str, ...]  # names of the trainings
    seeds: int  # of each
    steps: int  # of each seed
    time_budget: float | None  # seconds
    planned_seconds: float  # of the whole study, as the plan expected
    total_seconds: float  # of this command; less if it went on from another one
    report: str | None  # null: no page was drawn
    records: dict[str, str]  # question -> file
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
