"""What does a real log say about a simulator? The record of a continuous `adapt`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.audit import Finding
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterBelief:
    """What is believed of one parameter after the log, as drawn."""

    name: str
    mean: float  # over the posterior
    lower: float  # of the interval that holds it with probability `credibility`
    upper: float  # of the same interval
    before: tuple[float, float]  # the range that is randomized
    remaining: float  # deviation that is left, as a part of that before, in quantiles


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DelayBelief:
    """How likely it is that actions arrive so many steps late."""

    steps: int  # that an action arrives late
    probability: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableDrag:
    """The weakest drag on a channel that the test of fit would have noticed."""

    channel: int  # of the observation
    drag: float  # part of the channel that a step takes away; seen 9 times out of 10


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdaptedSimulator(Record):
    """The posterior over parameters and delay, and whether the simulator fits."""

    schema: int = SCHEMA
    kind: str = "adapt"
    simulator: str  # its name
    randomize: str  # nu before the log, in the grammar of --randomize
    transitions: int
    episodes: int
    log_hash: str
    time_step: float | None  # seconds between two rows, if the log or the rate says so
    posterior: tuple[ParameterBelief, ...]  # one object per parameter
    credibility: float  # of the intervals
    delay: int  # the likeliest, in steps
    delays: tuple[DelayBelief, ...]  # those that were looked at
    outside_class: bool  # no parameters of the range explain the log
    p_value: float  # of the test of fit; approximate
    false_alarm: float  # chance of an alarm if the simulator is right; approximate
    worst_channel: int | None  # the observation that is explained worst
    detectable: tuple[DetectableDrag, ...]  # one object per observation
    edge: tuple[str, ...]  # parameters whose posterior leans on an end of the range
    measure_next: str | None  # the parameter that is worth measuring next
    effective: float  # samples behind the posterior, if they were independent
    findings: tuple[Finding, ...]
    path: str | None  # the file of the posterior, for --randomize
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
