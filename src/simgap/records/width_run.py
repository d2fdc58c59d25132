"""How wide to randomize a simulator? The record of `simgap width SIMULATOR`, in reward.

A policy was trained on each width of the ranges, and all were measured over the whole
of them, in the same episodes. Everything is estimated from episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record
from simgap.records.transfer import WorstPoint
from simgap.text import bracket, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WidthReturns:
    """What training on one width of the ranges gets."""

    width: float  # a part of the user's ranges: 0 is one point, 1 all of them
    randomize: str  # what was drawn in training
    mean: Estimate  # mean return over the user's ranges
    worst: WorstPoint  # of the user's ranges
    inside: Estimate  # mean return over its own ranges
    beyond: Estimate | None  # mean return beyond the user's ranges
    behind: Estimate | None  # what the best width gets more; null: it is the best
    evaluation: Estimate | None  # the same of these very policies: only episodes vary
    seed_spread: float | None  # standard deviation of that of a training; null: 1 seed
    verdict: Literal["enough", "not enough", "open"]  # within the slack of the best
    converged: bool | None  # every training did; null: nobody knows

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
    simulator: str  # its name
    randomize: str  # the user's ranges, in the grammar of --randomize
    noise: str  # added at every step
    horizon: int
    memory: str  # of the policies: gru, lstm, none or window:8
    trainings: int  # seeds of each width
    steps: int | None  # of the simulator behind each policy; null: not counted
    training_steps: int | None  # in all: policies of wider ranges begin with narrower
    episodes: int  # that were measured
    measured_steps: int  # of the simulator, for them
    design: str  # at which parameters was measured
    beyond: float  # how many times the ranges, for the points beyond them
    widths: tuple[WidthReturns, ...]  # the narrowest first
    random: Estimate  # mean return of random actions over the user's ranges
    at_stake: float  # what the best width gets more than random actions
    slack: float  # a part of `at_stake`
    spare: float  # that much less than the best is good enough, in units of reward
    best: float  # the width with the greatest mean
    recommended: float | None  # the narrowest that is good enough; null: undecided
    guess: float  # what seems to be the narrowest, decided or not
    outcome: Literal["recommended", "undecided"]
    reason: str
    confidence: float  # that a recommendation is right
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
