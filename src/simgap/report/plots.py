"""Figures as data: curves, bars and heat maps, each with a description in words.

The script of the page draws them with plotly, in the colours of light or dark paper;
nothing here knows a colour. Names are cleaned and cut where they come in, so that what
a figure shows is what its description says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, isfinite, log10
from typing import Any, final

from simgap.report.told import Told
from simgap.report.words import number, shown

MOST_POINTS = 1_000  # of one curve
MANY_TOLD = 8  # things a description names one by one
WIDE_RANGE = 5.0  # largest over middle value, above which colours are logarithmic
DECADES = 3  # of a logarithmic scale of colours, at most

Point = tuple[float, float, float, float]  # x, y, lower, upper


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a figure."""

    name: str
    points: tuple[Point, ...]
    certainty: str
    bound: bool = False  # dashed, without markers


@final
@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Curves over one pair of axes."""

    key: str
    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""
    marks: tuple[tuple[float, str], ...] = ()  # vertical lines: where, and what
    stairs: bool = False  # a value holds until the next one

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its curves are, each word once."""
        return tuple(dict.fromkeys(each.certainty for each in self.curves))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it."""
        told = [_curve_words(each) for each in self.curves[:MANY_TOLD]]
        if len(self.curves) > MANY_TOLD:
            told.append(f"{len(self.curves) - MANY_TOLD} more curves")
        told += [f"A mark at {number(at, 4)}: {word}" for at, word in self.marks]
        return _sentences(f"{self.y} over {self.x}", told)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            "kind": "curves",
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "log_x": self.log_x,
            "log_y": self.log_y,
            "stairs": self.stairs,
            "marks": self.marks,
            "curves": [
                {
                    "name": each.name,
                    "sure": each.certainty,
                    "bound": each.bound,
                    "points": [_short(point) for point in thinned(each.points)],
                }
                for each in self.curves
            ],
        }


@final
@dataclass(frozen=True, slots=True)
class BarPlot:
    """One bar for every name, with its interval."""

    key: str
    title: str
    x: str
    bars: tuple[tuple[str, Told], ...]
    note: str = ""

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its bars are, each word once."""
        return tuple(dict.fromkeys(told.certainty for _, told in self.bars))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it."""
        told = [f"{name}: {_value(each)}" for name, each in self.bars[:MANY_TOLD]]
        if len(self.bars) > MANY_TOLD:
            told.append(f"{len(self.bars) - MANY_TOLD} more bars")
        return _sentences(self.x, told)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            "kind": "bars",
            "title": self.title,
            "x": self.x,
            "bars": [
                [name, told.certainty, *told.ends, told.text]
                for name, told in self.bars
            ],
        }


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
    cells: tuple[tuple[Told, ...], ...]  # (rows, columns)
    note: str = ""

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its cells are, each word once."""
        words = (told.certainty for row in self.cells for told in row)
        return tuple(dict.fromkeys(word for word in words if word))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it: the ends of every row."""
        told = []
        for name, row in zip(self.rows[:MANY_TOLD], self.cells, strict=False):
            known = [
                (each.value, at)
                for at, each in enumerate(row)
                if each.drawable and each.value is not None
            ]
            if known:
                least, most = min(known), max(known)
                told.append(
                    f"{name}: from {number(least[0], 4)} ({self.columns[least[1]]}) "
                    f"to {number(most[0], 4)} ({self.columns[most[1]]})"
                )
        if len(self.rows) > MANY_TOLD:
            told.append(f"{len(self.rows) - MANY_TOLD} more rows")
        return _sentences(f"{self.value}, {self.row_axis} by {self.column_axis}", told)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        low, high, logarithmic = _colour_range(self.cells)
        return {
            "kind": "heat",
            "title": self.title,
            "row_axis": self.row_axis,
            "column_axis": self.column_axis,
            "value": self.value,
            "rows": self.rows,
            "columns": self.columns,
            "low": low,
            "high": high,
            "log": logarithmic,
            "sures": [list(dict.fromkeys(t.certainty for t in r)) for r in self.cells],
            "cells": [[_cell(told) for told in row] for row in self.cells],
        }


Plot = CurvePlot | BarPlot | HeatPlot


def thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Return at most MOST_POINTS of the points, the last one among them."""
    step = -(-len(points) // MOST_POINTS)
    if step <= 1:
        return points
    kept = list(points[::step])
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def short_names(names: Sequence[str], width: int = 40) -> tuple[str, ...]:
    """Return names as figures show them."""
    return tuple(shown(name, width) for name in names)


def _short(point: Point) -> tuple[float, ...]:
    x, y, lower, upper = point
    return (x, y) if lower == y == upper else point


def _cell(told: Told) -> Any:
    if told.value is None:
        return None
    known = told.lower == told.value == told.upper
    return told.value if known else list(told.ends)


def _colour_range(cells: Sequence[Sequence[Told]]) -> tuple[float, float, bool]:
    """Return where colours begin and end, and whether they go by logarithms."""
    values = sorted(
        told.value
        for row in cells
        for told in row
        if told.value is not None and isfinite(told.value)
    )
    if not values:
        return 0.0, 1.0, False
    most, least = values[-1], min(0.0, values[0])
    positive = [value for value in values if value > 0.0]
    middle = positive[len(positive) // 2] if positive else inf
    if least < 0.0 or most < WIDE_RANGE * middle:
        return least, most if most > least else least + 1.0, False
    lowest = max(positive[0], most * 10.0**-DECADES)
    return 10.0 ** floor(log10(lowest)), most, True


def _curve_words(curve: Curve) -> str:
    what = "bound " if curve.bound else ""
    if not curve.points:
        return f"{what}{curve.name}: no points"
    first, last = curve.points[0], curve.points[-1]
    sure = f" ({curve.certainty})" if curve.certainty else ""
    return (
        f"{what}{curve.name}{sure}: {number(first[1], 4)} at {number(first[0], 4)}"
        + (
            f", {number(last[1], 4)} at {number(last[0], 4)}"
            if len(curve.points) > 1
            else ""
        )
    )


def _value(told: Told) -> str:
    return told.text + (f" ({told.detail})" if told.detail else "")


def _sentences(head: str, told: Sequence[str]) -> str:
    return ". ".join([head, *told]) + "."
