"""How hard is a class? The record of `simgap complexity`."""

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
class ClassSeparation:
    """Assumption 2: the two models hardest to tell apart, and where one sees it."""

    value: Annotated[float, means("delta, in [0, 2]; 2 for a class of one")]
    pair: tuple[int, int] | None
    pair_names: tuple[str, str] | None
    state: Annotated[int | None, means("null: their kernels are equal")]
    action: int | None
    state_name: str | None
    action_name: str | None
    farthest: Annotated[tuple[int, int] | None, means("the models that differ most")]
    greatest: Annotated[float | None, means("distance of the two farthest models")]
    duplicates: Annotated[tuple[tuple[int, ...], ...], means("equal models")]


@final
@dataclass(frozen=True, slots=True)
class SequencePoint:
    """A point of the eluder sequence that proves the lower bound."""

    state: int
    action: int
    bias: Annotated[int, means("the model whose bias it is")]


@final
@dataclass(frozen=True, slots=True)
class EluderBounds:
    """dim_E(F, 1/H), with the sequence behind its lower bound."""

    lower: int
    upper: int
    epsilon: Annotated[float, means("1/H")]
    scale: Annotated[float, means("eps' of the sequence, in the same units")]
    sequence: Annotated[tuple[SequencePoint, ...], means("behind the lower bound")]
    upper_reason: Annotated[str, means("what the upper bound rests on")]


@final
@dataclass(frozen=True, slots=True)
class CoveringBounds:
    """N(F, 1/H), with the cover behind its upper bound."""

    lower: int
    upper: int
    epsilon: float
    functions: Annotated[int, means("different ones in F")]
    cover: Annotated[tuple[str, ...], means("models whose functions are the centres")]


@final
@dataclass(frozen=True, slots=True)
class MetricSmoothness:
    """Lipschitz constants over the whole class."""

    metric: str
    optimal: Annotated[Certified, means("of V*_1 at the start")]
    optimal_pair: Annotated[tuple[int, int] | None, means("models that need it")]
    policy_at_most: Annotated[float, means("L of Assumption 3, for any policy")]
    gap_at_most: Annotated[float, means("L_gap of Lemma 1, repaired, for any policy")]


@final
@dataclass(frozen=True, slots=True)
class ClassSmoothness:
    """What is known of L and L_gap before any policy is chosen."""

    metrics: tuple[MetricSmoothness, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Complexity(Record):
    """The measures of a class that the paper's bounds use."""

    schema: int = SCHEMA
    kind: str = "complexity"
    horizon: int | None
    diameter: Annotated[Certified, means("expected steps of the slowest trip")]
    separation: Annotated[ClassSeparation, means("of the two closest models")]
    eluder: Annotated[EluderBounds | None, means("eluder dimension dim_E(F, 1/H)")]
    covering: Annotated[CoveringBounds | None, means("covering number N(F, 1/H)")]
    smoothness: Annotated[ClassSmoothness | None, means("of values in the model")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
