"""What do the theorems promise for a class? The record of `simgap bounds`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """A number that went into a bound, with its name in the paper."""

    name: str
    value: float


@final
@dataclass(frozen=True, slots=True)
class OneBound:
    """A theorem with the numbers of this class."""

    name: str
    value: float  # in the units of the rewards
    unmet: tuple[str, ...]  # what the theorem asks for and the class lacks
    non_vacuous_from: float | None  # the least H at which it says anything
    kind: str  # "upper" or "lower"
    quantity: str  # what is bounded
    vacuous: bool  # at this horizon
    constants: tuple[Constant, ...]  # for rewards in [0, 1]


@final
@dataclass(frozen=True, slots=True)
class Vacuity:
    """From which horizon on an algorithm can find out anything."""

    algorithm: str
    rule: str
    event: str
    horizon: float


@final
@dataclass(frozen=True, slots=True)
class ClassNumbers:
    """What went in."""

    members: int
    states: int
    actions: int
    least_weight: float  # of the prior
    diameter: Certified
    separation: float | None  # a lower bound
    greatest_span: float | None  # of a bias, in the units of the rewards
    eluder: Certified | None
    covering: Certified | None


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bounds(Record):
    """Every theorem with the numbers of a class at one horizon."""

    schema: int = SCHEMA
    kind: str = "bounds"
    horizon: int
    most_lost: float  # H times the range of the rewards: no gap is larger
    bounds: tuple[OneBound, ...]
    vacuity: tuple[Vacuity, ...]
    numbers: ClassNumbers
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
