"""The figure of a sweep: any axis across, another as colour, a third as panels.

The reader chooses the number and the axes; all other axes are held at one value, which
the reader chooses too. Seeds are never averaged: each is a line or a bar of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, final

from simgap.report.sweep_cells import FAILED, SEED, CellNumber, SweepCells
from simgap.text import number, sentences, shown

HORIZON = "horizon"
LONGEST = 100  # signs of a value
NONE, EVERY = -1, -1  # no axis; all values of an axis
MOST_PANELS = 6  # of an axis that is shown in panels unless the reader asks
MOST_NAMED = 8  # lines that a description names one by one
FAR = 8.0  # largest value over the smallest, from which an axis may be logarithmic


@final
@dataclass(frozen=True, slots=True)
class SweepAxis:
    """Something that varies."""

    name: str
    labels: tuple[str, ...]
    values: tuple[float, ...] | None  # None: words

    @property
    def every(self) -> bool:
        """Return whether all of its values are drawn unless the reader asks."""
        return self.name == SEED

    @property
    def log(self) -> bool:
        """Return whether its values grow by factors rather than by steps."""
        if self.values is None or min(self.values) <= 0.0:
            return False
        low, *_, high = found = sorted(self.values)
        middle = found[len(found) // 2]
        by_factors = abs(middle - sqrt(low * high)) < abs(middle - (low + high) / 2.0)
        return high >= FAR * low and by_factors


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """What a figure shows: places of axes, NONE where there is none."""

    x: int
    colour: int
    panel: int
    at: tuple[int, ...]  # of each axis the value that it is held at, or EVERY


@final
@dataclass(frozen=True, slots=True)
class SweepColumn:
    """A number of all cells."""

    name: str
    about: str
    numbers: tuple[CellNumber | None, ...]


@final
@dataclass(frozen=True, slots=True)
class SweepPlot:
    """Numbers of cells, drawn as the reader chooses."""

    key: str
    title: str
    axes: tuple[SweepAxis, ...]
    columns: tuple[SweepColumn, ...]
    states: tuple[str, ...]
    note: str = ""

    @property
    def choice(self) -> Choice:
        """Return what is shown first."""
        return first_choice(self.axes)

    @property
    def certainties(self) -> tuple[str, ...]:
        """Return how sure its numbers are, each word once."""
        found = (each.sure for one in self.columns for each in one.numbers if each)
        return tuple(dict.fromkeys(found))

    @property
    def words(self) -> str:
        """Return what is shown first for those who do not see it."""
        chosen, column = self.choice, self.columns[0]
        x = self.axes[chosen.x]
        held = [max(0, place) for place in chosen.at]
        names = self.axes[chosen.colour].labels if chosen.colour != NONE else ("",)
        lines = []
        for at, name in enumerate(names[:MOST_NAMED]):
            if chosen.colour != NONE:
                held[chosen.colour] = at
            told = []
            for place in dict.fromkeys((0, len(x.labels) - 1)):
                held[chosen.x] = place
                found = column.numbers[self._place(held)]
                what = "nothing" if found is None else number(found.value, 4)
                sure = "" if found is None else f" ({found.sure})"
                told.append(f"{what} at {x.labels[place]}{sure}")
            lines.append(f"{name}: {', '.join(told)}" if name else ", ".join(told))
        if len(names) > MOST_NAMED:
            lines.append(f"{len(names) - MOST_NAMED} more")
        fixed = [
            f"{axis.name} {axis.labels[max(0, chosen.at[at])]}"
            for at, axis in enumerate(self.axes)
            if at not in (chosen.x, chosen.colour)
        ]
        where = f", at {', '.join(fixed)}" if fixed else ""
        return sentences(f"{column.about} over {x.name}{where}", lines)

    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        chosen = self.choice
        words = {
            each.words: each.sure
            for one in self.columns
            for each in one.numbers
            if each
        }
        codes = {word: at for at, word in enumerate(words)}
        return {
            "kind": "sweep",
            "title": self.title,
            "axes": [
                {
                    "name": each.name,
                    "labels": each.labels,
                    "values": each.values,
                    "log": each.log,
                    "every": each.every,
                }
                for each in self.axes
            ],
            "columns": [_packed(each, codes) for each in self.columns],
            "words": list(words),
            "sures": list(words.values()),
            "states": [
                0 if state == "done" else 1 if state == FAILED else 2
                for state in self.states
            ],
            "first": {
                "y": 0,
                "x": chosen.x,
                "colour": chosen.colour,
                "panel": chosen.panel,
                "at": chosen.at,
                "scale": "",
            },
        }

    def _place(self, held: Sequence[int]) -> int:
        place = 0
        for axis, at in zip(self.axes, held, strict=True):
            place = place * len(axis.labels) + at
        return place


def sweep_plot(
    cells: SweepCells, columns: dict[str, str], key: str, note: str
) -> SweepPlot | None:
    """Return the figure of a sweep; None if nothing varies or there is no number."""
    axes = tuple(
        SweepAxis(
            shown(name, 40),
            tuple(shown(text, LONGEST) for text in labels),
            _values(labels),
        )
        for name, labels in cells.axes.items()
        if len(labels) > 1
    )
    found = (
        SweepColumn(
            shown(name, 40),
            shown(about, 90),
            tuple(
                each if isinstance(each := line.numbers[at], CellNumber) else None
                for line in cells.lines
            ),
        )
        for at, (name, about) in enumerate(columns.items())
    )
    drawn = tuple(each for each in found if any(each.numbers))
    if not axes or not drawn:
        return None
    states = tuple(line.state for line in cells.lines)
    return SweepPlot(key, "Numbers of the cells", axes, drawn, states, note)


def first_choice(axes: Sequence[SweepAxis]) -> Choice:
    """Return what a figure shows unless the reader asks.

    Across is the axis with the most numbers, in colours an axis of words, in panels
    what is left if that has few values.
    """

    def size(at: int) -> int:
        return len(axes[at].labels)

    free = [at for at, each in enumerate(axes) if not each.every]
    numeric = [at for at in free if axes[at].values is not None]
    x = max(numeric or free or [0], key=lambda at: (size(at), axes[at].name == HORIZON))
    left = [at for at in free if at != x]
    words = [at for at in left if axes[at].values is None]
    colour = next(iter(words or left), NONE)
    few = [at for at in left if at != colour and size(at) <= MOST_PANELS]
    return Choice(
        x=x,
        colour=colour,
        panel=next(iter(few), NONE),
        at=tuple(EVERY if each.every else 0 for each in axes),
    )


def _values(labels: Sequence[str]) -> tuple[float, ...] | None:
    """Return an axis of numbers; None if a value is no number."""
    try:
        found = tuple(float(each) for each in labels)
    except ValueError:
        return None
    return found if all(map(isfinite, found)) else None


def _packed(column: SweepColumn, codes: dict[str, int]) -> dict[str, Any]:
    """Return the numbers of a column; ends that are the number itself are left out."""
    values, lower, upper, sure = [], [], [], []
    for each in column.numbers:
        low, high = (None, None) if each is None else each.ends
        value = None if each is None else each.value
        values.append(value)
        lower.append(None if low == value else low)
        upper.append(None if high == value else high)
        sure.append(None if each is None else codes[each.words])
    return {
        "name": column.name,
        "about": column.about,
        "value": values,
        "lower": lower,
        "upper": upper,
        "sure": sure,
    }
