"""Will it transfer? The record of `simgap audit`, in the user's units of reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record

Status = Literal["ok", "info", "warning", "fail"]
Verdict = Literal[
    "yes",
    "with memory",
    "no",
    "undecided",
    "undecided: grid too coarse",
    "in the long run",
    "not promised",
]
OpenOnGrid = Literal["grid-too-coarse", "simulator-disagrees", "answer-moves"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, how it came out, what that means."""

    check: str
    code: str  # what was found, a short word that does not change: "no-way-back"
    status: Status  # ok, info: not measured or harmless, warning: read it, or fail
    text: str
    value: float | None = None


@final
@dataclass(frozen=True, slots=True)
class HardestPair:
    """Assumption 2: the two models hardest to tell apart."""

    value: float | None  # delta, in [0, 2]; None: too many pairs to compare
    pair: tuple[int, int] | None = None
    pair_names: tuple[str, str] | None = None
    state: int | None = None  # None: nothing tells them apart
    action: int | None = None
    state_name: str | None = None
    action_name: str | None = None
    visits: int | None = None  # of that place alone, for an error of 5 %
    steps: Certified | None = None  # of the best experiment, whole numbers


@final
@dataclass(frozen=True, slots=True)
class Theorem:
    """The tightest bound of the paper on the oracle's gap in any model."""

    name: str
    bound: float
    vacuous: bool  # it promises no more than that at most H times the range is lost
    non_vacuous_from: float | None  # the least H at which it says something


@final
@dataclass(frozen=True, slots=True)
class WorstModel:
    """The model in which a policy loses most, compared with random actions."""

    name: str
    gap: float
    relative: float  # of what random actions lose in that model, an upper bound


@final
@dataclass(frozen=True, slots=True)
class InSimulator:
    """What a policy earns in H steps, mean over the prior, in table and simulator."""

    policy: str
    table: Interval  # what it earns in the table
    simulator: Estimate  # what it earns in the simulator itself
    episodes: int  # in the simulator
    fallbacks: float  # part of their steps in which the policy had no answer

    def apart(self) -> float:
        """Return how far the two intervals are from each other, 0 if they meet."""
        low, high = self.table.ends
        return max(self.simulator.lower - high, low - self.simulator.upper, 0.0)


@final
@dataclass(frozen=True, slots=True)
class Rung:
    """What one grid of a ladder says."""

    cells: tuple[int, ...]  # nodes along every axis
    states: int
    noise: float  # of a step that the grid adds / its motion, along the worst axis
    average_gap: Certified | None
    at_stake: float
    verdict: Verdict  # of the table
    in_simulator: tuple[InSimulator, ...]  # its policies in both


@final
@dataclass(frozen=True, slots=True)
class Ladder:
    """Finer and finer grids, and why there is no further one."""

    outcome: str
    tolerance: float  # of what is at stake: within it the answer stands still
    rungs: tuple[Rung, ...]  # from coarse to fine


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Record):
    """Will a policy trained on all models transfer? The verdict, and every check."""

    schema: int = SCHEMA
    kind: str = "audit"
    horizon: int | None
    models: int
    states: int
    actions: int
    communicating: bool
    diameter: Certified
    separation: HardestPair
    verdict: Verdict
    headline: str
    reason: str
    verdict_certainty: Certainty
    verdict_code: OpenOnGrid | None  # why a grid leaves the verdict open
    everywhere: bool | None  # the policy of the verdict is acceptable in all models
    acceptable: float
    findings: tuple[Finding, ...]
    theorem: Theorem | None
    average_gap: Certified | None
    at_stake: float | None
    relative_gap: Certified | None
    worst: WorstModel | None
    rounding: float | None  # of a loss that is one number; null: not planned
    memoryless_gap: Certified | None
    relative_memoryless: Certified | None
    memoryless_worst: WorstModel | None
    memory: Memory | None
    value_of_memory: Certified | None
    outcome: str | None  # of planning
    in_simulator: tuple[InSimulator, ...]  # of a class on a grid
    ladder: Ladder | None  # with --refine
    passed: bool  # the exit status is 0
    next: tuple[str, ...]
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance

    def finding(self, check: str) -> Finding:
        """Return what one check found."""
        return next(each for each in self.findings if each.check == check)
