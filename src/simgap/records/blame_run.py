"""Which parameter is worth knowing? The record of `simgap blame RUN`, in reward.

One policy was trained with any of the parameters hidden from it. What it gets more if
all are told than if none is, is shared out over the parameters by Shapley's rule. All
numbers are estimated from episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.text import bracket, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToldParameter:
    """What telling one parameter is worth."""

    name: str
    share: Estimate  # of the total; another training would do: seeds vary too
    evaluation: Estimate  # the same of these very policies: only episodes vary
    seed_spread: float | None  # standard deviation of a training's share; None: 1 seed
    part: Estimate | None  # share / total; null: the total may be 0
    first: Estimate  # what telling it is worth if nothing else is told
    last: Estimate  # what telling it is worth if all others are told

    @property
    def line(self) -> str:
        """Return the parameter in a line."""
        return f"{self.name}: {bracket(self.share, 4)}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSet:
    """The mean return if some parameters are told and the others are not."""

    told: tuple[str, ...]  # by name
    returned: Estimate  # mean over nu

    @property
    def line(self) -> str:
        """Return the set in a line."""
        names = ", ".join(self.told) or "nothing"
        return f"told {names}: {number(self.returned.estimate, 4)}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MaskingCheck:
    """The policy of hidden parameters beside one that was trained for one case."""

    told: Literal["everything", "nothing"]  # the case
    against: str  # name of the training
    difference: Estimate  # what the policy of hidden parameters gets more, over nu


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BlamedRun(Record):
    """What knowing each parameter is worth to a trained policy."""

    schema: int = SCHEMA
    kind: str = "blame_run"
    simulator: str  # its name
    randomize: str  # nu, in the grammar of --randomize
    horizon: int
    design: str  # at which parameters was measured
    policy: str  # the training with hidden parameters
    trainings: int  # seeds of it
    episodes: int  # that were run
    steps: int  # of the simulator
    method: Literal["exact", "sampled"]  # from all sets of parameters, or some orders
    orders: int | None  # of the parameters, every second one a reverse
    total: Estimate  # mean return if all are told less that if none is
    evaluation: Estimate  # the same of these very policies: only episodes vary
    seed_spread: float | None  # standard deviation of a training's total; None: 1 seed
    parameters: tuple[ToldParameter, ...]  # the greatest share first; they sum to total
    leader: str | None  # has the greatest share, as far as intervals tell
    sets: tuple[ToldSet, ...]  # every set of parameters that was told
    checks: tuple[MaskingCheck, ...]  # against other trainings in the folder
    headline: str
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
