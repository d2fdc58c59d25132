"""What must the best agent lose? The record of `simgap oracle`.

A number that is exact up to rounding is a plain number in a model and a pair of ends on
average; one found by sampling is an estimate with its interval in both places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.pair_prices import PairPrices
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory


@final
@dataclass(frozen=True, slots=True)
class OracleModel:
    """How the certified policy does if this model is the real one."""

    name: str
    prior: float
    optimal: float  # V* of an agent that knows the model
    value: float  # of the certified policy, exact up to rounding
    gap: float  # optimal - value
    relative_gap: float | None  # gap / |optimal|, None if that is 0
    gap_interval: Certified  # holds the gap of every optimal policy


@final
@dataclass(frozen=True, slots=True)
class BaselineModel:
    """How a simpler policy does in one model."""

    name: str
    value: float | Estimate  # what the policy earns there
    gap: float | Estimate


@final
@dataclass(frozen=True, slots=True)
class BaselinePolicy:
    """A policy to compare with: its average value and what it loses in each model."""

    about: str
    value: Interval  # what it earns, mean over the prior
    average_gap: Interval
    worst_gap: float | None  # None: the policy was not found, the note says why
    models: tuple[BaselineModel, ...]
    certainty: Certainty
    bound: float | None  # no policy of this kind has a larger value
    note: str
    cross_gaps: tuple[tuple[float, ...], ...] | None  # of the plan of model j in m,
    # if models are not too many

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
    discount: float | None
    lower: float  # of W*
    upper: float  # of W*
    informed: float
    average_gap: Certified
    estimated_gap: Estimate | None  # None: there was no time to simulate that policy
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    models: tuple[OracleModel, ...]
    pair_prices: PairPrices
    nodes: int
    rounding: float
    baselines: dict[str, BaselinePolicy]
    memory: Memory | None
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    trace: tuple[TracePoint, ...]
    seconds: float  # of planning
    compile_seconds: float
    baseline_seconds: float
    largest_bytes: int
    policy_file: str | None
    belief_policy_file: str | None
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]  # what a limit left out
    provenance: Provenance
    policy: Any = in_memory()  # the certified one
    belief_policy: Any = in_memory()  # the one to run: it tracks the posterior
    result: Any = in_memory()  # everything that planning found
    memoryless: Any = in_memory()  # the plan without memory, as searched

    @property
    def noise(self) -> float:
        """Return what floating point can misstate: smaller gaps are shown as 0."""
        return 10.0 * self.rounding
