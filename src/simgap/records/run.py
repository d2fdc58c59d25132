"""What does an agent lose while it learns? The record of `simgap run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.intervals import Estimate, Label
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class RegretPoint:
    """Regret after a number of steps: the mean over runs and its interval."""

    step: int
    estimate: float
    lower: float
    upper: float
    label: Label  # of the interval, as of an estimate


@final
@dataclass(frozen=True, slots=True)
class RunModel:
    """What the agent did in one real model."""

    name: str
    optimal: float  # V* at the start
    gap: Estimate
    regret: Estimate | None  # None: the model has no gain
    truth_eliminated: int  # runs in which the real model was dropped
    switches: float  # mean over runs
    resets: int  # runs in which no candidate was left
    identified: float | None  # median step from which the plan was final
    pathwise_ratio: float | None  # greatest regret over its bound on the same path
    variance_ratio: float | None  # of returns over the estimator; None: it has none
    curve: tuple[RegretPoint, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run(Record):
    """What an agent loses in each real model, measured over many runs."""

    schema: int = SCHEMA
    kind: str = "run"
    policy: str
    about: str
    literal: bool
    horizon: int
    seeds: int
    steps_per_second: float
    steps_simulated: int
    eliminates: bool  # whether the agent ever drops a model
    vacuity_horizon: int | None  # before it the printed test eliminates nothing
    models: tuple[RunModel, ...]
    notes: tuple[Note, ...]
    page: str | None
    certainty: dict[str, Certainty]
    provenance: Provenance
