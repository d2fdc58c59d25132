"""A claim of the paper: what it says, what the numbers say, and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.claim import Check, ClaimRecord, ClaimVerdict, Figure, Table
from simgap.records.files import damaged_record
from simgap.report.part import Line, Origin, Part
from simgap.report.plots import Curve, CurvePlot
from simgap.report.sheet import Sheet, heading, sheet
from simgap.report.shown_number import ShownNumber, show
from simgap.text import shown

GROUP = "Claims of the paper"
SIGNS = {
    ClaimVerdict.HOLDS: "≤",
    ClaimVerdict.REFUTED: ">",
    ClaimVerdict.UNDECIDED: "?",
}


@final
@dataclass(frozen=True, slots=True)
class CheckRow:
    """One inequality with both of its sides."""

    name: str
    left: ShownNumber
    sign: str
    right: ShownNumber
    verdict: str


@final
@dataclass(frozen=True, slots=True)
class ClaimContent:
    """Everything the template draws about a claim."""

    statement: str
    source: str
    summary: str
    verdict: str
    verdict_words: str
    mood: str
    key_name: str
    key: ShownNumber
    checks: tuple[CheckRow, ...]
    errata: tuple[str, ...]
    command: str


def claim_part(record: ClaimRecord, anchor: str) -> Part:
    """Return the part of one claim."""
    words, mood = _verdict_words(record.verdict, record.expected)
    name, title = shown(record.claim), shown(record.title, 120)
    key = show(record.key_number.value)
    return Part(
        group=GROUP,
        template="claim.html",
        anchor=anchor,
        title=f"{name}: {title}",
        line=Line(
            what=name,
            about=title,
            answer=words,
            mood=mood,
            key_name=shown(record.key_number.name, 60),
            key=key,
        ),
        content=ClaimContent(
            statement=record.statement,
            source=record.source,
            summary=record.summary,
            verdict=record.verdict,
            verdict_words=words,
            mood=mood,
            key_name=record.key_number.name,
            key=key,
            checks=tuple(_check(each) for each in record.checks),
            errata=record.errata,
            command=record.command,
        ),
        origin=Origin(
            command=record.command,
            facts=(("scale", record.scale), ("seed", str(record.seed))),
            versions=tuple(record.versions.items()),
        ),
        plots=tuple(
            _plot(each, f"{anchor}-figure-{at}")
            for at, each in enumerate(record.figures, start=1)
        ),
        sheets=tuple(
            _sheet(each, f"{anchor}-table-{at}")
            for at, each in enumerate(record.tables, start=1)
        ),
    )


def _verdict_words(verdict: ClaimVerdict, expected: ClaimVerdict) -> tuple[str, str]:
    """Return the verdict in words, and the mood of its box."""
    if verdict is expected:
        return f"{verdict}, as expected", "good"
    mood = "open" if verdict is ClaimVerdict.UNDECIDED else "bad"
    return f"{verdict}, but expected: {expected}", mood


def _check(check: Check) -> CheckRow:
    return CheckRow(
        name=check.name,
        left=show(check.left),
        sign=SIGNS[check.verdict],
        right=show(check.right),
        verdict=check.verdict,
    )


def _plot(figure: Figure, key: str) -> CurvePlot:
    return CurvePlot(
        key=key,
        title=shown(figure.title, 120),
        x=shown(figure.x, 60),
        y=shown(figure.y, 60),
        curves=tuple(
            Curve(
                name=shown(each.name),
                points=tuple((p.x, p.y, p.lower, p.upper) for p in each.points),
                certainty=each.certainty,
                bound=each.bound,
            )
            for each in figure.curves
        ),
        log_x=figure.log_x,
        log_y=figure.log_y,
        note=figure.note,
        marks=tuple((at, shown(word, 80)) for at, word in figure.marks),
    )


def _sheet(table: Table, key: str) -> Sheet:
    if table.certainty and len(table.certainty) != len(table.columns):
        raise damaged_record(
            list(table.certainty), f"{len(table.columns)} words of certainty"
        )
    numeric = [
        any(_is_number(row[at]) for row in table.rows if at < len(row))
        for at in range(len(table.columns))
    ]
    return sheet(
        key,
        table.title,
        [
            heading(
                column, table.certainty[at] if table.certainty and numeric[at] else ""
            )
            for at, column in enumerate(table.columns)
        ],
        table.rows,
    )


def _is_number(cell: str | float | int) -> bool:
    return not isinstance(cell, str) or cell in {"inf", "-inf"}
