"""How far is a sweep? The records of `simgap sweep`, `status` and `verify`."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import Any, final

from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A cell that failed."""

    cell: str  # its key
    axes: dict[str, Any]  # its place: the value of every axis
    code: str  # of the failure: memory-limit, time-limit, process-died, ...
    text: str
    hint: str  # a way out, if one is known
    tries: int  # how often it was run

    @property
    def line(self) -> str:
        """Return the cell in a line."""
        where = ", ".join(f"{name}={value}" for name, value in self.axes.items())
        return f"{where}: {self.text}" + (f" ({self.hint})" if self.hint else "")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepCost:
    """What the cells that are left will take, about."""

    seconds: float | None  # of this machine with these workers; null: nobody knows
    disk: int | None  # bytes
    measured: int  # cells that were timed for it
    at_least: bool  # a timed cell was stopped: it takes longer than told


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Record):
    """How far a sweep is."""

    schema: int = SCHEMA
    kind: str = "sweep"
    title: str
    question: str  # asked in every cell
    cells: int  # of the plan
    done: int  # of those
    failed: int  # of those
    running: int  # by a driver that is at work now
    driver: str | None  # that driver
    reused: int  # cells that were finished before this command
    axes: dict[str, tuple[Any, ...]]  # what varies, with its values
    columns: dict[str, str]  # numbers of a cell, and what each is
    settings: dict[str, Any]  # the same in every cell
    changes: tuple[str, ...]  # in the plan, since the one before
    dropped: int  # finished cells that are not in the plan any more
    failures: tuple[FailedCell, ...]  # the first hundred
    cost: SweepCost | None  # of what is left, if that was asked
    table: str | None  # the file that has a line for each cell
    page: str | None
    seconds: float | None  # of this command
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentCell:
    """A cell that came to something else when it was computed again."""

    cell: str  # its key
    axes: dict[str, Any]  # its place: the value of every axis
    what: str  # the number that differs
    kept: Any  # what the ledger has
    now: Any  # what it comes to now

    @property
    def line(self) -> str:
        """Return the cell in a line."""
        where = ", ".join(f"{name}={value}" for name, value in self.axes.items())
        return f"{where}: {self.what} was {_short(self.kept)}, is {_short(self.now)}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verify(Record):
    """Finished cells computed again, and compared byte for byte."""

    schema: int = SCHEMA
    kind: str = "verify"
    cells: int  # of the plan
    done: int  # of those
    failed: int  # of those
    running: int  # by a driver that is at work now
    checked: int  # cells that were computed again
    equal: int  # of those, byte for byte
    different: tuple[DifferentCell, ...]  # numbers that came out otherwise
    certainty: dict[str, Certainty]
    provenance: Provenance


def axis_text(value: Any) -> str:
    """Return the value of an axis as tables and pages have it."""
    if isinstance(value, bool | dict):
        return dumps(value)
    return repr(value) if isinstance(value, float) else str(value)


def _short(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
