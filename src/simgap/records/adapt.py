"""What do real transitions say about the class? The record of `simgap adapt`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory


@final
@dataclass(frozen=True, slots=True)
class AdaptedModel:
    """One model before and after the data."""

    name: str
    prior: float
    probability: float | None  # None: the log excludes every model
    log_likelihood: float
    p_value: float  # for any way of collecting data and stopping, unless estimated
    plausible: bool  # p_value above false_alarm
    gap_before: float  # of the policy planned for the prior, if this model is real
    gap_after: float | None  # of the one planned for the posterior


@final
@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and standard deviation."""

    mean: float
    sd: float


@final
@dataclass(frozen=True, slots=True)
class ParameterPosterior:
    """One hidden parameter before and after the data."""

    name: str
    before: Moments
    after: Moments | None


@final
@dataclass(frozen=True, slots=True)
class LikeliestBound:
    """Lemma 1: average gap over probability bounds the gap if this model is real."""

    name: str
    probability: float
    bound: float


@final
@dataclass(frozen=True, slots=True)
class Misfit:
    """A pair (s, a) whose successors are not those of the best model."""

    state: int | None  # None: the first state of an episode
    action: int | None
    state_name: str
    action_name: str
    visits: int
    successor: int  # that is most off
    observed: float  # how often it followed, as a part of the visits
    expected: float  # by the model
    log_evidence: float  # against the model, of this pair alone; inf: ruled out
    text: str


@final
@dataclass(frozen=True, slots=True)
class SavedFiles:
    """Where the new policies and the class with its new prior were written."""

    policy: str | None = None
    belief_policy: str | None = None
    model: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Adapt(Record):
    """The posterior, a test of the class, and the oracle before and after the data."""

    schema: int = SCHEMA
    kind: str = "adapt"
    horizon: int
    transitions: int
    episodes: int
    log_hash: str
    posterior: tuple[AdaptedModel, ...]
    parameters: tuple[ParameterPosterior, ...]
    outside_class: bool
    false_alarm: float
    best: str  # the model that explains the log best
    gap_bound_before: Certified
    gap_bound_after: Certified | None
    gap_of_old_plan: float | None  # averaged over the posterior
    plausible_gap: float | None  # worst of the new policy over plausible models
    lemma_1: LikeliestBound | None
    misfit: tuple[Misfit, ...]
    rounding: float  # of a probability of the posterior
    files: SavedFiles
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
    policy: Any = in_memory()  # planned for the posterior; None: there is none
    belief_policy: Any = in_memory()  # the one that tracks the posterior
    adapted: Any = in_memory()  # the class with the posterior as its prior
