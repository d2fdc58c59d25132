"""Which hidden parameter causes the loss? The record of `simgap blame`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Certified, Interval
from simgap.records.note import Note
from simgap.records.pair_prices import PairPrices
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record


@final
@dataclass(frozen=True, slots=True)
class LossAtValue:
    """What is lost where a parameter has one value."""

    value: float | str  # text for a group, or the name of a model
    told: Certified  # average gap of an agent that knows this value
    loss: float  # average over the models with this value, of the certified policy


@final
@dataclass(frozen=True, slots=True)
class BlamedParameter:
    """What one parameter, or group of them, is to blame for."""

    name: str
    values: int  # how many it has
    share: Interval  # of the whole; shares sum to it
    part: Interval | None  # share / whole; null if the whole is 0
    alone: Certified  # loss if only this is hidden
    information: Certified  # what knowing it is worth
    ignored: Certified | None  # share of what the nominal plan loses; may be negative
    curve: tuple[LossAtValue, ...]  # one point per value


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Blame(Record):
    """How much of the best agent's loss each hidden parameter causes."""

    schema: int = SCHEMA
    kind: str = "blame"
    horizon: int
    whole: Certified  # average gap of the oracle
    method: Literal["exact", "sampled"]  # from all sets of parameters, or random orders
    permutations: int | None
    classes_planned: int
    parameters: tuple[BlamedParameter, ...]
    leader: str | None  # certainly the largest share; null: not known
    ignored_whole: float  # average gap of the nominal model's plan
    nominal: str
    names: tuple[str, ...]
    pair_prices: PairPrices
    rounding: float
    headline: str
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance
