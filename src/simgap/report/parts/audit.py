"""The audit: will it transfer? The verdict, and every check behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.report.part import Card, Line, Part, notes_of, origin_of, surety_of
from simgap.report.parts.memory_card import memory_cards, memory_of
from simgap.report.parts.on_grid import grid_sheets, ladder_plots
from simgap.report.parts.verdict_plot import two_groups
from simgap.report.plots import GroupPlot
from simgap.report.reading import (
    as_list,
    as_object,
    as_objects,
    as_text,
    not_ours,
)
from simgap.report.sheet import Cell, Heading, Sheet, Sign, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, evaluated, told
from simgap.text import number as number_shown, shown

GROUP = "The audit"
ANSWERS = {  # the word of the record: the answer on the page, and its mood
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
    facts: tuple[tuple[str, Told], ...]
    next: tuple[str, ...]
    notes: tuple[str, ...]


def audit_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of `audit.json`."""
    stake = told(record.get("at_stake")).value
    facts = _facts(record, stake)
    verdict = _verdict(record, stake)
    key = facts.get(BEST, NOTHING)
    findings = as_objects(record.get("findings"))
    return Part(
        group=GROUP,
        template="audit.html",
        anchor=anchor,
        title="Every check behind the verdict",
        picture=_picture(record, f"{anchor}-verdict"),
        theory=tuple(filter(None, (_theorem(as_object(record.get("theorem"))),))),
        line=Line(
            what="audit",
            about=_about(record),
            answer=verdict.answer,
            mood=verdict.mood,
            key_name=BEST if key is not NOTHING else "",
            key=key,
        ),
        content=AuditContent(
            verdict=verdict,
            facts=tuple(facts.items()),
            next=tuple(as_text(each) for each in as_list(record.get("next"))),
            notes=notes_of(record),
        ),
        origin=origin_of(record),
        plots=ladder_plots(record, anchor),
        sheets=(
            *grid_sheets(record, anchor),
            *((_findings(findings, f"{anchor}-table-1"),) if findings else ()),
        ),
        cards=_cards(record, stake),
        surety=surety_of(
            record,
            *(
                (name, facts.get(name, NOTHING))
                for name in (BEST, WITHOUT_MEMORY, VALUE_OF_MEMORY)
            ),
            kind="audit",
            stake=stake,
            least=key,
        ),
    )


def _picture(record: Mapping[str, Any], key: str) -> GroupPlot | None:
    """Return what is lost with memory and without it, as parts of what is at stake."""
    sure = certainty_of(as_object(record.get("certainty")).get("worst"))

    def pair(average: str, worst: str) -> tuple[Told, Told]:
        there = as_object(record.get(worst)).get("relative")
        return told(record.get(average)), told(there, certainty=evaluated(sure))

    plot = two_groups(
        pair("relative_gap", "worst"),
        pair("relative_memoryless", "memoryless_worst"),
        key,
    )
    level = told(record.get("acceptable")).value
    if plot is None or level is None:
        return plot
    return replace(plot, level=100.0 * level, level_name="acceptable")


def _verdict(record: Mapping[str, Any], stake: float | None) -> Verdict:
    memory = memory_of(record)
    word = record.get("verdict")
    if word is not None and (not isinstance(word, str) or word not in ANSWERS):
        raise not_ours(word, f"one of {', '.join(ANSWERS)}")
    answer, mood = ANSWERS.get(str(word), ("No verdict in the record", "open"))
    if word == "yes" and record.get("everywhere") is False:
        answer, mood = NOT_EVERYWHERE
    return Verdict(
        answer=answer,
        mood=mood,
        certainty=_certainty(record),
        headline=as_text(record.get("headline")),
        reason=as_text(record.get("reason")),
        more=" ".join(
            filter(
                None,
                (
                    *(() if memory is None else memory.sentences()),
                    _worst(record, as_text(record.get("reason"))),
                ),
            )
        ),
        warnings=_repeated(record),
    )


def _certainty(record: Mapping[str, Any]) -> str:
    """Return the label of the verdict.

    "With memory" is two statements: it has a label of its own if both have the same.
    """
    sure = certainty_of(record.get("verdict_certainty"))
    if record.get("verdict") != "with memory":
        return sure if record.get("verdict") else ""
    needed = as_text(as_object(record.get("memory")).get("needed"))
    return sure if needed == sure else ""


