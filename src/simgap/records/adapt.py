"""What do real transitions say about the class? The record of `simgap adapt`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class AdaptedModel:
    """One model before and after the data."""

    name: str
    prior: float
    probability: Annotated[float | None, means("null: the log excludes every model")]
    log_likelihood: float
    p_value: Annotated[float, means("however data were collected")]
    plausible: Annotated[bool, means("p_value above false_alarm")]
    gap_before: Annotated[float, means("of the plan for the prior, in this model")]
    gap_after: Annotated[float | None, means("of the plan for the posterior")]


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
    after: Annotated[Moments | None, means("by the posterior; null: no model is left")]


@final
@dataclass(frozen=True, slots=True)
class LikeliestBound:
    """Lemma 1: average gap over probability bounds the gap if this model is real."""

    name: str
    probability: Annotated[float, means("after the data")]
    bound: Annotated[float, means("no gap is larger; in the units of the rewards")]


@final
@dataclass(frozen=True, slots=True)
class Misfit:
    """A pair (s, a) whose successors are not those of the best model."""

    state: Annotated[int | None, means("null: the first state of an episode")]
    action: int | None
    state_name: str
    action_name: str
    visits: int
    successor: Annotated[int, means("that is most off")]
    observed: Annotated[float, means("how often it followed, as a part of the visits")]
    expected: Annotated[float, means("by the model")]
    log_evidence: Annotated[
        float, means("against the model, of this pair; inf: ruled out")
    ]
    text: str


@final
@dataclass(frozen=True, slots=True)
class SavedFiles:
    """Where the new policies and the class with its new prior were written."""

    policy: str | None = None
    belief_policy: Annotated[str | None, means("it tracks the posterior")] = None
    model: Annotated[str | None, means("the class with its new prior")] = None


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
    outside_class: Annotated[bool, means("whether no model explains the log")]
    false_alarm: Annotated[float, means("chance of that if one does, at most")]
    best: Annotated[str, means("the model that explains the log best")]
    gap_bound_before: Annotated[Certified, means("of the plan for the prior, over it")]
    gap_bound_after: Annotated[Certified | None, means("null: no model is left")]
    gap_of_old_plan: Annotated[float | None, means("averaged over the posterior")]
    plausible_gap: Annotated[float | None, means("worst one over plausible models")]
    lemma_1: Annotated[LikeliestBound | None, means("of the likeliest model")]
    misfit: Annotated[tuple[Misfit, ...], means("where log and class part most")]
    rounding: Annotated[float, means("of a probability of the posterior")]
    files: SavedFiles
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
    policy: Any = in_memory()  # planned for the posterior; None: there is none
    belief_policy: Any = in_memory()  # the one that tracks the posterior
    adapted: Any = in_memory()  # the class with the posterior as its prior
