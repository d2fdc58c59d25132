"""What was trained: the record of `simgap train`, in the user's units of reward.

Returns of a training are those of its own episodes, in which the policy tries other
actions than it would play. What it gets when it does not: `simgap transfer RUN`.
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
class TrainedPolicy:
    """The policy of one seed."""

    name: str  # of the training, which all its seeds share
    seed: int
    file: str  # ONNX; beside it the checkpoint
    converged: bool
    outcome: str  # how the training ended
    final_return: float  # mean of the last tenth of the rounds
    curve: tuple[tuple[int, float], ...]  # steps and mean return of episodes then

    @property
    def line(self) -> str:
        """Return the policy in a line."""
        return f"{self.file}: {number(self.final_return, 4)}, {self.outcome}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Train(Record):
    """Policies that were trained in the same way, with different seeds."""

    schema: int = SCHEMA
    kind: str = "train"
    name: str  # what tables call the training
    simulator: str
    randomize: str  # what was drawn while it was trained
    told: str  # the range that informed policies are told: nu of the user
    noise: str  # added at every step, in the grammar of --noise
    horizon: int
    memory: str  # gru, lstm, none or window:8
    informed: bool  # the policy is told the parameters
    masked: bool  # it is told some of them, others in every episode
    specialist: bool  # trained for one value of the parameters
    sampler: str  # how the parameters were drawn
    steps: int  # of the simulator, for each seed
    steps_per_second: float | None  # of the processor, compilation apart
    final_return: Estimate  # mean over seeds, of the last tenth of the rounds
    converged: bool  # every seed did
    policies: tuple[TrainedPolicy, ...]
    settings: dict[str, float]  # of the learner
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
