"""Will it transfer? The record of `simgap audit`, in the user's units of reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Certified, Estimate, Interval
from simgap.records.memory import Memory
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means

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
OpenOnGrid = Literal["grid-too-coarse", "simulator-disagrees"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, how it came out, what that means."""

    check: str
    code: Annotated[str, means('what was found, which does not change: "no-way-back"')]
    status: Annotated[Status, means("warning: read it; info: harmless or not measured")]
    text: str
    value: Annotated[float | None, means("the number behind it, if any")] = None


@final
@dataclass(frozen=True, slots=True)
class HardestPair:
    """Assumption 2: the two models hardest to tell apart."""

    value: Annotated[float | None, means("delta, in [0, 2]; null: too many pairs")]
    pair: tuple[int, int] | None = None
    pair_names: tuple[str, str] | None = None
    state: Annotated[int | None, means("null: nothing tells them apart")] = None
    action: int | None = None
    state_name: str | None = None
    action_name: str | None = None
    visits: Annotated[int | None, means("of that place, for an error of 5 %")] = None
    steps: Annotated[Certified | None, means("of the best experiment")] = None


@final
@dataclass(frozen=True, slots=True)
class Theorem:
    """The tightest bound of the paper on the oracle's gap in any model."""

    name: str
    bound: Annotated[float, means("no gap is larger; in the units of the rewards")]
    vacuous: Annotated[bool, means("no more than H times the range of rewards")]
    non_vacuous_from: Annotated[float | None, means("least H at which it is not")]


@final
@dataclass(frozen=True, slots=True)
class WorstModel:
    """The model in which a policy loses most, compared with random actions."""

    name: str
    gap: float
    relative: Annotated[
        float, means("of the loss of random actions there, an upper bound")
    ]


@final
@dataclass(frozen=True, slots=True)
class InSimulator:
    """What a policy earns in H steps, mean over the prior, in table and simulator."""

    policy: str
    table: Annotated[Interval, means("what it earns in the table")]
    simulator: Annotated[Estimate, means("what it earns in the simulator itself")]
    episodes: Annotated[int, means("in the simulator")]
    fallbacks: Annotated[
        float, means("part of the steps without an answer of the policy")
    ]

    def apart(self) -> float:
        """Return how far the two intervals are from each other, 0 if they meet."""
        low, high = self.table.ends
        return max(self.simulator.lower - high, low - self.simulator.upper, 0.0)


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
    communicating: Annotated[bool, means("every state can be reached from every other")]
    diameter: Annotated[Certified, means("expected steps of the slowest trip")]
    separation: Annotated[HardestPair, means("of the two closest models")]
    verdict: Annotated[Verdict, means('the last three and "yes" without a horizon')]
    headline: str
    reason: str
    verdict_certainty: Annotated[
        Certainty, means('of "with memory": that it is enough')
    ]
    verdict_code: Annotated[OpenOnGrid | None, means("why the grid leaves it open")]
    everywhere: Annotated[bool | None, means("the policy is acceptable in all models")]
    acceptable: Annotated[float, means("the part of what is at stake that may be lost")]
    findings: tuple[Finding, ...]
    theorem: Annotated[Theorem | None, means("the tightest of the paper; null: none")]
    average_gap: Certified | None
    at_stake: Annotated[float | None, means("the gap of random actions, a yardstick")]
    relative_gap: Annotated[Certified | None, means("gap / what is at stake")]
    worst: WorstModel | None
    rounding: Annotated[float | None, means("of a plain number; null: not planned")]
    memoryless_gap: Annotated[Certified | None, means("bound on all, best one found")]
    relative_memoryless: Annotated[Certified | None, means("of what is at stake")]
    memoryless_worst: Annotated[
        WorstModel | None, means("of the memoryless policy of the verdict")
    ]
    memory: Memory | None
    value_of_memory: Annotated[
        Certified | None, means("the gap without less that with")
    ]
    outcome: Annotated[str | None, means("of planning")]
    in_simulator: Annotated[tuple[InSimulator, ...], means("of a class on a grid")]
    passed: Annotated[bool, means("the exit status is 0")]
    next: Annotated[tuple[str, ...], means("commands to try now")]
    certainty: dict[str, Certainty]
    notes: tuple[Note, ...]
    provenance: Provenance

    def finding(self, check: str) -> Finding:
        """Return what one check found."""
        return next(each for each in self.findings if each.check == check)
