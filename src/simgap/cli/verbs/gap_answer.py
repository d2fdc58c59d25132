"""What `simgap gap` prints as JSON: policies by real models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.cli.verbs.oracle_answer import table_of

if TYPE_CHECKING:
    from simgap.answers import AtHorizon, OverHorizons
    from simgap.intervals import Certified, Estimate
    from simgap.records import Memory, Provenance


@final
@dataclass(frozen=True, slots=True)
class ModelGap:
    """The gap of one policy in one real model."""

    name: str
    gap: Certified | Estimate


@final
@dataclass(frozen=True, slots=True)
class PolicyGaps:
    """The gaps of one policy."""

    name: str
    about: str
    certainty: str
    models: tuple[ModelGap, ...]
    average: Certified | Estimate
    worst: Certified | Estimate


@final
@dataclass(frozen=True, slots=True)
class BoundAt:
    """What a theorem promises about the oracle's gap in any model."""

    name: str
    value: float


@final
@dataclass(frozen=True, slots=True)
class HorizonGaps:
    """The class at one horizon."""

    horizon: int
    informed: float
    average_gap: Certified  # of the oracle
    memoryless: Certified
    random: float
    train: tuple[tuple[float, ...], ...]  # the plan of one model if another is real
    bounds: tuple[BoundAt, ...]


@final
@dataclass(frozen=True, slots=True)
class GapAnswer:
    """The record of `simgap gap`."""

    schema: int
    kind: str
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
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


CERTAINTY = {
    "optimal": "certified",
    "at_stake": "certified",
    "value_of_memory": "certified",
    "value_of_randomization": "certified",
    "by_horizon": "certified",
}


def horizon_gaps(found: OverHorizons) -> tuple[HorizonGaps, ...]:
    """Return gaps over horizons."""
    return tuple(_at_horizon(each) for each in found.horizons)


def _at_horizon(found: AtHorizon) -> HorizonGaps:
    return HorizonGaps(
        horizon=found.horizon,
        informed=found.informed,
        average_gap=found.oracle,
        memoryless=found.memoryless,
        random=found.random.upper,
        train=table_of(found.train),
        bounds=tuple(
            BoundAt(promise.name, promise.value) for promise in found.promises
        ),
    )
