"""What does each policy lose in each model? The record of `simgap gap`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

from simgap.intervals import Certified, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory
from simgap.text import means


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
    average: Annotated[Interval, means("over the prior")]
    worst: Annotated[Interval, means("over all models, those of prior 0 included")]


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
    informed: Annotated[float, means("average V* of agents that know the model")]
    average_gap: Annotated[Certified, means("of the oracle")]
    memoryless: Annotated[Certified, means("of the best policy found without memory")]
    random: Annotated[float, means("of acting at random")]
    train: Annotated[
        tuple[tuple[float, ...], ...], means("plan of one model in another")
    ]
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
    left_out: Annotated[dict[str, str], means("policies that are not there, and why")]
    names: Annotated[tuple[str, ...], means("of the models")]
    prior: tuple[float, ...]
    optimal: Annotated[tuple[float, ...], means("V* of every model")]
    rounding: Annotated[float, means("of V*")]
    at_stake: Annotated[float, means("what acting at random loses on average")]
    memory: Memory | None
    value_of_memory: Annotated[
        Certified | None, means("the gap without less that with")
    ]
    value_of_randomization: Annotated[
        Certified | None, means("over plans of one model; lower end 0: ties left")
    ]
    trained: Annotated[tuple[int, ...] | None, means("models that `train` is about")]
    by_horizon: Annotated[tuple[HorizonGaps, ...] | None, means("at several horizons")]
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
