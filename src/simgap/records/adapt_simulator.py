"""What does a real log say about a simulator? The record of a continuous `adapt`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.records.audit import Finding
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterBelief:
    """What is believed of one parameter after the log, as drawn."""

    name: str
    mean: Annotated[float, means("over the posterior")]
    lower: Annotated[float, means("of the interval of probability `credibility`")]
    upper: Annotated[float, means("of the same interval")]
    before: Annotated[tuple[float, float], means("the range that is randomized")]
    remaining: Annotated[float, means("deviation that is left, a part of that before")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DelayBelief:
    """How likely it is that actions arrive so many steps late."""

    steps: Annotated[int, means("that an action arrives late")]
    probability: Annotated[float, means("after the data")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableDrag:
    """The weakest drag on a channel that the test of fit would have noticed."""

    channel: Annotated[int, means("of the observation")]
    drag: Annotated[float, means("part of the channel that is seen 9 times in 10")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdaptedSimulator(Record):
    """The posterior over parameters and delay, and whether the simulator fits."""

    schema: int = SCHEMA
    kind: str = "adapt"
    simulator: str
    randomize: Annotated[str, means("nu before the log, in the grammar of --randomize")]
    transitions: int
    episodes: int
    log_hash: str
    time_step: Annotated[float | None, means("seconds between two rows; null: unknown")]
    posterior: Annotated[tuple[ParameterBelief, ...], means("one object per parameter")]
    credibility: Annotated[float, means("of the intervals")]
    delay: Annotated[int, means("the likeliest, in steps")]
    delays: Annotated[tuple[DelayBelief, ...], means("those that were looked at")]
    outside_class: Annotated[bool, means("no parameters of the range explain the log")]
    p_value: Annotated[float, means("of the test of fit; approximate")]
    false_alarm: Annotated[float, means("if the simulator is right; approximate")]
    worst_channel: Annotated[int | None, means("the one that is explained worst")]
    detectable: Annotated[tuple[DetectableDrag, ...], means("per observation")]
    edge: Annotated[
        tuple[str, ...], means("parameters that lean on an end of the range")
    ]
    measure_next: Annotated[str | None, means("the parameter worth measuring next")]
    effective: Annotated[float, means("independent samples behind the posterior")]
    findings: tuple[Finding, ...]
    path: Annotated[str | None, means("the file of the posterior, for --randomize")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
