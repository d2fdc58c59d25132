"""Which parameter is worth knowing? The record of `simgap blame RUN`, in reward.

One policy was trained with any of the parameters hidden from it. What it gets more if
all are told than if none is, is shared out over the parameters by Shapley's rule. All
numbers are estimated from episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import bracket, means, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToldParameter:
    """What telling one parameter is worth."""

    name: str
    share: Annotated[Estimate, means("of the total; over trainings and episodes")]
    evaluation: Annotated[Estimate, means("of these very policies: over episodes")]
    seed_spread: Annotated[
        float | None, means("deviation over trainings; null: 1 seed")
    ]
    part: Annotated[Estimate | None, means("share / total; null: the total may be 0")]
    first: Annotated[Estimate, means("its worth if nothing else is told")]
    last: Annotated[Estimate, means("its worth if all others are told")]

    @property
    def line(self) -> str:
        """Return the parameter in a line."""
        return f"{self.name}: {bracket(self.share, 4)}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSet:
    """The mean return if some parameters are told and the others are not."""

    told: Annotated[tuple[str, ...], means("by name")]
    returned: Annotated[Estimate, means("mean over nu")]

    @property
    def line(self) -> str:
        """Return the set in a line."""
        names = ", ".join(self.told) or "nothing"
        return f"told {names}: {number(self.returned.estimate, 4)}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MaskingCheck:
    """The policy of hidden parameters beside one that was trained for one case."""

    told: Literal["everything", "nothing"]
    against: Annotated[str, means("name of the training")]
    difference: Annotated[Estimate, means("the policy of hidden parameters less it")]


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BlamedRun(Record):
    """What knowing each parameter is worth to a trained policy."""

    schema: int = SCHEMA
    kind: str = "blame_run"
    simulator: str
    randomize: Annotated[str, means("nu, in the grammar of --randomize")]
    horizon: int
    design: Annotated[str, means("at which parameters was measured")]
    policy: Annotated[str, means("the training with hidden parameters")]
    trainings: Annotated[int, means("seeds of it")]
    episodes: Annotated[int, means("that were run")]
    steps: Annotated[int, means("of the simulator")]
    method: Annotated[Literal["exact", "sampled"], means("all sets, or some orders")]
    orders: Annotated[int | None, means("of parameters, every second one a reverse")]
    total: Annotated[Estimate, means("mean return if all are told less if none is")]
    evaluation: Annotated[Estimate, means("of these very policies: over episodes")]
    seed_spread: Annotated[
        float | None, means("deviation over trainings; null: 1 seed")
    ]
    parameters: Annotated[tuple[ToldParameter, ...], means("greatest share first")]
    leader: Annotated[str | None, means("has the greatest share, by intervals")]
    sets: Annotated[tuple[ToldSet, ...], means("every set of parameters that was told")]
    checks: Annotated[tuple[MaskingCheck, ...], means("against other trainings")]
    headline: str
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
