"""When does a trained policy find out? The record of `simgap identify RUN`.

What a policy with memory loses, step by step, against one that is told the parameters;
and how well the parameters can be read from what it remembers. All numbers are
estimated from episodes, one in each of many worlds that are drawn from nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import means, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepLoss:
    """What is lost at one step; all intervals of a curve hold at once."""

    step: Annotated[int, means("the first one is 1")]
    loss: Annotated[Estimate, means("mean reward of the reference less the policy's")]
    evaluation: Annotated[Estimate, means("of these very policies: over episodes")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParameter:
    """How much of one parameter is in the memory, over time."""

    name: str
    explained: Annotated[
        tuple[Estimate | None, ...], means("R^2 at probed steps; null: few worlds")
    ]
    shuffled: Annotated[
        tuple[Estimate | None, ...], means("of worlds in a wrong order")
    ]
    blame: Annotated[Estimate | None, means("its share, if RUN was blamed")]

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
    simulator: str
    randomize: Annotated[str, means("nu, in the grammar of --randomize")]
    horizon: int
    policy: Annotated[str, means("the training with memory")]
    reference: Annotated[str | None, means("the training that is told; null: none")]
    trainings: Annotated[tuple[int, int], means("seeds of each")]
    worlds: Annotated[int, means("drawn from nu, with one episode of each policy")]
    steps: Annotated[int, means("of the simulator")]
    losses: Annotated[
        tuple[StepLoss, ...], means("per step; empty without a reference")
    ]
    total: Annotated[Estimate | None, means("lost in a whole episode")]
    evaluation: Annotated[Estimate | None, means("the same of these very policies")]
    settled: Annotated[int | None, means("step from which 0 is possible; null: never")]
    settled_here: Annotated[int | None, means("the same of these very policies")]
    probed: Annotated[tuple[int, ...], means("steps at which the memory is read")]
    parameters: tuple[ReadParameter, ...]
    headline: str
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
