"""A claim of the paper, run: what its numbers say. The records of `simgap reproduce`.

A check is one inequality `left <= right`. It holds if all of left is at most all of
right, is refuted if all is above, and is undecided if the intervals overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, final

from simgap.intervals import Interval
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


class ClaimVerdict(StrEnum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One inequality, each side with both of its ends."""

    name: str  # a sentence
    left: Interval
    right: Interval
    verdict: ClaimVerdict


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A number over another, with the ends of its interval (equal if exact)."""

    x: float
    y: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a figure."""

    name: str
    points: tuple[Point, ...]
    certainty: Certainty
    bound: bool = False  # drawn as a bound: dashed, no markers


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """Curves over one pair of axes."""

    title: str
    x: str  # what the axis shows
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""  # one sentence under the figure
    marks: tuple[tuple[float, str], ...] = ()  # vertical lines: where, and what


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words and numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]
    certainty: tuple[Certainty, ...] = ()  # of each column, where it is a number


@final
@dataclass(frozen=True, slots=True)
class KeyNumber:
    """The one number to remember."""

    name: str
    value: Interval


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimRecord(Record):
    """A claim, its verdict and everything a page shows of it."""

    schema: int = SCHEMA
    kind: str = "claim"
    claim: str  # its name on the command line
    title: str
    statement: str
    source: str
    errata: tuple[str, ...]
    expected: ClaimVerdict
    verdict: ClaimVerdict
    as_expected: bool
    key_number: KeyNumber
    summary: str
    checks: tuple[Check, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    scale: str
    seed: int
    command: str  # that remakes this record
    versions: dict[str, str]


@final
@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """One claim in short."""

    claim: str
    title: str
    verdict: ClaimVerdict
    expected: ClaimVerdict
    key_number: Annotated[KeyNumber, means("the one number to remember")]
    seconds: Annotated[float | None, means("null: it was there already")]
    record: Annotated[str, means("where it is kept")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Reproduce(Record):
    """The claims that were run, or found in the folder, with their verdicts."""

    schema: int = SCHEMA
    kind: str = "reproduce"
    scale: str
    claims: tuple[ClaimAnswer, ...]
    as_expected: Annotated[bool, means("every claim came out as the documents say")]
    seconds: float
    page: str
    provenance: Provenance
