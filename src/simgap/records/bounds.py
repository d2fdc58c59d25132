"""What do the theorems promise for a class? The record of `simgap bounds`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


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
    value: Annotated[float, means("in the units of the rewards")]
    unmet: Annotated[tuple[str, ...], means("what it asks for and the class lacks")]
    non_vacuous_from: Annotated[float | None, means("least H at which it is not")]
    kind: Annotated[str, means('"upper" or "lower"')]
    quantity: Annotated[str, means("what is bounded")]
    vacuous: Annotated[bool, means("at this horizon")]
    constants: Annotated[tuple[Constant, ...], means("for rewards in [0, 1]")]


@final
@dataclass(frozen=True, slots=True)
class Vacuity:
    """From which horizon on an algorithm can find out anything."""

    algorithm: str
    rule: Annotated[str, means("how the algorithm compares")]
    event: Annotated[str, means("what can happen from this horizon on")]
    horizon: float


@final
@dataclass(frozen=True, slots=True)
class ClassNumbers:
    """What went in."""

    members: int
    states: int
    actions: int
    least_weight: Annotated[float, means("of the prior")]
    diameter: Annotated[Certified, means("expected steps of the slowest trip")]
    separation: Annotated[float | None, means("a lower bound")]
    greatest_span: Annotated[float | None, means("of a bias, in units of rewards")]
    eluder: Annotated[Certified | None, means("eluder dimension dim_E(F, 1/H)")]
    covering: Annotated[Certified | None, means("covering number N(F, 1/H)")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bounds(Record):
    """Every theorem with the numbers of a class at one horizon."""

    schema: int = SCHEMA
    kind: str = "bounds"
    horizon: int
    most_lost: Annotated[float, means("H times the range of the rewards")]
    bounds: tuple[OneBound, ...]
    vacuity: Annotated[tuple[Vacuity, ...], means("when agents can find out anything")]
    numbers: Annotated[ClassNumbers, means("of the class, as in the bounds")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
