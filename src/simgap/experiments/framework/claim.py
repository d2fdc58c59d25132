"""A claim of the paper as an experiment: data, a run and a verdict.

A claim says what it states, what the verdict should be, and how to measure it at two
sizes. Measuring gives curves, tables and checks, no drawing, and a verdict computed
from the checks with their intervals:

    holds      every check holds with its whole interval
    refuted    some check fails with its whole interval
    undecided  neither: an interval straddles the line

A claim that the paper has wrong is expected to be refuted, and says which erratum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from math import isfinite
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, final, get_origin, get_type_hints

from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate, Interval, Number
from simgap.records.claim import (
    Check,
    ClaimVerdict,
    Curve,
    Figure,
    KeyNumber,
    Point,
    Table,
)
from simgap.records.provenance import Certainty

ROOM = 1e-9  # a law met with equality may seem to miss by so much; checks say so
S = TypeVar("S")  # the settings of an experiment


class Scale(Enum):
    """How much work goes into a claim."""

    QUICK = "quick"  # all claims together within minutes
    FULL = "full"  # all claims together within an hour


@final
@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What measuring a claim found."""

    checks: tuple[Check, ...]
    key: tuple[str, Number]  # the one number to remember, and what it is
    summary: str  # one or two sentences, with the numbers
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def key_number(self) -> KeyNumber:
        """Return the one number to remember."""
        name, value = self.key
        return KeyNumber(name, interval(value))

    @property
    def verdict(self) -> ClaimVerdict:
        """Return what the checks say together: one refutation is enough."""
        found = {check.verdict for check in self.checks}
        if ClaimVerdict.REFUTED in found:
            return ClaimVerdict.REFUTED
        return (
            ClaimVerdict.HOLDS
            if found == {ClaimVerdict.HOLDS}
            else ClaimVerdict.UNDECIDED
        )


Tell = Callable[[str], None]  # progress, a few words


@final
@dataclass(frozen=True, slots=True)
class Claim(Generic[S]):
    """A statement of the paper that can be watched to hold or to fail."""

    name: str  # as on the command line: theorem-2
    title: str
    statement: str  # in plain words
    source: str  # where the paper or docs/theory says it
    measure: Callable[[S, int, Tell], ClaimResult]  # settings, seed, progress
    quick: S
    full: S
    expected: ClaimVerdict = ClaimVerdict.HOLDS
    errata: tuple[str, ...] = ()  # "E9"

    def __post_init__(self) -> None:
        if self.expected is ClaimVerdict.UNDECIDED:
            raise InvalidArgument(
                f"the claim {self.name!r} expects to be undecided",
                hint="a claim holds or is refuted",
            )

    def run(self, scale: Scale, seed: int, tell: Tell) -> ClaimResult:
        """Return what is found with the settings of a scale."""
        return self.measure(self.settings(scale), seed, tell)

    def settings(self, scale: Scale) -> S:
        """Return how much work is done at a scale."""
        return self.full if scale is Scale.FULL else self.quick


def check(name: str, left: Number, right: Number) -> Check:
    """Return the inequality `left <= right`; a float is known exactly."""
    one, other = interval(left), interval(right)
    if one.upper <= other.lower:
        return Check(name, one, other, ClaimVerdict.HOLDS)
    above = one.lower > other.upper
    return Check(
        name, one, other, ClaimVerdict.REFUTED if above else ClaimVerdict.UNDECIDED
    )


def curve(
    name: str, across: Sequence[float], up: Sequence[Number], *, bound: bool = False
) -> Curve:
    """Return the line through numbers; those that are not finite are left out."""
    known = [(float(x), interval(y)) for x, y in zip(across, up, strict=True)]
    points = [
        Point(x, shown(y), y.lower, y.upper)
        for x, y in known
        if isfinite(y.lower) and isfinite(y.upper)
    ]
    estimated = any(isinstance(y, Estimate) for y in up)
    return Curve(name, tuple(points), "estimated" if estimated else "certified", bound)


def figure(
    title: str,
    x: str,
    y: str,
    *curves: Curve,
    log_x: bool = True,
    log_y: bool = True,
    note: str = "",
    marks: Sequence[tuple[float | None, str]] = (),
) -> Figure:
    """Return curves over one pair of axes; a mark at None is left out."""
    placed = tuple((float(at), word) for at, word in marks if at is not None)
    return Figure(title, x, y, curves, log_x, log_y, note, placed)


def table(title: str, rows: Sequence[object]) -> Table:
    """Return a table with a line per row and a column per field with a heading.

    In the class of the rows `gap: Annotated[Certified, "average gap"]` is a column; of
    a field without a heading the fields that have one are shown. A column with
    estimates is estimated, one of whole numbers exact, and all others are certified,
    since they were rounded; a word after the heading says otherwise.
    """
    heads = _headings(type(rows[0]))
    columns = [[attrgetter(name)(row) for row in rows] for name in heads]
    return Table(
        title,
        tuple(head for head, *_ in heads.values()),
        tuple(tuple(map(_cell, line)) for line in zip(*columns, strict=True)),
        tuple(
            known[0] if known else _certainty(column)
            for (_, *known), column in zip(heads.values(), columns, strict=True)
        ),
    )


def interval(value: Number) -> Certified | Estimate:
    """Return a number with its ends; a float is known exactly."""
    if isinstance(value, Certified | Estimate):
        return value
    return Certified(float(value), float(value))


def _headings(kind: type) -> dict[str, tuple[Any, ...]]:
    """Return the heading, and what may follow it, of every field that is shown."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            found[name] = hint.__metadata__
        elif (
            is_dataclass(hint)
            and isinstance(hint, type)
            and not issubclass(hint, Interval)
        ):
            inside = _headings(hint)
            found.update({f"{name}.{each}": word for each, word in inside.items()})
    return found


def shown(value: Certified | Estimate) -> float:
    """Return what is printed: what rounding cannot tell from 0 is printed as 0."""
    if isinstance(value, Certified) and value.lower <= 0.0 <= value.upper < ROOM:
        return 0.0 if value.upper - value.lower < ROOM else value.middle
    return value.middle


def _cell(value: str | Number) -> str | float | int:
    return shown(value) if isinstance(value, Certified | Estimate) else value


def _certainty(column: Sequence[str | Number]) -> Certainty:
    if any(isinstance(cell, Estimate) for cell in column):
        return "estimated"
    numbers = [_cell(cell) for cell in column if not isinstance(cell, str)]
    whole = all(float(number).is_integer() for number in numbers)
    return "exact" if whole else "certified"
