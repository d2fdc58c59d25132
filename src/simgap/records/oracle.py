"""What must the best agent lose? The record of `simgap oracle`.

A number that is exact up to rounding is a plain number in a model and a pair of ends on
average; one found by sampling is an estimate with its interval in both places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.pair_prices import PairPrices
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory
from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class OracleModel:
    """How the certified policy does if this model is the real one."""

    name: str
    prior: float
    optimal: Annotated[float, means("V* of an agent that knows the model")]
    value: Annotated[float, means("of the certified policy, exact up to rounding")]
    gap: Annotated[float, means("optimal - value")]
    relative_gap: Annotated[float | None, means("gap / |optimal|, null if that is 0")]
    gap_interval: Annotated[Certified, means("holds the gap of every optimal policy")]


@final
@dataclass(frozen=True, slots=True)
class BaselineModel:
    """How a simpler policy does in one model."""

    name: str
    value: Annotated[float | Estimate, means("what the policy earns there")]
    gap: float | Estimate


@final
@dataclass(frozen=True, slots=True)
class BaselinePolicy:
    """A policy to compare with: its average value and what it loses in each model."""

    about: str
    value: Annotated[Interval, means("what it earns, mean over the prior")]
    average_gap: Interval
    worst_gap: Annotated[float | None, means("null: not found, see the note")]
    models: tuple[BaselineModel, ...]
    certainty: Certainty
    bound: Annotated[float | None, means("no policy of this kind has a larger value")]
    note: str
    cross_gaps: Annotated[
        tuple[tuple[float, ...], ...] | None, means("of plan j in model m")
    ]

    @property
    def gaps(self) -> list[float]:
        """Return one number for each model: its gap, or the estimate of it."""
        return [
            each.gap.estimate if isinstance(each.gap, Estimate) else each.gap
            for each in self.models
        ]


@final
@dataclass(frozen=True, slots=True)
class TracePoint:
    """The bracket of the average gap at one time."""

    seconds: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Oracle(Record):
    """What the best agent loses that does not know which model is real."""

    schema: int = SCHEMA
    kind: str = "oracle"
    horizon: int | None
    discount: Annotated[float | None, means("null with a horizon")]
    lower: Annotated[float, means("of W*")]
    upper: Annotated[float, means("of W*")]
    informed: Annotated[float, means("mean value of agents that are told the model")]
    average_gap: Certified
    estimated_gap: Annotated[
        Estimate | None, means("null: there was no time to simulate")
    ]
    worst_gap: Annotated[float, means("over the models of positive prior")]
    least_worst_gap: Annotated[
        float | None, means("of policies of least average loss; by a linear program")
    ]
    outcome: str
    solver: Annotated[str, means("how it was planned")]
    models: tuple[OracleModel, ...]
    pair_prices: Annotated[PairPrices, means("of not knowing one model from another")]
    nodes: Annotated[int, means("things the certified policy can remember")]
    rounding: Annotated[float, means("of a plain number, such as a gap")]
    baselines: dict[str, BaselinePolicy]
    memory: Memory | None
    value_of_memory: Annotated[
        Certified | None, means("the gap without less that with")
    ]
    value_of_randomization: Annotated[
        Certified | None, means("over plans of one model; lower end 0: ties left")
    ]
    trace: tuple[TracePoint, ...]
    seconds: Annotated[float, means("of planning")]
    compile_seconds: Annotated[float, means("of them spent on compiling")]
    baseline_seconds: float
    largest_bytes: Annotated[int, means("memory that planning took")]
    policy_file: Annotated[str | None, means("where the certified policy is kept")]
    belief_policy_file: Annotated[str | None, means("it tracks the posterior")]
    certainty: dict[str, Certainty]
    notes: Annotated[tuple[Note, ...], means("what a limit left out")]
    provenance: Provenance
    policy: Any = in_memory()  # the certified one
    belief_policy: Any = in_memory()  # the one to run: it tracks the posterior
    result: Any = in_memory()  # everything that planning found
    memoryless: Any = in_memory()  # the plan without memory, as searched

    @property
    def noise(self) -> float:
        """Return what floating point can misstate: smaller gaps are shown as 0."""
        return 10.0 * self.rounding
