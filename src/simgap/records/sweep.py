"""How far is a sweep? The record of `simgap sweep`, `status`, `resume` and `retry`."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import Annotated, Any, final

from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A cell that failed."""

    cell: str
    axes: Annotated[dict[str, Any], means("its place: the value of every axis")]
    code: Annotated[str, means("of the failure: memory-limit, time-limit, ...")]
    text: str
    hint: Annotated[str, means("a way out, if one is known")]
    tries: Annotated[int, means("how often it was run")]

    @property
    def line(self) -> str:
        """Return the cell in a line."""
        where = ", ".join(f"{name}={value}" for name, value in self.axes.items())
        return f"{where}: {self.text}" + (f" ({self.hint})" if self.hint else "")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCost:
    """What the cells that are left will take, about."""

    seconds: Annotated[float | None, means("here, with these workers; null: unknown")]
    disk: Annotated[int | None, means("bytes")]
    measured: Annotated[int, means("cells that were timed for it")]
    at_least: Annotated[bool, means("a timed cell was stopped")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Record):
    """How far a sweep is."""

    schema: int = SCHEMA
    kind: str = "sweep"
    title: str
    question: Annotated[str, means("asked in every cell")]
    cells: Annotated[int, means("of the plan")]
    done: Annotated[int, means("of those")]
    failed: Annotated[int, means("of those")]
    running: Annotated[int, means("by a driver that is at work now")]
    driver: str | None
    reused: Annotated[int, means("cells that were finished before this command")]
    axes: Annotated[dict[str, tuple[Any, ...]], means("what varies, with its values")]
    columns: Annotated[dict[str, str], means("numbers of a cell, and what each is")]
    settings: Annotated[dict[str, Any], means("the same in every cell")]
    changes: Annotated[tuple[str, ...], means("in the plan, since the one before")]
    dropped: Annotated[int, means("finished cells that are not in the plan any more")]
    failures: Annotated[tuple[FailedCell, ...], means("the first hundred")]
    cost: Annotated[SweepCost | None, means("of what is left, if that was asked")]
    table: Annotated[str | None, means("the file that has a line for each cell")]
    page: str | None
    seconds: Annotated[float | None, means("of this command")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance


def axis_text(value: Any) -> str:
    """Return the value of an axis as tables and pages have it."""
    if isinstance(value, bool | dict):
        return dumps(value)
    return repr(value) if isinstance(value, float) else str(value)
