"""What was trained: the record of `simgap train`, in the user's units of reward.

Returns of a training are those of its own episodes, in which the policy tries other
actions than it would play. What it gets when it does not: `simgap transfer RUN`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory
from simgap.text import number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedPolicy:
    """The policy of one seed."""

    name: str  # of the training, which all its seeds share
    seed: int
    file: str  # ONNX; beside it the checkpoint; empty: a trainer of one's own
    converged: bool | None  # null: nobody knows, a trainer of one's own
    outcome: str  # how the training ended
    final_return: float  # mean of the last tenth of the rounds
    curve: tuple[tuple[int, float], ...]  # steps and mean return of episodes then
    drawn_share: float = 1.0  # of nu that is drawn at the end; 1: all of it

    @property
    def line(self) -> str:
        """Return the policy in a line."""
        what = self.file or f"{self.name}, seed {self.seed}"
        return f"{what}: {number(self.final_return, 4)}, {self.outcome}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Train(Record):
    """Policies that were trained in the same way, with different seeds."""

    schema: int = SCHEMA
    kind: str = "train"
    name: str  # what tables call the training
    simulator: str  # its name
    randomize: str  # what was drawn while it was trained
    told: str  # the range that informed policies are told: nu of the user
    noise: str  # added at every step, in the grammar of --noise
    horizon: int
    memory: str  # gru, lstm, none or window:8
    informed: bool  # the policy is told the parameters
    masked: bool  # it is told some of them, others in every episode
    specialist: bool  # trained for one value of the parameters
    sampler: str  # what was drawn: uniform (all of randomize), adr, doraemon or gap
    steps: int | None  # of the simulator, for each seed; null: not counted
    steps_before: int = 0  # of them, for what the sampler must know
    steps_per_second: float | None  # of the processor, compilation apart
    final_return: Estimate  # mean over seeds, of the last tenth of the rounds
    converged: bool | None  # every seed did; null: nobody knows
    policies: tuple[TrainedPolicy, ...]
    settings: dict[str, float]  # of the learner
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
    made: Any = in_memory()  # simulator and policies of a trainer of one's own