def _worst(record: Mapping[str, Any], reason: str) -> str:
    """Return where most is lost, in one sentence, unless the reason says it."""
    worst = as_object(record.get("worst"))
    gap = told(worst.get("gap"), certainty="")
    name = shown(as_text(worst.get("name")) or "?")
    part = told(worst.get("relative")).value
    if gap.value is None or name in reason or (part or 1.0) <= NEGLIGIBLE:
        return ""
    share = f", {number_shown(100.0 * part, 3)} % of it" if part else ""
    return (
        "The policy planned for the audit has memory and is planned for the average; "
        f"in parts of what is at stake there it loses most if {name} is real: "
        f"{gap.text}{share}."
    )


def _repeated(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        as_text(each.get("text"))
        for each in as_objects(record.get("findings"))
        if as_text(each.get("check")) in REPEATED
        and as_text(each.get("status")) in {"warning", "fail"}
    )


def _about(record: Mapping[str, Any]) -> str:
    sizes = [
        f"{as_text(record[key])} {key}"
        for key in ("models", "states", "actions")
        if record.get(key) is not None
    ]
    steps = as_text(record.get("horizon"))
    return ", ".join([*sizes, f"{steps} steps" if steps else "no horizon"])


def _facts(record: Mapping[str, Any], stake: float | None) -> dict[str, Told]:
    noise = NEGLIGIBLE * abs(stake or 0.0)
    sure = as_object(record.get("certainty"))
    separation = as_object(record.get("separation"))
    found = {
        BEST: told(record.get("average_gap"), noise=noise),
        WITHOUT_MEMORY: told(record.get("memoryless_gap"), noise=noise),
        VALUE_OF_MEMORY: told(record.get("value_of_memory"), noise=noise),
        "at stake: what acting at random loses": told(
            record.get("at_stake"),
            certainty=evaluated(certainty_of(sure.get("at_stake"))),
        ),
        "diameter": told(record.get("diameter")),
        "separation": told(
            separation.get("value"), certainty=certainty_of(sure.get("separation"))
        ),
        "steps to tell two models apart": told(separation.get("steps")),
    }
    return {name: each for name, each in found.items() if each is not NOTHING}


def _theorem(theorem: Mapping[str, Any]) -> str:
    bound = told(theorem.get("bound"), certainty="", digits=4)
    if bound.value is None:
        return ""
    name = shown(as_text(theorem.get("name")) or "The theorem")
    start = told(theorem.get("non_vacuous_from")).value
    later = (
        ""
        if start is None
        else f" It says something from {number_shown(start, 4)} steps on."
    )
    if theorem.get("vacuous") is True:
        return (
            f"{name} bounds the loss by {bound.text}, which is more than there is to "
            f"lose: at this horizon it says nothing.{later}"
        )
    return f"{name} bounds the loss by {bound.text}."


def _findings(findings: list[Mapping[str, Any]], key: str) -> Sheet:
    valued = any(each.get("value") is not None for each in findings)
    heads = [Heading("check"), Heading("result"), Heading("in plain words")]
    rows: list[list[Cell]] = [
        [
            as_text(each.get("check")) or "?",
            _sign(each.get("status")),
            as_text(each.get("text")),
            *([_value(each.get("value"))] if valued else []),
        ]
        for each in findings
    ]
    heads += [Heading("number")] if valued else []
    return sheet(key, "Every check", heads, rows, stacked=True)


def _sign(status: Any) -> Sign:
    word = as_text(status) or "?"
    return Sign(word, STATES.get(word, "open"))


def _value(value: Any) -> Cell:
    """Return what a check measured: a number, two ends, or words."""
    if value is None or isinstance(value, str | bool):
        return None if value is None else str(value)
    return replace(told(value, certainty=""), certainty="")


def _cards(record: Mapping[str, Any], stake: float | None) -> tuple[Card, ...]:
    cards = [*memory_cards(record.get("value_of_memory"), memory_of(record), stake)]
    steps = as_object(record.get("separation")).get("steps")
    found = told(steps)
    if found.value is not None:
        pair = [shown(as_text(n), 24) for n in as_list(_pair_names(record))]
        words = f"steps to tell {' from '.join(pair)}" if pair else "steps"
        cards.append(Card("identify", found.text, found.certainty, words))
    return tuple(cards)


def _pair_names(record: Mapping[str, Any]) -> Any:
    return as_object(record.get("separation")).get("pair_names")
