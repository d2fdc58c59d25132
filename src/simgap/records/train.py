"""What was trained: the record of `simgap train`, in the user's units of reward.

Returns of a training are those of its own episodes, in which the policy tries other
actions than it would play. What it gets when it does not: `simgap transfer RUN`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.provenance import Certainty, Provenance
from simgap.records.record import SCHEMA, Record, in_memory
from simgap.text import means, number


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedPolicy:
    """The policy of one seed."""

    name: Annotated[str, means("of the training, which all its seeds share")]
    seed: Annotated[int, means("of everything sampled; null: nothing was")]
    file: Annotated[str, means("ONNX; empty: a trainer of one's own")]
    converged: Annotated[bool | None, means("null: unknown")]
    outcome: Annotated[str, means("how the training ended")]
    final_return: Annotated[float, means("mean of the last tenth of the rounds")]
    curve: Annotated[tuple[tuple[int, float], ...], means("steps, mean return")]

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
    name: Annotated[str, means("what tables call the training")]
    simulator: str
    randomize: Annotated[str, means("what was drawn while it was trained")]
    told: Annotated[str, means("range that informed policies are told: nu")]
    noise: Annotated[str, means("added at every step, in the grammar of --noise")]
    horizon: int
    memory: Annotated[str, means("gru, lstm, none or window:8")]
    informed: Annotated[bool, means("the policy is told the parameters")]
    masked: Annotated[bool, means("it is told some of them, others in every episode")]
    specialist: Annotated[bool, means("trained for one value of the parameters")]
    draws: Annotated[str, means("function of one's own that drew; empty: randomize")]
    steps: Annotated[int | None, means("of each seed; null: not counted")]
    steps_per_second: Annotated[float | None, means("of the processor")]
    final_return: Annotated[Estimate, means("mean over seeds, of the last rounds")]
    converged: Annotated[bool | None, means("every seed did; null: nobody knows")]
    policies: tuple[TrainedPolicy, ...]
    settings: Annotated[dict[str, float], means("of the learner")]
    notes: tuple[Note, ...]
    certainty: dict[str, Certainty]
    provenance: Provenance
    made: Any = in_memory()  # simulator and policies of a trainer of one's own
