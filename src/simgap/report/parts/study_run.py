"""The study of a simulator: every question with its answer, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.records.note import Note
from simgap.records.study_run import StudyAnswer, StudyRun
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.audit import Verdict
from simgap.report.sheet import Heading, Sheet, sheet
from simgap.report.shown_number import NOTHING, show
from simgap.text import counted, listed, number, shown

GROUP = "The study"
QUESTIONS = {
    "memory": "Does the policy need memory?",
    "information": "Is it near a policy that knows the parameters?",
    "randomization": "Does randomization pay?",
    "parameter": "Which parameter matters?",
    "width": "How wide to randomize?",
    "time": "How soon does it find out?",
}
WORDS = {"yes": "Yes", "no": "No", "undecided": "Undecided"}
NUMBERS = ("memory", "information", "randomization")  # cards that show a number


@final
@dataclass(frozen=True, slots=True)
class StudyContent:
    """Everything the template draws about a study."""

    verdict: Verdict
    question: str
    notes: tuple[Note, ...]


def study_run_part(record: StudyRun, anchor: str) -> Part:
    """Return the part of `study_run.json`."""
    value = next((e.value for e in record.answers if e.question == "memory"), None)
    verdict = _verdict(record)
    count = counted(record.seeds * len(record.kinds), "training")
    return Part(
        group=GROUP,
        template="study_run.html",
        anchor=anchor,
        title="Every question, and its answer",
        line=Line(
            what="study",
            about=f"{count} of {number(record.steps)} steps",
            answer=verdict.answer,
            mood=verdict.mood,
            key_name="worth of memory",
            key=NOTHING if value is None else show(value, digits=4),
        ),
        content=StudyContent(
            verdict=verdict,
            question=QUESTIONS["memory"],
            notes=record.notes,
        ),
        origin=replace(origin_of(record), randomized=listed(record.parameters)),
        sheets=(_table(record, f"{anchor}-table-1"),),
        cards=tuple(_card(each) for each in record.answers),
        certainties=certainties_of(
            record,
            *((QUESTIONS[e.question], show(e.value)) for e in record.answers),
            kind="study_run",
            gaps=False,
        ),
    )


def _verdict(record: StudyRun) -> Verdict:
    by_question = {each.question: each for each in record.answers}
    memory, near = by_question.get("memory"), by_question.get("information")
    moods = {"yes": "good", "no": "mind"}
    mood = moods.get("" if near is None else near.answer, "open")
    if memory is None or memory.answer not in moods:
        mood = "open"
    elif mood == "good" and not memory.firm:
        mood = "but"
    rough = [note.text for note in record.notes if note.code == "not-converged"]
    few = [note.text for note in record.notes if note.code == "few-seeds"]
    return Verdict(
        answer="Undecided" if memory is None else _said(memory),
        mood=mood,
        certainty="estimated",
        headline=record.headline,
        reason=record.reason,
        more="",
        warnings=(*few, *rough),
    )


def _said(answer: StudyAnswer) -> str:
    word = WORDS.get(answer.answer, shown(answer.answer, 60))
    return word if answer.firm else f"{word}, so far"


def _card(answer: StudyAnswer) -> Card:
    value = _said(answer)
    if answer.question in NUMBERS and answer.value is not None:
        value = show(answer.value, digits=3).text
    return Card(answer.question, value, "estimated", answer.text)


def _table(record: StudyRun, key: str) -> Sheet:
    heads = ("question", "answer", "number", "compare with", "had not converged")
    return sheet(
        key,
        "Every answer with its number",
        [Heading(head) for head in heads],
        [
            (
                QUESTIONS[each.question],
                _said(each),
                show(each.value, digits=4),
                show(each.against, digits=4),
                ", ".join(each.not_converged) or "-",
            )
            for each in record.answers
        ],
        stacked=True,
    )
