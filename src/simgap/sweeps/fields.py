"""What can be asked in the cells of a sweep: questions, and their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import Any, final

from simgap.records.provenance import Certainty
from simgap.text import shown

Asked = Mapping[str, Any]  # the fields of a question with their values
LARGEST_WHOLE = 2**63 - 1


class Kind(Enum):
    """What a value is."""

    TEXT = "a text"
    WHOLE = "a whole number"
    REAL = "a number"
    YES = "true or false"
    NUMBERS = "a table of numbers"


@final
@dataclass(frozen=True, slots=True)
class Field:
    """One thing that a plan can say about its cells."""

    name: str
    kind: Kind
    about: str
    needed: bool = False
    least: float | None = None
    compared: bool = False  # cells that differ only in it meet the same luck

    def problem(self, value: object) -> str:
        """Return what is wrong with a value; empty: nothing."""
        match self.kind:
            case Kind.TEXT:
                fine = isinstance(value, str) and bool(value.strip())
            case Kind.WHOLE:
                fine = isinstance(value, int) and is_number(value)
            case Kind.REAL:
                fine = is_number(value)
            case Kind.YES:
                fine = isinstance(value, bool)
            case Kind.NUMBERS:
                fine = isinstance(value, dict) and all(map(is_number, value.values()))
        if not fine:
            large = self.kind is Kind.WHOLE and type(value) is int
            what = "too large" if large else f"not {self.kind.value}"
            return f"{self.name} is {told(value)}, {what}"
        if self.least is not None and value < self.least:  # type: ignore[operator]
            return f"{self.name} is {value!r}, the least is {self.least:g}"
        return ""


def told(value: object) -> str:
    """Return a value as a plan would say it."""
    if isinstance(value, str | int | float | list | dict):
        text = repr(value)
        return text.lower() if isinstance(value, bool) else shown(text)
    return shown(str(value))


def is_number(value: object) -> bool:
    """Return whether a value is a number that every table and file can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE
    return isfinite(value)


@final
@dataclass(frozen=True, slots=True)
class Found:
    """What a cell came to: numbers with their intervals, and files."""

    numbers: dict[str, Any]  # name: an interval, a number, a text, true or false
    notes: tuple[str, ...] = ()  # codes
    files: dict[str, bytes] = field(default_factory=dict)  # ending: content
    certified: Certainty = "certified"  # what its certified numbers are called


@final
@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked in every cell of a sweep."""

    name: str
    about: str
    fields: tuple[Field, ...]
    columns: Mapping[str, str]  # the numbers of an answer in their order: what each is
    answer: Callable[
        [Asked, int, str], Found
    ]  # fields, seed, folder of unfinished work
    contents: Callable[[Asked], dict[str, Any]]  # hashes of what the texts name
    files: Callable[[Asked], tuple[Path, ...]]  # that a cell reads
    checks: tuple[tuple[str, Callable[[Asked], object]], ...]  # by field; they raise
    version: int  # of the algorithm: raised when its numbers change
    environment: Mapping[str, str] = field(default_factory=dict)  # of its processes
    tiny: Callable[[Asked], Asked] | None = None  # a cell that compiles what it needs

    def field(self, name: str) -> Field | None:
        """Return the field of a name."""
        return next((each for each in self.fields if each.name == name), None)
