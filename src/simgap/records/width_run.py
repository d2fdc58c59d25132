"""How wide to randomize a simulator? The record of `simgap width SIMULATOR`, in reward.

A policy was trained on each width of the ranges, and all were measured over the whole
of them, in the same episodes. Everything is estimated from episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.records.transfer import WorstPoint
from simgap.text import bracket, means, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WidthReturns:
    """What training on one width of the ranges gets."""

    width: Annotated[float, means("of the user's ranges: 0 is a point, 1 all of them")]
    randomize: Annotated[str, means("what was drawn in training")]
    mean: Annotated[Estimate, means("mean return over the user's ranges")]
    worst: Annotated[WorstPoint, means("of the user's ranges")]
    inside: Annotated[Estimate, means("mean return over its own ranges")]
    beyond: Annotated[Estimate | None, means("mean return beyond the user's ranges")]
    behind: Annotated[Estimate | None, means("the best width less it; null: it is")]
    evaluation: Annotated[Estimate | None, means("of these very policies")]
    seed_spread: Annotated[float | None, means("over trainings; null: 1 seed")]
    verdict: Literal["enough", "not enough", "open"]
    converged: Annotated[bool | None, means("every training did; null: nobody knows")]

    @property
    def line(self) -> str:
        """Return the width in a line."""
        return f"{number(self.width, 3)}: {bracket(self.mean, 4)}, {self.verdict}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WidthRun(Record):
    """Returns of training on narrower and wider ranges, and which is wide enough."""

    schema: int = SCHEMA
    kind: str = "width_run"
    simulator: str
    randomize: Annotated[str, means("the user's ranges, in the grammar of --randomize")]
    noise: Annotated[str, means("added at every step")]
    horizon: int
    memory: Annotated[str, means("of the policies: gru, lstm, none or window:8")]
    trainings: Annotated[int, means("seeds of each width")]
    steps: Annotated[int | None, means("behind each policy; null: not counted")]
    training_steps: Annotated[
        int | None, means("in all; wider ones begin with narrower")
    ]
    episodes: Annotated[int, means("that were measured")]
    measured_steps: Annotated[int, means("of the simulator, for them")]
    design: Annotated[str, means("at which parameters was measured")]
    beyond: Annotated[float, means("times the ranges, for the points beyond")]
    widths: Annotated[tuple[WidthReturns, ...], means("the narrowest first")]
    random: Annotated[Estimate, means("of random actions, over the user's ranges")]
    longer: Annotated[
        Estimate | None, means("of another training over all ranges, if there is one")
    ] = None
    at_stake: Annotated[float, means("the best width less random actions")]
    slack: Annotated[float, means("a part of `at_stake`")]
    spare: Annotated[float, means("loss that is good enough, in units of reward")]
    best: Annotated[float, means("the width with the greatest mean")]
    recommended: Annotated[
        float | None, means("the narrowest good one; null: undecided")
    ]
    guess: Annotated[float, means("what seems to be the narrowest, decided or not")]
    outcome: Literal["recommended", "undecided"]
    reason: str
    confidence: Annotated[float, means("that a recommendation is right")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
