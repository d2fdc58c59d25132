"""How soon does the agent find out? The record of `simgap identify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Certified, Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class ModelPair:
    """How fast two models can be told apart, and where to look."""

    first: int
    second: int
    first_name: str
    second_name: str
    state: Annotated[int | None, means("where one visit tells most")]
    action: int | None
    state_name: str | None
    action_name: str | None
    distance: Annotated[float, means("of the two kernels there, in L1")]
    affinity: Annotated[float, means("Bhattacharyya coefficient there")]
    visits: Annotated[int | None, means("to that place; null: none, or over 10^15")]
    steps: Annotated[Certified, means("whole numbers; inf: never")]


@final
@dataclass(frozen=True, slots=True)
class ModelPosterior:
    """What the oracle believes of one model if that is the real one."""

    name: str
    prior: float
    posterior: Annotated[tuple[Estimate, ...], means("one for each step")]


@final
@dataclass(frozen=True, slots=True)
class Timeline:
    """Mean posterior of the real model under the oracle."""

    steps: Annotated[tuple[int, ...], means("at which it is told")]
    models: tuple[ModelPosterior, ...]
    computed: Annotated[int, means("of the steps that are exact up to rounding")]
    episodes: Annotated[int | None, means("sampled in each model for the other steps")]
    average_gap: Annotated[
        Certified, means("of the oracle; this policy has the upper end")
    ]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Identify(Record):
    """How fast models are told apart, and what the oracle finds out."""

    schema: int = SCHEMA
    kind: str = "identify"
    horizon: int | None
    error: Annotated[float, means("chance of a wrong guess")]
    names: tuple[str, ...]
    pairs: tuple[ModelPair, ...]
    slowest: Annotated[int | None, means("in `pairs`")]
    timeline: Annotated[Timeline | None, means("of the oracle's beliefs")]
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
