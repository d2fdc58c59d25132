"""What does each policy lose in each model? The record of `simgap gap`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from simgap.intervals import Certified, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory


@final
@dataclass(frozen=True, slots=True)
class ModelGap:
    """The gap of one policy in one real model."""

    name: str
    gap: Interval


@final
@dataclass(frozen=True, slots=True)
class PolicyGaps:
    """The gaps of one policy."""

    name: str
    about: str
    certainty: Certainty
    models: tuple[ModelGap, ...]
    average: Interval  # over the prior
    worst: Interval  # over all models, those of prior 0 included


@final
@dataclass(frozen=True, slots=True)
class HorizonBound:
    """What a theorem promises about the oracle's gap in any model."""

    name: str
    value: float


@final
@dataclass(frozen=True, slots=True)
class HorizonGaps:
    """The class at one horizon."""

    horizon: int
    informed: float  # average V* of agents that know the model
    average_gap: Certified  # of the oracle
    memoryless: Certified  # of the best policy found without memory
    random: float  # of acting at random
    train: tuple[tuple[float, ...], ...]  # the plan of one model if another is real
    bounds: tuple[HorizonBound, ...]
    outcome: Any = in_memory()  # of planning the oracle


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Gap(Record):
    """Policies by real models, and what memory and randomization are worth."""

    schema: int = SCHEMA
    kind: str = "gap"
    horizon: int
    policies: tuple[PolicyGaps, ...]
    left_out: dict[str, str]  # policies that cannot be had here, and why
    names: tuple[str, ...]  # of the models
    prior: tuple[float, ...]
    optimal: tuple[float, ...]  # V* of every model
    rounding: float  # of V*
    at_stake: float  # what acting at random loses on average
    memory: Memory | None
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    trained: tuple[int, ...] | None  # the models that `train` is about
    by_horizon: tuple[HorizonGaps, ...] | None
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
