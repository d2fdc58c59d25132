"""A claim of the paper as an experiment: data, a run and a verdict.

A claim says what it states, what the verdict should be, and how to run it at two sizes.
Running it gives curves, tables and checks, no drawing, and a verdict computed from the
checks with their intervals:

    holds      every check holds with its whole interval
    refuted    some check fails with its whole interval
    undecided  neither: an interval straddles the line

A claim that the paper has wrong is expected to be refuted, and says which erratum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate
from simgap.records import Certainty


class Verdict(Enum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class Scale(Enum):
    """How much work goes into a claim."""

    QUICK = "quick"  # all claims together within minutes
    FULL = "full"  # all claims together within an hour


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One inequality `left <= right`, each side with both of its ends."""

    name: str  # a sentence
    left: Certified | Estimate
    right: Certified | Estimate

    @property
    def verdict(self) -> Verdict:
        """Holds if all of left is at most all of right, refuted if all is above."""
        low, high = self.left.ends
        least, most = self.right.ends
        if high <= least:
            return Verdict.HOLDS
        return Verdict.REFUTED if low > most else Verdict.UNDECIDED


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

    def __post_init__(self) -> None:
        """Keep "exact" for whole numbers: others were rounded, here or on the way."""
        told: list[Certainty] = list(self.certainty)
        for at, sure in enumerate(told):
            column = [row[at] for row in self.rows]
            whole = all(isinstance(x, str) or float(x).is_integer() for x in column)
            if sure == "exact" and not whole:
                told[at] = "certified"
        object.__setattr__(self, "certainty", tuple(told))


@final
@dataclass(frozen=True, slots=True)
class KeyNumber:
    """The one number to remember."""

    name: str
    value: Certified | Estimate


@final
@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What running a claim found."""

    checks: tuple[Check, ...]
    key_number: KeyNumber
    summary: str  # one or two sentences, with the numbers
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return what the checks say together."""
        return verdict_of(tuple(check.verdict for check in self.checks))


Tell = Callable[[str], None]  # progress, a few words


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper that can be watched to hold or to fail."""

    name: str  # as on the command line: theorem-2
    title: str
    statement: str  # in plain words
    source: str  # where the paper or docs/theory says it
    expected: Verdict
    run: Callable[[Scale, int, Tell], ClaimResult]  # scale, seed, progress
    errata: tuple[str, ...] = ()  # "E9"

    def __post_init__(self) -> None:
        if self.expected is Verdict.UNDECIDED:
            raise InvalidArgument(
                f"the claim {self.name!r} expects to be undecided",
                hint="a claim holds or is refuted",
            )


def verdict_of(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict of several checks: one refutation is enough."""
    if not verdicts:
        return Verdict.UNDECIDED
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    undecided = Verdict.UNDECIDED in verdicts
    return Verdict.UNDECIDED if undecided else Verdict.HOLDS


def exactly(value: float) -> Certified:
    """Return a number that is known."""
    return Certified(value, value)
