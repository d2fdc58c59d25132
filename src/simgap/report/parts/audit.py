"""The audit: will it transfer? The verdict, and every check behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from simgap.intervals import Certified
from simgap.records.audit import Audit, Finding, Theorem, Verdict as Word, WorstModel
from simgap.records.note import Note
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.memory_card import memory_cards
from simgap.report.parts.verdict_plot import two_groups
from simgap.report.plots import GroupPlot
from simgap.report.sheet import Cell, Heading, Sheet, Sign, sheet
from simgap.report.shown_number import (
    NOTHING,
    ShownNumber,
    certainty_of,
    evaluated,
    show,
)
from simgap.text import number, percent, shown

GROUP = "The audit"
ANSWERS: dict[Word, tuple[str, str]] = {  # the answer on the page, and its mood
    "yes": ("Yes", "good"),
    "with memory": ("Yes, with memory", "but"),
    "in the long run": ("In the long run", "mind"),
    "undecided": ("Undecided", "open"),
    "undecided: grid too coarse": ("Undecided: grid too coarse", "open"),
    "not promised": ("Not promised", "open"),
    "no": ("No", "bad"),
}
NOT_EVERYWHERE = ("Yes, on average", "but")  # and some model loses too much
STATES = {"ok": "good", "warning": "mind", "fail": "bad", "info": "plain"}
NEGLIGIBLE = 1e-9  # of what is at stake: nothing, in words
BEST = "average loss of the best agent"
WITHOUT_MEMORY = "average loss without memory"
VALUE_OF_MEMORY = "value of memory"
REPEATED = ("grid",)  # checks that stand under the verdict if they warn


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """The box on top of the page."""

    answer: str
    mood: str
    certainty: str
    headline: str
    reason: str
    more: str  # is memory enough, is it needed, where is most lost
    warnings: tuple[str, ...] = ()  # of checks that limit what the verdict is about


@final
@dataclass(frozen=True, slots=True)
class AuditContent:
    """Everything the template draws about an audit."""

    verdict: Verdict
    facts: tuple[tuple[str, ShownNumber], ...]
    next: tuple[str, ...]
    notes: tuple[Note, ...]


def audit_part(record: Audit, anchor: str) -> Part:
    """Return the part of `audit.json`."""
    facts, verdict = _facts(record), _verdict(record)
    key = facts.get(BEST, NOTHING)
    steps = "no horizon" if record.horizon is None else f"{record.horizon} steps"
    return Part(
        group=GROUP,
        template="audit.html",
        anchor=anchor,
        title="Every check behind the verdict",
        picture=_picture(record, f"{anchor}-verdict"),
        theory=() if record.theorem is None else (_theorem(record.theorem),),
        line=Line(
            what="audit",
            about=f"{record.models} models, {record.states} states, "
            f"{record.actions} actions, {steps}",
            answer=verdict.answer,
            mood=verdict.mood,
            key_name=BEST if key is not NOTHING else "",
            key=key,
        ),
        content=AuditContent(
            verdict=verdict,
            facts=tuple(facts.items()),
            next=record.next,
            notes=record.notes,
        ),
        origin=origin_of(record),
        sheets=_sheets(record, anchor),
        cards=_cards(record),
        certainties=certainties_of(
            record,
            *(
                (name, facts.get(name, NOTHING))
                for name in (BEST, WITHOUT_MEMORY, VALUE_OF_MEMORY)
            ),
            kind="audit",
            stake=record.at_stake,
            least=key,
        ),
    )


def _picture(record: Audit, key: str) -> GroupPlot | None:
    """Return what is lost with memory and without it, as parts of what is at stake."""
    sure = evaluated(certainty_of(record.certainty.get("worst")))

    def pair(
        average: Certified | None, worst: WorstModel | None
    ) -> tuple[ShownNumber, ShownNumber]:
        most = None if worst is None else worst.relative
        return show(average), show(most, certainty=sure)

    plot = two_groups(
        pair(record.relative_gap, record.worst),
        pair(record.relative_memoryless, record.memoryless_worst),
        key,
    )
    if plot is None:
        return None
    return replace(plot, level=100.0 * record.acceptable, level_name="acceptable")


def _verdict(record: Audit) -> Verdict:
    answer, mood = ANSWERS[record.verdict]
    if record.verdict == "yes" and record.everywhere is False:
        answer, mood = NOT_EVERYWHERE
    memory = () if record.memory is None else record.memory.sentences()
    return Verdict(
        answer=answer,
        mood=mood,
        certainty=_certainty(record),
        headline=record.headline,
        reason=record.reason,
        more=" ".join(filter(None, (*memory, _worst(record)))),
        warnings=tuple(
            each.text
            for each in record.findings
            if each.check in REPEATED and each.status in ("warning", "fail")
        ),
    )


def _certainty(record: Audit) -> str:
    """Return the label of the verdict.

    "With memory" is two statements: it has a label of its own if both have the same.
    """
    sure = record.verdict_certainty
    if record.verdict != "with memory":
        return sure
    needed = None if record.memory is None else record.memory.needed
    return sure if needed == sure else ""


def _worst(record: Audit) -> str:
    """Return where most is lost, in one sentence, unless the reason says it."""
    worst = record.worst
    if worst is None or worst.relative <= NEGLIGIBLE:
        return ""
    if record.verdict in ("no", "with memory") and worst.relative > record.acceptable:
        return ""
    return (
        "The policy planned for the audit has memory and is planned for the average. "
        "Compared with random actions it loses most in "
        f"{shown(worst.name)}: {show(worst.gap).text}, {percent(worst.relative)} of "
        "what they lose in this model."
    )


def _facts(record: Audit) -> dict[str, ShownNumber]:
    noise = NEGLIGIBLE * abs(record.at_stake or 0.0)
    sure, apart = record.certainty, record.separation
    found = {
        BEST: show(record.average_gap, noise=noise),
        WITHOUT_MEMORY: show(record.memoryless_gap, noise=noise),
        VALUE_OF_MEMORY: show(record.value_of_memory, noise=noise),
        "at stake: what acting at random loses": show(
            record.at_stake, certainty=evaluated(certainty_of(sure.get("at_stake")))
        ),
        "diameter": show(record.diameter),
        "separation": show(apart.value, certainty=certainty_of(sure.get("separation"))),
        "steps to tell two models apart": show(apart.steps),
    }
    return {name: each for name, each in found.items() if each is not NOTHING}


def _theorem(theorem: Theorem) -> str:
    bound = show(theorem.bound, certainty="", digits=4).text
    bounds = f"{shown(theorem.name)} bounds the loss by {bound}"
    if not theorem.vacuous:
        return f"{bounds}."
    nothing = f"{bounds}, which is more than can be lost; it says nothing here."
    if theorem.non_vacuous_from is None:
        return nothing
    start = number(theorem.non_vacuous_from, 4)
    return f"{nothing} It says something from {start} steps on."


def _sheets(record: Audit, anchor: str) -> tuple[Sheet, ...]:
    found = []
    if record.in_simulator:
        found.append(_in_simulator(record, f"{anchor}-simulator"))
    if record.findings:
        found.append(findings_sheet(record.findings, f"{anchor}-table-1"))
    return tuple(found)


def _in_simulator(record: Audit, key: str) -> Sheet:
    """Return a table on a grid beside its simulator: what policies earn in both."""
    heads = ("policy", "in the table", "in the simulator", "episodes", "no answer")
    return sheet(
        key,
        "What the same policies earn in the table and in the simulator itself",
        [Heading(head) for head in heads],
        [
            (
                each.policy,
                show(each.table),
                show(each.simulator),
                show(each.episodes, certainty=""),
                percent(each.fallbacks),
            )
            for each in record.in_simulator
        ],
        note="Mean over the models. No answer: the part of the steps in which the "
        "simulator showed what no table allows.",
    )


def findings_sheet(findings: Sequence[Finding], key: str) -> Sheet:
    """Return the table of checks and what they found."""
    valued = any(each.value is not None for each in findings)
    heads = [Heading("check"), Heading("result"), Heading("in plain words")]
    rows = [_row(each, valued=valued) for each in findings]
    heads += [Heading("number")] if valued else []
    return sheet(key, "Every check", heads, rows, stacked=True)


def _row(found: Finding, *, valued: bool) -> list[Cell]:
    sign = Sign(found.status, STATES[found.status])
    value = show(found.value, certainty="") if valued else NOTHING
    return [found.check, sign, found.text, *([value] if valued else [])]


def _cards(record: Audit) -> tuple[Card, ...]:
    cards = [*memory_cards(record.value_of_memory, record.memory, record.at_stake)]
    found = show(record.separation.steps)
    if found.value is not None:
        pair = [shown(name, 24) for name in record.separation.pair_names or ()]
        words = f"steps to tell {' from '.join(pair)}" if pair else "steps"
        cards.append(Card("identify", found.text, found.certainty, words))
    return tuple(cards)
