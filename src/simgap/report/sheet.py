"""Tables of a page: what is shown, and the same numbers in full for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from simgap.records.files import damaged_record
from simgap.report.shown_number import ShownNumber, certainty_of
from simgap.text import clean, number, shown

MOST_ROWS = 60  # shown; the file for a spreadsheet has them all
LONGEST_CELL = 600
DIGITS = 6


@final
@dataclass(frozen=True, slots=True)
class Sign:
    """A word with a colour and a sign."""

    word: str
    mood: str  # good, bad, open, mind or plain


Cell = str | float | int | ShownNumber | Sign | None


@final
@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column."""

    title: str
    certainty: str = ""  # empty: words, or a number that says it itself


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """A cell as it stands on the page."""

    text: str
    detail: str
    certainty: str
    is_number: bool
    mood: str = ""


@final
@dataclass(frozen=True, slots=True)
class Sheet:
    """A table with a key that names it in the page and in the name of its file."""

    key: str
    title: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Shown, ...], ...]
    left_out: int
    full: tuple[tuple[Any, ...], ...]  # all rows, for the spreadsheet
    wide: tuple[str, ...]  # the heads of the spreadsheet
    note: str = ""
    stacked: bool = False  # on a narrow screen a row is a block: for tables of words

    def data(self) -> dict[str, Any]:
        """Return what the page's script needs to write the file."""
        return {"kind": "table", "columns": self.wide, "rows": self.full}


def sheet(
    key: str,
    title: str,
    headings: Sequence[Heading],
    rows: Sequence[Sequence[Cell]],
    *,
    note: str = "",
    stacked: bool = False,
) -> Sheet:
    """Return a table; a cell with a number becomes three columns in the spreadsheet."""
    for row in rows:
        if len(row) != len(headings):
            raise damaged_record(list(row), f"a row of {len(headings)} cells")
    headings, rows = _hoisted(headings, rows)
    spread = [
        any(isinstance(row[at], ShownNumber) and _has_ends(row[at]) for row in rows)
        for at in range(len(headings))
    ]
    return Sheet(
        key=key,
        title=shown(title, 120),
        headings=tuple(
            Heading(shown(each.title, 80), each.certainty) for each in headings
        ),
        rows=tuple(tuple(_shown(cell) for cell in row) for row in rows[:MOST_ROWS]),
        left_out=max(0, len(rows) - MOST_ROWS),
        full=tuple(
            tuple(
                full
                for cell, wide in zip(row, spread, strict=True)
                for full in _full(cell, wide)
            )
            for row in rows
        ),
        wide=tuple(
            name
            for heading, wide in zip(headings, spread, strict=True)
            for name in _names(clean(heading.title), wide)
        ),
        note=note,
        stacked=stacked,
    )


def heading(title: str, certainty: str = "") -> Heading:
    """Return the head of a column of a record."""
    return Heading(title or "?", certainty_of(certainty) if certainty else "")


def _hoisted(
    headings: Sequence[Heading], rows: Sequence[Sequence[Cell]]
) -> tuple[list[Heading], list[list[Cell]]]:
    """Return a table whose columns say once what all their numbers would say."""
    heads, made = list(headings), [list(row) for row in rows]
    for at, head in enumerate(headings):
        cells = [row[at] for row in made]
        numbers = [each for each in cells if isinstance(each, ShownNumber)]
        words = {each.certainty for each in numbers if each.value is not None}
        word = words.pop() if len(words) == 1 else ""
        if head.certainty or not word:
            continue
        heads[at] = Heading(head.title, word)
        for row in made:
            cell = row[at]
            if isinstance(cell, ShownNumber):
                row[at] = replace(cell, certainty="")
    return heads, made


def _has_ends(cell: Cell) -> bool:
    return isinstance(cell, ShownNumber) and (
        cell.lower != cell.upper or cell.value != cell.lower
    )


def _names(title: str, wide: bool) -> list[str]:
    return [title, f"{title}, lower", f"{title}, upper"] if wide else [title]


def _full(cell: Cell, wide: bool) -> list[Any]:
    if isinstance(cell, ShownNumber):
        return list(cell.ends) if wide else [cell.value]
    if isinstance(cell, Sign):
        return _full(cell.word, wide)
    whole = clean(cell) if isinstance(cell, str) else cell
    return [whole, None, None] if wide else [whole]


def _shown(cell: Cell) -> Shown:
    if isinstance(cell, ShownNumber):
        return Shown(cell.text, cell.detail, cell.certainty, True)
    if isinstance(cell, Sign):
        return Shown(shown(cell.word), "", "", False, cell.mood)
    if cell is None:
        return Shown("-", "", "", False)
    if isinstance(cell, str):
        if cell in {"inf", "-inf"}:  # how a record spells them
            return Shown(number(float(cell)), "", "", True)
        return Shown(shown(cell, LONGEST_CELL) if cell else "", "", "", False)
    if isinstance(cell, int):
        return Shown(str(cell), "", "", True)
    return Shown(number(cell, DIGITS), "", "", True)
