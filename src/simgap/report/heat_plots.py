"""Heat maps as data: a table of numbers as coloured cells, for one horizon or several.

Colours of a map with a slider have one scale for all its tables, so that one sees what
grows. A map of very many models shows some of them, and the part says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, inf, isfinite, log10
from typing import Any, final

from simgap.report.shown_number import ShownNumber
from simgap.text import number, sentences

MOST_NAMED = 8  # rows a description names one by one
WIDE_RANGE = 5.0  # largest over middle value, above which colours are logarithmic
ROUNDING = 1e-9  # of the largest value: 0 but for rounding
DECADES = 3  # of a logarithmic scale of colours, at most

Table = tuple[tuple[ShownNumber, ...], ...]  # (rows, columns)


@final
@dataclass(frozen=True, slots=True)
class Dot:
    """A number that was measured, on a map whose rows and columns are numbers."""

    x: float  # in columns, from 0 on
    y: float  # in rows
    place: int | None  # of the slider at which it is shown; None: at all
    number: ShownNumber  # without a value: a cross
    words: str  # where it is


@final
@dataclass(frozen=True, slots=True)
class HeatPlot:
    """A table of numbers as coloured cells; a cell without a number stays empty."""

    key: str
    title: str
    row_axis: str
    column_axis: str
    value: str  # what a cell shows
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Table
    note: str = ""
    row_word: str = ""  # before the name of a row, where a cell is read out
    column_word: str = ""
    dots: tuple[Dot, ...] = ()

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its cells are, each word once."""
        return _words_of([self.cells])

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it: the ends of every row."""
        lines = _row_words(self.rows, self.columns, self.cells)
        return sentences(f"{self.value}, {self.row_axis} by {self.column_axis}", lines)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            **_frame(self),
            **_colours([self.cells], self.dots),
            "sures": _sures(self.cells),
            "cells": _cells(self.cells),
        }


@final
@dataclass(frozen=True, slots=True)
class SlidingHeat:
    """Tables with the same rows and columns, one for each place of a slider."""

    key: str
    title: str
    row_axis: str
    column_axis: str
    value: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    slider: str  # what the slider changes
    places: tuple[str, ...]  # its readings
    tables: tuple[Table, ...]  # one for each place
    first: int = -1  # the place that is shown first
    note: str = ""
    row_word: str = ""
    column_word: str = ""
    dots: tuple[Dot, ...] = ()

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its cells are, each word once."""
        return _words_of(self.tables)

    @property
    def words(self) -> str:
        """Return the table that is shown first for those who do not see it."""
        what = f"{self.value}, {self.row_axis} by {self.column_axis}"
        lines = _row_words(self.rows, self.columns, self.tables[self.first])
        return sentences(f"{what}, at {self.slider} {self.places[self.first]}", lines)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            **_frame(self),
            **_colours(self.tables, self.dots),
            "slider": self.slider,
            "places": self.places,
            "first": self.first % len(self.places),
            "sures": _sures(self.tables[-1]),
            "tables": [_cells(each) for each in self.tables],
        }


def spread_out(count: int, most: int) -> tuple[int, ...]:
    """Return at most `most` of `count` places, evenly, both ends among them."""
    if count <= most:
        return tuple(range(count))
    if most <= 1:
        return (0,)
    return tuple(k * (count - 1) // (most - 1) for k in range(most))


def _frame(plot: HeatPlot | SlidingHeat) -> dict[str, Any]:
    return {
        "kind": "heat",
        "title": plot.title,
        "row_axis": plot.row_axis,
        "column_axis": plot.column_axis,
        "row_word": plot.row_word,
        "column_word": plot.column_word,
        "value": plot.value,
        "rows": plot.rows,
        "columns": plot.columns,
        "dots": [
            (each.x, each.y, each.place, *each.number.ends, each.words)
            for each in plot.dots
        ],
    }


def _words_of(tables: Iterable[Table]) -> tuple[str, ...]:
    words = (each.certainty for table in tables for row in table for each in row)
    return tuple(dict.fromkeys(word for word in words if word))


def _row_words(rows: Sequence[str], columns: Sequence[str], cells: Table) -> list[str]:
    lines = []
    for name, row in zip(rows[:MOST_NAMED], cells, strict=False):
        known = [
            (each.value, at)
            for at, each in enumerate(row)
            if each.drawable and each.value is not None
        ]
        if known:
            least, most = min(known), max(known)
            lines.append(
                f"{name}: from {number(least[0], 4)} ({columns[least[1]]}) "
                f"to {number(most[0], 4)} ({columns[most[1]]})"
            )
    if len(rows) > MOST_NAMED:
        lines.append(f"{len(rows) - MOST_NAMED} more rows")
    return lines


def _sures(cells: Table) -> list[list[str]]:
    """Return how sure the cells of every row are."""
    return [
        list(dict.fromkeys(each.certainty for each in row if each.certainty))
        for row in cells
    ]


def _cells(table: Table) -> list[list[Any]]:
    return [[_cell(each) for each in row] for row in table]


def _cell(each: ShownNumber) -> Any:
    if each.value is None:
        return None
    known = each.lower == each.value == each.upper
    return each.value if known else list(each.ends)


def _colours(tables: Sequence[Table], dots: Sequence[Dot]) -> dict[str, Any]:
    """Return where colours begin and end, and whether they go by logarithms.

    Those of a fitted map end where what was measured ends, and are even: small
    differences in a fit are none.
    """
    cells = [each for table in tables for row in table for each in row]
    values = sorted(
        each.value
        for each in ([dot.number for dot in dots] or cells)
        if each.value is not None and isfinite(each.value)
    )
    low, high, logarithmic = _range(values)
    if dots and values:
        low, high = min(0.0, values[0]), values[-1]
        return {"low": low, "high": high if high > low else low + 1.0, "log": False}
    return {"low": low, "high": high, "log": logarithmic}


def _range(values: Sequence[float]) -> tuple[float, float, bool]:
    if not values:
        return 0.0, 1.0, False
    most = values[-1]
    least = values[0] if values[0] < -ROUNDING * abs(most) else 0.0
    positive = [value for value in values if value > ROUNDING * most]
    middle = positive[len(positive) // 2] if positive else inf
    if least < 0.0 or most < WIDE_RANGE * middle:
        return least, most if most > least else least + 1.0, False
    lowest = max(positive[0], most * 10.0**-DECADES)
    return 10.0 ** floor(log10(lowest)), most, True
