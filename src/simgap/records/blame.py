"""Which hidden parameter causes the loss? The record of `simgap blame`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Certified, Interval
from simgap.records.note import Note
from simgap.records.pair_prices import PairPrices
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class LossAtValue:
    """What is lost where a parameter has one value."""

    value: Annotated[float | str, means("text for a group, or the name of a model")]
    told: Annotated[Certified, means("average gap of an agent that knows this value")]
    loss: Annotated[float, means("average over the models with this value")]


@final
@dataclass(frozen=True, slots=True)
class BlamedParameter:
    """What one parameter, or group of them, is to blame for."""

    name: str
    values: Annotated[int, means("how many it has")]
    share: Annotated[Interval, means("of the whole; shares sum to it")]
    part: Annotated[Interval | None, means("share / whole; null if the whole is 0")]
    alone: Annotated[Certified, means("loss if only this is hidden")]
    information: Annotated[Certified, means("what knowing it is worth")]
    ignored: Annotated[Certified | None, means("share of the nominal plan's loss")]
    curve: Annotated[tuple[LossAtValue, ...], means("one point per value")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Blame(Record):
    """How much of the best agent's loss each hidden parameter causes."""

    schema: int = SCHEMA
    kind: str = "blame"
    horizon: int
    whole: Annotated[Certified, means("average gap of the oracle")]
    method: Annotated[Literal["exact", "sampled"], means("all sets, or random orders")]
    permutations: Annotated[int | None, means("orders sampled; null: all were counted")]
    classes_planned: int
    parameters: tuple[BlamedParameter, ...]
    leader: Annotated[str | None, means("certainly the largest share; null: not known")]
    ignored_whole: Annotated[float, means("average gap of the nominal model's plan")]
    nominal: Annotated[str, means("the model, or the value, that one would plan for")]
    names: tuple[str, ...]
    pair_prices: Annotated[PairPrices, means("of not knowing one model from another")]
    rounding: Annotated[float, means("of a plain number, such as a gap")]
    headline: str
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
