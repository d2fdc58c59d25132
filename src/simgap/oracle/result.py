"""What the oracle's solvers return, and why they stopped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.intervals import Certified, Estimate
from simgap.policies import BeliefPolicy, GraphPolicy
from simgap.records.note import Note
from simgap.records.provenance import Certainty


class Outcome(Enum):
    """Why planning stopped; the bracket is valid whatever the reason."""

    EXACT = "exact up to rounding"
    SOLVED = "within tolerance"
    OUT_OF_TIME = "stopped at the time limit"
    OUT_OF_MEMORY = "stopped at the memory limit"
    OUT_OF_NODES = "stopped at the largest number of nodes"
    STALLED = "stopped: more work no longer narrows the bracket"
    INTERRUPTED = "interrupted"


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """The bracket of the average gap at one time."""

    seconds: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True)
class OracleStatistics:
    """What the answer cost."""

    seconds: float  # compile time apart
    compile_seconds: float
    nodes: int  # of the largest structure searched
    largest_bytes: int  # estimated peak of the solver's own arrays
    rounding: float  # absolute; how far `optimal`, `values` and `gaps` can be off
    trace: tuple[Moment, ...] = ()  # how the bracket closed


@final
@dataclass(frozen=True, slots=True, eq=False)
class VectorSets:
    """Gap vectors of continuations for a belief-tracking policy (`BeliefPolicy`)."""

    vector_set: IndexArray  # (T + 1,), which set to use at a step
    vector_offsets: OffsetArray  # (sets * S + 1,), row `set * S + state`
    vectors: FloatArray  # (V, M)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """What one solver found about a `LossForm`, in units of the gap.

    `lower` and `upper` enclose the average gap; `gaps` are those of `policy` up to
    rounding, and so is prior @ gaps = upper.
    """

    lower: float
    upper: float
    outcome: Outcome
    policy: GraphPolicy
    gaps: FloatArray  # (M,)
    vectors: VectorSets
    nodes: int
    largest_bytes: int
    trace: tuple[Moment, ...] = ()
    gap_intervals: FloatArray | None = None  # (M, 2) over all optimal policies
    least_worst_gap: float | None = None
    pair_prices: tuple[FloatArray, FloatArray] | None = None  # (M, M) lower, upper


@final
@dataclass(frozen=True, slots=True, eq=False)
class OracleResult:
    """The oracle of (U, nu): bounds of its value and gap, and policies to run."""

    value: Certified  # W*, of the optimal history-dependent policy
    average_gap: Certified  # sum_m nu_m V*_m - W*
    outcome: Outcome
    solver: str  # its name, and why it was picked
    settings: object  # the frozen settings of the solver
    horizon: int | None
    discount: float
    policy: GraphPolicy  # the certified one
    belief_policy: BeliefPolicy  # the one to run; its gap is estimated
    prior: FloatArray  # (M,)
    optimal: FloatArray  # (M,), V* at the start; within `statistics.rounding`, as are
    values: FloatArray  # (M,), those of `policy`, and
    gaps: FloatArray  # (M,), those of `policy`
    gap_intervals: FloatArray  # (M, 2), hold gap(pi, m) of every optimal policy pi;
    # by the exact solver both ends are reached where the prior is positive
    estimated_gap: Estimate | None  # of `belief_policy`, averaged over the prior;
    # None: there was no time to simulate it
    pair_prices_lower: FloatArray  # (M, M), cost of not knowing i from j
    pair_prices_upper: FloatArray  # (M, M)
    statistics: OracleStatistics
    least_worst_gap: float | None = None  # of the policies of least average gap and
    # their mixtures, in models that can be real; a policy that gives up some of the
    # average may do better (`solve_minimax`); None: not known
    compared: OffsetArray | None = None  # (K,), models whose pairs were looked at;
    # other pairs have cheap bounds; None: all were
    certainty: Certainty = "certified"  # of all but the estimate; the class says it
    notes: tuple[Note, ...] = ()  # what limits left out

    @property
    def worst_gap(self) -> float:
        """Return the largest gap of `policy` in a model that can be real.

        A model of prior zero cannot, and it was not planned for.
        """
        return float(self.gaps[self.prior > 0.0].max())
