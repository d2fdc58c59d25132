"""Figures as data: curves and bars, each with a description in words.

The script of the page draws them with plotly, in the colours of light or dark paper;
nothing here knows a colour. Names are cleaned and cut where they come in, so that what
a figure shows is what its description says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.report.heat_plots import HeatPlot, SlidingHeat
from simgap.report.shown_number import UNLABELLED, ShownNumber
from simgap.report.sweep_plot import SweepPlot
from simgap.text import at_least, at_most, number, sentences, shown

MOST_POINTS = 1_000  # of one curve
MOST_NAMED = 8  # things a description names one by one

Point = tuple[float, float, float, float]  # x, y, lower, upper


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a figure."""

    name: str
    points: tuple[Point, ...]
    certainty: str
    bound: bool = False  # dashed, without markers
    hidden: bool = False  # until the reader asks for it


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
    band: bool = False  # intervals are bands, however few points there are

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its curves are, each word once."""
        return tuple(dict.fromkeys(each.certainty for each in self.curves))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it."""
        lines = [_curve_words(each) for each in self.curves[:MOST_NAMED]]
        if len(self.curves) > MOST_NAMED:
            lines.append(f"{len(self.curves) - MOST_NAMED} more curves")
        lines += [f"A mark at {number(at, 4)}: {word}" for at, word in self.marks]
        return sentences(f"{self.y} over {self.x}", lines)

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
            "band": self.band,
            "marks": self.marks,
            "curves": [
                {
                    "name": each.name,
                    "sure": each.certainty,
                    "bound": each.bound,
                    "hidden": each.hidden,
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
    bars: tuple[tuple[str, ShownNumber], ...]
    note: str = ""
    ticks: tuple[float | None, ...] = ()  # one beside every bar, to compare with
    tick_name: str = ""
    ranges: tuple[tuple[float, float] | None, ...] = ()  # one behind every bar
    range_name: str = ""  # what a range is: it is no doubt about the bar's number

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its bars are, each word once."""
        return tuple(dict.fromkeys(each.certainty for _, each in self.bars))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it."""
        lines = [
            f"{name}: {_value(each)}{self._tick_words(at)}{self._range_words(at)}"
            for at, (name, each) in enumerate(self.bars[:MOST_NAMED])
        ]
        if len(self.bars) > MOST_NAMED:
            lines.append(f"{len(self.bars) - MOST_NAMED} more bars")
        return sentences(self.x, lines)

    def _tick_words(self, at: int) -> str:
        known = self.ticks[at] if at < len(self.ticks) else None
        return "" if known is None else f"; {self.tick_name} {number(known, 4)}"

    def _range_words(self, at: int) -> str:
        known = self.ranges[at] if at < len(self.ranges) else None
        if known is None:
            return ""
        return f"; {self.range_name} {at_least(known[0])} to {at_most(known[1])}"

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            "kind": "bars",
            "title": self.title,
            "x": self.x,
            "bars": [
                [name, each.certainty, *each.ends, each.text]
                for name, each in self.bars
            ],
            "ticks": self.ticks,
            "tick_name": self.tick_name,
            "ranges": self.ranges,
            "range_name": self.range_name,
        }


@final
@dataclass(frozen=True, slots=True)
class GroupPlot:
    """Bars in groups: one group for every name, one bar in it for every series."""

    key: str
    title: str
    x: str
    y: str
    groups: tuple[str, ...]
    series: tuple[tuple[str, tuple[ShownNumber, ...]], ...]  # a number for every group
    unit: str = ""  # after a number
    level: float | None = None  # a line across, to compare with
    level_name: str = ""
    note: str = ""

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its bars are, each word once."""
        found = (each.certainty for _, bars in self.series for each in bars)
        return tuple(dict.fromkeys(word for word in found if word))

    @property
    def words(self) -> str:
        """Return the figure for those who do not see it."""
        lines = [
            f"{name}: "
            + "; ".join(
                f"{series} {_value(bars[at])}{self.unit}"
                for series, bars in self.series
            )
            for at, name in enumerate(self.groups)
        ]
        if self.level is not None:
            lines.append(f"{self.level_name}: {number(self.level, 4)}{self.unit}")
        return sentences(self.y, lines)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            "kind": "groups",
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "unit": self.unit,
            "groups": self.groups,
            "series": [
                {
                    "name": name,
                    "bars": [[each.certainty, *each.ends, each.text] for each in bars],
                }
                for name, bars in self.series
            ],
            "level": self.level,
            "level_name": self.level_name,
        }


Plot = CurvePlot | BarPlot | GroupPlot | HeatPlot | SlidingHeat | SweepPlot


def shown_curve(
    name: str, found: Sequence[tuple[float, ShownNumber]], certainty: str = UNLABELLED
) -> Curve:
    """Return numbers over x as a curve; those that are not there are left out.

    `certainty` is what the record says of all of them; if it says nothing, the most
    frequent of their own words.
    """
    known = [
        (x, each.value, each.lower, each.upper)
        for x, each in found
        if each.value is not None and each.lower is not None and each.upper is not None
    ]
    words = [each.certainty for _, each in found if each.certainty]
    if certainty == UNLABELLED:
        certainty = max(words, default=certainty, key=words.count)
    return Curve(name, tuple(sorted(known)), certainty)


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


def _value(each: ShownNumber) -> str:
    return each.text + (f" ({each.detail})" if each.detail else "")
