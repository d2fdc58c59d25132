"""The cells of a sweep as its table has them: `table.csv` beside `sweep.json`.

The table may have millions of lines. It is read line by line, and what a page can hold
is kept: of every axis some values, evenly from the first to the last.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from itertools import product
from math import inf, prod
from pathlib import Path
from typing import final

from simgap.errors import InvalidFile, SimgapError
from simgap.intervals import Certified, Estimate, Interval
from simgap.records.provenance import ON_GRID
from simgap.records.sweep import Sweep, axis_text
from simgap.report.heat_plots import spread_out
from simgap.report.shown_number import UNLABELLED, ShownNumber, show
from simgap.text import clean
from simgap.user_files import opened

MOST_NUMBERS = 60_000  # of a page
SEED, ENOUGH_SEEDS = "seed", 10
FIRST_LINES = 60  # of the table that a page shows
ENDINGS = ("", "_lower", "_upper", "_certainty")
DONE, FAILED = "done", "failed"
AS_TOLD = "as told"  # a word, or a number without an interval
WORDS = re.compile(r"estimated, ([0-9.]+) %")


@final
@dataclass(frozen=True, slots=True)
class CellNumber:
    """A number of a cell, and how certain it is."""

    value: float  # the middle of a bracket
    interval: Interval | float
    sure: str  # exact, certified, estimated or unlabelled
    words: str  # the same in full: estimated, 95 %

    @property
    def ends(self) -> tuple[float, float]:
        """Return lower and upper end."""
        found = self.interval
        return found.ends if isinstance(found, Interval) else (found, found)

    def shown(self, noise: float) -> ShownNumber:
        """Return the number as a table has it; 0 if it is not above the noise."""
        found = show(self.interval, certainty=self.sure, noise=noise)
        return found if found.value is None else replace(found, certainty=self.sure)


@final
@dataclass(frozen=True, slots=True)
class CellLine:
    """A cell as the table has it."""

    axes: tuple[str, ...]
    numbers: tuple[CellNumber | str | None, ...]  # one for each column
    notes: str
    state: str


@final
@dataclass(frozen=True, slots=True)
class SweepCells:
    """The cells that a page shows, the last axis fastest."""

    axes: Mapping[str, tuple[str, ...]]  # the values that are kept, as texts
    places: Mapping[str, tuple[int, ...]]  # which of the values those are
    lines: tuple[CellLine, ...]  # one for each combination
    first: tuple[CellLine, ...]  # of the whole table


def read_cells(record: Sweep) -> SweepCells | None:
    """Return the cells of a sweep; None if it has no table."""
    if record.table is None or not os.path.exists(record.table):  # noqa: PTH110 (odd names)
        return None
    texts = {
        name: tuple(clean(axis_text(each)) for each in values)
        for name, values in record.axes.items()
    }
    places = _kept({name: len(each) for name, each in texts.items()}, record)
    wanted = list(_wanted({name: len(each) for name, each in texts.items()}, places))
    lines, first, count = [], [], 0
    left = iter(wanted)
    following = next(left, -1)
    for at, line in enumerate(_lines(Path(record.table), record)):
        count = at + 1
        if at < FIRST_LINES:
            first.append(_line(line, record))
        if at == following:
            lines.append(_line(line, record))
            following = next(left, -1)
    kept = {name: tuple(texts[name][at] for at in places[name]) for name in texts}
    fits = zip((each.axes for each in lines), product(*kept.values()), strict=False)
    size = prod(len(each) for each in texts.values())
    if count != size or any(one != two for one, two in fits):
        raise _other(record)
    return SweepCells(kept, places, tuple(lines), tuple(first))


def _kept(sizes: Mapping[str, int], record: Sweep) -> dict[str, tuple[int, ...]]:
    """Return which values of every axis a page has room for.

    Many seeds become fewer first, then whatever axis is the longest.
    """
    kept = dict(sizes)
    most = max(1, MOST_NUMBERS // max(1, len(record.columns)))
    while prod(kept.values()) > most:
        longest = max(kept, key=lambda name: kept[name])
        name = SEED if kept.get(SEED, 0) > ENOUGH_SEEDS else longest
        kept[name] = kept[name] * 3 // 4
    return {name: spread_out(size, kept[name]) for name, size in sizes.items()}


def _wanted(
    sizes: Mapping[str, int], places: Mapping[str, Sequence[int]]
) -> Iterator[int]:
    """Return the lines of the table that are kept."""
    steps, step = {}, 1
    for name in reversed(tuple(sizes)):
        steps[name] = step
        step *= sizes[name]
    for each in product(*places.values()):
        yield sum(at * steps[name] for at, name in zip(each, places, strict=True))


def _lines(path: Path, record: Sweep) -> Iterator[list[str]]:
    """Return the lines of a table whose head is that of the sweep."""
    head = [*record.axes, *(n + end for n in record.columns for end in ENDINGS)]
    head = [*map(clean, head), "notes", "state", "cell"]
    with opened(path, "table", endings=(".csv",)) as stream:
        text = TextIOWrapper(stream, "utf-8", "replace", newline="")
        reader = csv.reader(text, strict=True)
        try:
            if [clean(each) for each in next(reader, ())] != head:
                raise _other(record)
            for line in reader:
                if len(line) != len(head):
                    raise _other(record)
                yield line
        except csv.Error as error:
            raise _other(record) from error


def _line(line: Sequence[str], record: Sweep) -> CellLine:
    many = len(record.axes)
    fours = [line[many + 4 * at :][:4] for at in range(len(record.columns))]
    try:
        numbers = tuple(map(_number, fours))
    except (ValueError, AttributeError, SimgapError) as error:
        raise _other(record) from error
    return CellLine(
        tuple(map(clean, line[:many])), numbers, clean(line[-3]), clean(line[-2])
    )


def _number(four: Sequence[str]) -> CellNumber | str | None:
    """Return a number, a word, or None: there is nothing."""
    told, lower, upper, words = four
    if not any(four):
        return None
    if words == AS_TOLD:
        return _alone(told)
    ends = float(lower), float(upper)
    if ends == (-inf, inf):
        return None
    if words in ("certified", ON_GRID):
        sure = "exact" if words == "certified" and lower == upper else words
        return CellNumber(_middle(*ends), Certified(*ends), sure, sure)
    part = WORDS.fullmatch(words).group(1)  # type: ignore[union-attr]
    value, confidence = float(told), float(part) / 100.0
    estimate = Estimate(value, *ends, confidence)
    return CellNumber(value, estimate, "estimated", words)


def _alone(told: str) -> CellNumber | str:
    try:
        value = float(told)
    except ValueError:
        return clean(told)
    return CellNumber(value, value, UNLABELLED, UNLABELLED)


def _middle(lower: float, upper: float) -> float:
    return upper if lower == upper else lower / 2.0 + upper / 2.0


def _other(record: Sweep) -> InvalidFile:
    return InvalidFile(
        f"{Path(str(record.table)).name} is not the table of this sweep",
        hint="simgap resume RUN writes it again",
        code="another-table",
    )
