"""How hard is a class? The record of `simgap complexity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class ClassSeparation:
    """Assumption 2: the two models hardest to tell apart, and where one sees it."""

    value: float  # delta, in [0, 2]; 2 for a class of one
    pair: tuple[int, int] | None
    pair_names: tuple[str, str] | None
    state: int | None  # None: their kernels are equal
    action: int | None
    state_name: str | None
    action_name: str | None
    farthest: tuple[int, int] | None
    greatest: float | None  # distance of the two farthest models
    duplicates: tuple[tuple[int, ...], ...]  # models with equal kernels


@final
@dataclass(frozen=True, slots=True)
class SequencePoint:
    """A point of the eluder sequence that proves the lower bound."""

    state: int
    action: int
    bias: int  # the model whose bias it is


@final
@dataclass(frozen=True, slots=True)
class EluderBounds:
    """dim_E(F, 1/H), with the sequence behind its lower bound."""

    lower: int
    upper: int
    epsilon: float  # 1/H
    scale: float  # eps' of the sequence, in the same units
    sequence: tuple[SequencePoint, ...]
    upper_reason: str


@final
@dataclass(frozen=True, slots=True)
class CoveringBounds:
    """N(F, 1/H), with the cover behind its upper bound."""

    lower: int
    upper: int
    epsilon: float
    functions: int  # different ones in F
    cover: tuple[str, ...]  # models whose functions are the centres


@final
@dataclass(frozen=True, slots=True)
class MetricSmoothness:
    """Lipschitz constants over the whole class."""

    metric: str
    optimal: Certified  # of V*_1 at the start
    optimal_pair: tuple[int, int] | None  # models that need it, if it was measured
    policy_at_most: float  # L of Assumption 3, for any policy
    gap_at_most: float  # L_gap of the repaired Lemma 1, for any policy


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
    diameter: Certified
    separation: ClassSeparation
    eluder: EluderBounds | None
    covering: CoveringBounds | None
    smoothness: ClassSmoothness | None
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
