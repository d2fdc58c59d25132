"""How soon does the agent find out? The record of `simgap identify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.intervals import Certified, Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class ModelPair:
    """How fast two models can be told apart, and where to look."""

    first: int
    second: int
    first_name: str
    second_name: str
    state: int | None  # where one visit tells most, of the places both models reach
    action: int | None
    state_name: str | None
    action_name: str | None
    distance: float  # of the two kernels there, in L1
    affinity: float  # Bhattacharyya coefficient there
    visits: int | None  # to that place alone; None: there is none, or 10^15 are too few
    steps: Certified  # whole numbers; inf: never


@final
@dataclass(frozen=True, slots=True)
class ModelPosterior:
    """What the oracle believes of one model if that is the real one."""

    name: str
    prior: float
    posterior: tuple[Estimate, ...]  # one for each step


@final
@dataclass(frozen=True, slots=True)
class Timeline:
    """Mean posterior of the real model under the oracle."""

    steps: tuple[int, ...]
    models: tuple[ModelPosterior, ...]
    computed: int  # of the steps: the first so many are exact up to rounding
    episodes: int | None  # sampled in each model for the other steps
    average_gap: Certified  # of the oracle; the policy followed attains the upper end


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Identify(Record):
    """How fast models are told apart, and what the oracle finds out."""

    schema: int = SCHEMA
    kind: str = "identify"
    horizon: int | None
    error: float
    names: tuple[str, ...]
    pairs: tuple[ModelPair, ...]
    slowest: int | None  # in `pairs`
    timeline: Timeline | None
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
