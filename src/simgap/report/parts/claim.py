"""A claim of the paper: what it says, what the numbers say, and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from simgap.report.part import Line, Origin, Part
from simgap.report.plots import Curve, CurvePlot
from simgap.report.reading import (
    as_list,
    as_object,
    as_objects,
    as_text,
    not_ours,
    number,
)
from simgap.report.sheet import Cell, Sheet, heading, sheet
from simgap.report.shown_number import NOTHING, Told, certainty_of, told
from simgap.text import shown

GROUP = "Claims of the paper"
VERDICTS = ("holds", "refuted", "undecided")
SIGNS = {"holds": "≤", "refuted": ">", "undecided": "?"}


@final
@dataclass(frozen=True, slots=True)
class CheckRow:
    """One inequality with both of its sides."""

    name: str
    left: Told
    sign: str
    right: Told
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
    key: Told
    checks: tuple[CheckRow, ...]
    errata: tuple[str, ...]
    command: str


def claim_part(record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of one claim."""
    verdict, expected = (_verdict(record.get(key)) for key in ("verdict", "expected"))
    words, mood = _verdict_words(verdict, expected)
    name = shown(as_text(record.get("claim")) or "?")
    title = as_text(record.get("title"))
    found = as_object(record.get("key_number"))
    key, key_name = told(found.get("value")), as_text(found.get("name"))
    plots = tuple(
        _plot(each, f"{anchor}-figure-{at}")
        for at, each in enumerate(as_objects(record.get("figures")), start=1)
    )
    sheets = tuple(
        _sheet(each, f"{anchor}-table-{at}")
        for at, each in enumerate(as_objects(record.get("tables")), start=1)
    )
    command = as_text(record.get("command"))
    return Part(
        group=GROUP,
        template="claim.html",
        anchor=anchor,
        title=f"{name}: {shown(title, 120)}" if title else name,
        line=Line(
            what=name,
            about=shown(title, 120) if title else "",
            answer=words,
            mood=mood,
            key_name=shown(key_name, 60) if key_name else "",
            key=key,
        ),
        content=ClaimContent(
            statement=as_text(record.get("statement")),
            source=as_text(record.get("source")),
            summary=as_text(record.get("summary")),
            verdict=verdict,
            verdict_words=words,
            mood=mood,
            key_name=key_name,
            key=key,
            checks=tuple(_check(each) for each in as_objects(record.get("checks"))),
            errata=tuple(as_text(each) for each in as_list(record.get("errata"))),
            command=command,
        ),
        origin=Origin(
            command=command,
            facts=tuple(
                (key, as_text(record[key]))
                for key in ("scale", "seed")
                if record.get(key) is not None
            ),
            versions=tuple(
                (as_text(what), as_text(which))
                for what, which in as_object(record.get("versions")).items()
            ),
        ),
        plots=plots,
        sheets=sheets,
    )


def _verdict(word: Any) -> str:
    if word is None:
        return ""
    if word not in VERDICTS:
        raise not_ours(word, f"one of {', '.join(VERDICTS)}")
    return str(word)


def _verdict_words(verdict: str, expected: str) -> tuple[str, str]:
    """Return the verdict in words, and the mood of its box."""
    if not verdict:
        return "no verdict in the record", "open"
    if not expected:
        return verdict, "plain"
    if verdict == expected:
        return f"{verdict}, as expected", "good"
    mood = "open" if verdict == "undecided" else "bad"
    return f"{verdict}, but expected: {expected}", mood


def _check(check: Mapping[str, Any]) -> CheckRow:
    verdict = _verdict(check.get("verdict"))
    return CheckRow(
        name=as_text(check.get("name")) or "a check without a name",
        left=told(check.get("left")),
        sign=SIGNS.get(verdict, "≤"),
        right=told(check.get("right")),
        verdict=verdict or "no verdict",
    )


def _plot(figure: Mapping[str, Any], key: str) -> CurvePlot:
    return CurvePlot(
        key=key,
        title=shown(as_text(figure.get("title")) or "A figure", 120),
        x=shown(as_text(figure.get("x")) or "x", 60),
        y=shown(as_text(figure.get("y")) or "y", 60),
        curves=tuple(_curve(each) for each in as_objects(figure.get("curves"))),
        log_x=figure.get("log_x") is True,
        log_y=figure.get("log_y") is True,
        note=as_text(figure.get("note")),
        marks=tuple(_mark(each) for each in as_list(figure.get("marks"))),
    )


def _curve(curve: Mapping[str, Any]) -> Curve:
    return Curve(
        name=shown(as_text(curve.get("name")) or "?"),
        points=tuple(
            (_end(p, "x"), _end(p, "y"), _end(p, "lower"), _end(p, "upper"))
            for p in as_objects(curve.get("points"))
        ),
        certainty=certainty_of(curve.get("certainty")),
        bound=curve.get("bound") is True,
    )


def _end(point: Mapping[str, Any], which: str) -> float:
    """Return one number of a point; ends that are not there are the point itself."""
    missing = which in {"lower", "upper"} and point.get(which) is None
    return number(point.get("y" if missing else which))


def _mark(mark: Any) -> tuple[float, str]:
    pair = as_list(mark)
    if len(pair) != 2:
        raise not_ours(mark, "a mark: where, and what")
    return number(pair[0]), shown(as_text(pair[1]) or "?", 80)


def _sheet(table: Mapping[str, Any], key: str) -> Sheet:
    columns = as_list(table.get("columns"))
    words = as_list(table.get("certainty"))
    if words and len(words) != len(columns):
        raise not_ours(words, f"{len(columns)} words of certainty")
    rows = [[_cell(each) for each in as_list(r)] for r in as_list(table.get("rows"))]
    numeric = [
        any(_is_number(row[at]) for row in rows if at < len(row))
        for at in range(len(columns))
    ]
    return sheet(
        key,
        as_text(table.get("title")) or "A table",
        [
            heading(column, words[at] if words and numeric[at] else "")
            for at, column in enumerate(columns)
        ],
        rows,
    )


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, Told | int | float) or cell in {"inf", "-inf"}


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        found = told(value)
        return None if found is NOTHING else found
    raise not_ours(value, "words or a number")
