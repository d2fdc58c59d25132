"""How wide to randomize a parameter? The record of `simgap width`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Certified
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class RealModel:
    """A model that may be real."""

    name: str
    value: Annotated[float, means("of the parameter")]
    prior: float


@final
@dataclass(frozen=True, slots=True)
class LossBeyond:
    """What is lost if reality lies a distance outside the range."""

    distance: Annotated[float, means("from the range to the model")]
    models: int
    gap: Annotated[Certified, means("average over these models")]


@final
@dataclass(frozen=True, slots=True)
class RangeLoss:
    """The policy of one range in all models that may be real."""

    width: float
    low: float
    high: float
    models: int
    gap: Annotated[Certified, means("average over all real models")]
    worst: Certified
    worst_model: str
    inside: Annotated[Certified, means("average gap of the oracle in its own range")]
    outside: Annotated[Certified | None, means("average over the real models outside")]
    gaps: Annotated[tuple[float, ...], means("in the order of `real`")]
    at_nominal: Annotated[
        Certified, means("over the models nearest to the nominal value")
    ]
    beyond: Annotated[tuple[LossBeyond, ...], means("by distance from the range")]
    surprising: Annotated[bool, means("reality may do what no model of the range can")]
    outcome: str


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Width(Record):
    """What training on each range of a parameter loses, and which is wide enough."""

    schema: int = SCHEMA
    kind: str = "width"
    param: str
    horizon: int
    nominal: Annotated[float, means("the model, or the value, that one would plan for")]
    real: Annotated[tuple[RealModel, ...], means("the models that may be real")]
    widths: tuple[RangeLoss, ...]
    recommended: Annotated[float, means("the width to train with")]
    reason: str
    criterion: Literal["average", "worst"]
    slack: Annotated[float, means("a part of `at_stake`")]
    at_stake: Annotated[float, means("average gap of acting at random")]
    rounding: Annotated[float, means("of a gap of a model, given as one number")]
    recommended_average: Annotated[float, means("the width by the average")]
    recommended_worst: Annotated[float, means("the width by the worst model")]
    least_possible: Annotated[Certified | None, means("of the best policy of all")]
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance


def width_file(param: str) -> str:
    """Return the name, without .json, of the file with the record of a parameter.

    Names of parameters are strangers' words: what a file name should not have is
    replaced, and a digest keeps different parameters apart.
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", param)[:80]
    if plain == param:
        return f"width-{param}"
    from simgap.arrays import digest

    return f"width-{plain}-{digest(param.encode('utf-8', 'replace'))[:8]}"
