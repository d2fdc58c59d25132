"""A sweep: how far it is, its numbers over every axis, and what failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, final

from simgap.records.note import Note
from simgap.records.sweep import Sweep, axis_text
from simgap.report.part import Line, Part, certainties_of, origin_of
from simgap.report.sheet import Cell, Heading, Sheet, sheet
from simgap.report.shown_number import show
from simgap.report.sweep_cells import CellLine, CellNumber, SweepCells, read_cells
from simgap.report.sweep_plot import sweep_plot
from simgap.text import counted, shown

GROUP = "The sweep"
ROUNDING = 1e-9  # of the largest number of a column: 0 but for rounding


@final
@dataclass(frozen=True, slots=True)
class SweepContent:
    """Everything the template draws about a sweep."""

    headline: str
    mood: str
    steps: tuple[str, ...]  # what to do next
    same: tuple[tuple[str, str], ...]  # what all cells have
    changes: tuple[str, ...]
    table: str  # where the numbers are; empty: there is no table
    notes: tuple[Note, ...]


def sweep_part(record: Sweep, anchor: str) -> Part:
    """Return the part of `sweep.json` and the table beside it."""
    cells = read_cells(record)
    missing = record.cells - record.done - record.failed
    plots, sheets = [], []
    if cells is not None:
        note = " ".join(_drawn(record, cells))
        plot = sweep_plot(cells, record.columns, f"{anchor}-cells", note)
        plots += [] if plot is None else [plot]
        sheets.append(_first_cells(record, cells, f"{anchor}-table-1"))
    if record.failures:
        sheets.append(_failures(record, f"{anchor}-failed"))
    title = shown(record.title or record.question, 80)
    origin = origin_of(record)
    return Part(
        group=GROUP,
        template="sweep.html",
        anchor=anchor,
        title=title,
        line=Line(
            what="sweep",
            about=title,
            answer=f"{record.done} of {counted(record.cells, 'cell')}",
            mood="mind" if record.failed or missing > 0 else "plain",
            key_name="failed",
            key=show(record.failed, certainty="exact"),
        ),
        content=SweepContent(
            headline=_headline(record, missing),
            mood="mind" if record.failed or missing > 0 else "good",
            steps=tuple(_steps(record, missing)),
            same=tuple(_same(record)),
            changes=record.changes,
            table="" if cells is None else Path(str(record.table)).name,
            notes=record.notes,
        ),
        origin=replace(
            origin, facts=tuple(each for each in origin.facts if each[0] != "model")
        ),
        plots=tuple(plots),
        sheets=tuple(sheets),
        certainties=certainties_of(
            record,
            kind="sweep",
            gaps=False,
            more=[] if cells is None else list(_labels(record, cells)),
        ),
    )


def _headline(record: Sweep, missing: int) -> str:
    told = f"{record.done} of {counted(record.cells, 'cell')} done"
    told += f", {record.failed} failed" if record.failed else ""
    return told + (f", {missing} not there yet." if missing > 0 else ".")


def _steps(record: Sweep, missing: int) -> Iterator[str]:
    if missing > 0:
        yield "simgap resume RUN computes what is not there yet."
    if record.failed:
        yield "simgap retry RUN runs failed cells again."


def _same(record: Sweep) -> Iterator[tuple[str, str]]:
    """Return what all cells have."""
    yield "question", record.question
    for name, values in record.axes.items():
        if len(values) == 1:
            yield name, axis_text(values[0])
    for name, value in record.settings.items():
        yield name, axis_text(value)


def _drawn(record: Sweep, cells: SweepCells) -> Iterator[str]:
    """Say what the figure shows and what not."""
    for name, kept in cells.axes.items():
        size = len(record.axes[name])
        if len(kept) < size:
            yield f"Of {size} values of {shown(name, 40)} this page holds {len(kept)}."
    if len(cells.axes.get("seed", ())) > 1:
        yield "Every seed is drawn alone: nothing is averaged over seeds."


def _labels(record: Sweep, cells: SweepCells) -> Iterator[tuple[str, str]]:
    """Return how sure the numbers of every column are."""
    for at, name in enumerate(record.columns):
        found = (line.numbers[at] for line in cells.lines)
        sure = (each.sure for each in found if isinstance(each, CellNumber))
        for word in dict.fromkeys(sure):
            yield shown(name), word


def _first_cells(record: Sweep, cells: SweepCells, key: str) -> Sheet:
    """Return the first lines of the table."""
    varied = [at for at, each in enumerate(record.axes.values()) if len(each) > 1]
    names = list(record.axes)
    noise = [_noise(cells, at) for at in range(len(record.columns))]
    rows = [_row(line, varied, noise) for line in cells.first]
    return sheet(
        key,
        "Cells",
        (
            *(Heading(names[at], "exact") for at in varied),
            *(Heading(name) for name in record.columns),
            Heading("state"),
            Heading("notes"),
        ),
        rows,
        note=_whole_table(record, len(rows)),
    )


def _row(line: CellLine, varied: list[int], noise: list[float]) -> tuple[Cell, ...]:
    numbers = (
        each.shown(small) if isinstance(each, CellNumber) else each
        for each, small in zip(line.numbers, noise, strict=True)
    )
    axes = (line.axes[at] for at in varied)
    return (*axes, *numbers, line.state, line.notes)


def _noise(cells: SweepCells, at: int) -> float:
    """Return what rounding alone may make of the numbers of a column."""
    found = (line.numbers[at] for line in cells.lines)
    ends = (each.ends for each in found if isinstance(each, CellNumber))
    largest = max(
        (abs(end) for pair in ends for end in pair if isfinite(end)), default=0.0
    )
    return ROUNDING * largest


def _whole_table(record: Sweep, shown_rows: int) -> str:
    name = Path(str(record.table)).name
    if shown_rows < record.cells:
        return (
            f"The first {shown_rows} of {record.cells} cells; {name} has all of them."
        )
    return f"{name} in the folder has the same with all digits."


def _failures(record: Sweep, key: str) -> Sheet:
    names = [name for name, values in record.axes.items() if len(values) > 1]
    more = record.failed - len(record.failures)
    return sheet(
        key,
        "Cells that failed",
        (*map(Heading, names), Heading("why"), Heading("code"), Heading("tries")),
        [
            (
                *(_told(each.axes.get(name)) for name in names),
                each.text + (f" ({each.hint})" if each.hint else ""),
                each.code,
                each.tries,
            )
            for each in record.failures
        ],
        note=f"{more} more failed." if more > 0 else "",
        stacked=True,
    )


def _told(value: Any) -> str:
    return "" if value is None else axis_text(value)
