"""When does a trained policy find out? The record of `simgap identify RUN`.

What a policy with memory loses, step by step, against one that is told the parameters;
and how well the parameters can be read from what it remembers. All numbers are
estimated from episodes, one in each of many worlds that are drawn from nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepLoss:
    """What is lost at one step; all intervals of a curve hold at once."""

    step: int  # the first one is 1
    loss: Estimate  # mean reward of the reference less that of the policy
    evaluation: Estimate  # the same of these very policies: only episodes vary


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParameter:
    """How much of one parameter is in the memory, over time."""

    name: str
    explained: tuple[Estimate | None, ...]  # R^2 at each probed step; null: few worlds
    shuffled: tuple[Estimate | None, ...]  # of worlds in a wrong order: about 0
    blame: Estimate | None  # its share of what knowing is worth, if RUN was blamed

    @property
    def line(self) -> str:
        """Return the parameter in a line."""
        known = [each for each in self.explained if each is not None]
        last = number(known[-1].estimate, 2) if known else "-"
        return f"{self.name}: R^2 {last} at the end"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IdentifiedRun(Record):
    """When a policy with memory stops losing, and what it has found out by then."""

    schema: int = SCHEMA
    kind: str = "identify_run"
    simulator: str  # its name
    randomize: str  # nu, in the grammar of --randomize
    horizon: int
    policy: str  # the training with memory
    reference: str | None  # the training that is told the parameters; null: none is
    trainings: tuple[int, int]  # seeds of each
    worlds: int  # drawn from nu, with one episode of each policy
    steps: int  # of the simulator
    losses: tuple[StepLoss, ...]  # for each step; empty without a reference
    total: Estimate | None  # lost in a whole episode
    evaluation: Estimate | None  # the same of these very policies
    settled: int | None  # from this step on the band contains 0; null: never
    settled_here: int | None  # the same of these very policies
    probed: tuple[int, ...]  # steps at which the memory is read
    parameters: tuple[ReadParameter, ...]
    headline: str
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
