"""What does an agent lose while it learns? The record of `simgap run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class RegretPoint:
    """Regret after a number of steps: the mean over runs and its interval."""

    step: int
    estimate: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True)
class RunModel:
    """What the agent did in one real model."""

    name: str
    optimal: Annotated[float, means("V* at the start")]
    gap: Estimate
    regret: Annotated[Estimate | None, means("null: the model has no gain")]
    truth_eliminated: Annotated[int, means("runs in which the real model was dropped")]
    switches: Annotated[float, means("mean over runs")]
    resets: Annotated[int, means("runs in which no candidate was left")]
    identified: Annotated[
        float | None, means("median step after which the plan is final")
    ]
    pathwise_ratio: Annotated[float | None, means("greatest regret over its bound")]
    variance_ratio: Annotated[float | None, means("of returns over the estimator")]
    curve: Annotated[tuple[RegretPoint, ...], means("of regret; empty without --out")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run(Record):
    """What an agent loses in each real model, measured over many runs."""

    schema: int = SCHEMA
    kind: str = "run"
    policy: str
    about: str
    literal: Annotated[bool, means("whether the rule as printed was run")]
    horizon: int
    seeds: Annotated[int, means("runs in every model")]
    steps_per_second: Annotated[float, means("speed; differs from run to run")]
    steps_simulated: Annotated[int, means("drawn in all runs together")]
    eliminates: Annotated[bool, means("whether the agent ever drops a model")]
    vacuity_horizon: Annotated[int | None, means("before it nothing is eliminated")]
    models: tuple[RunModel, ...]
    notes: tuple[Note, ...]
    page: str | None
    certainty: dict[str, Certainty]
    provenance: Provenance
