"""Will it transfer? The verdict, from certified numbers alone.

With a horizon, losses are measured against what is at stake: what acting at random
loses. Transfer is acceptable if a policy loses at most the acceptable part of it, on
average over the prior. The ends of the brackets are compared, so that a verdict is
never a guess: where they do not decide, it is "undecided".

One model is real, not their average. A policy without memory that is fine on average
may fail in one of them; where one with memory does clearly better there, the verdict is
"with memory". Where memory does not help either, the words say which model to fear.

A table on a grid that is too coarse says nothing about its simulator: the verdict is
then "undecided: grid too coarse", whatever the table says (`audit_grid` has the rules).

Without a horizon the question is whether the loss per step goes to 0 as episodes grow.
It does if every mistake can be undone and models are told apart by what is seen
(Theorems 1 and 2). Models that nothing tells apart are harmless if one policy is best
for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import final

from simgap.intervals import Certified

CLEARLY = 0.5  # of the loss in the worst model: what memory has to bring it below


class Verdict(Enum):
    """The answer to: will a policy trained on all models transfer?"""

    YES = "yes"
    WITH_MEMORY = "with memory"
    NO = "no"
    UNDECIDED = "undecided"
    GRID_TOO_COARSE = "undecided: grid too coarse"
    IN_THE_LONG_RUN = "in the long run"
    NOT_PROMISED = "not promised"

    @property
    def bad(self) -> bool:
        """Whether a script should stop here."""
        return self in (Verdict.NO, Verdict.NOT_PROMISED)


@final
@dataclass(frozen=True, slots=True)
class WorstCases:
    """The greatest part of its stake that two policies lose in a model with weight."""

    without_memory: float = 0.0
    with_memory: float = inf  # inf: not known

    def memory_helps(self, acceptable: float) -> bool:
        """Return whether memory makes the worst model acceptable, or twice as good."""
        if self.with_memory <= acceptable < self.without_memory:
            return True
        return self.with_memory < CLEARLY * self.without_memory


NOT_KNOWN = WorstCases()


def verdict_in_steps(
    average: Certified,
    memoryless: Certified,
    stake: Certified,
    *,
    acceptable: float,
    noise: float = 0.0,
    worst: WorstCases = NOT_KNOWN,
) -> Verdict:
    """Return the verdict from brackets of three average losses.

    `average` is the loss of the best policy with memory, `memoryless` of the best one
    without, `stake` of acting at random. If random actions lose no more than `noise`,
    which rounding makes, nothing can be lost.
    """
    low, high = average.ends
    least, most = stake.ends
    if least <= 0.0:
        return Verdict.YES if most <= noise else Verdict.UNDECIDED
    if memoryless.ends[1] <= acceptable * least:
        everywhere = worst.without_memory <= acceptable
        return (
            Verdict.YES
            if everywhere or not worst.memory_helps(acceptable)
            else Verdict.WITH_MEMORY
        )
    if high <= acceptable * least:
        return Verdict.WITH_MEMORY
    if low > acceptable * most:
        return Verdict.NO
    return Verdict.UNDECIDED


def verdict_in_the_long_run(
    *, different: int, ways_back: bool, loss_per_step: Certified | None
) -> Verdict:
    """Return the verdict for episodes without end.

    `different` counts models that differ in kernel or rewards, `loss_per_step` is what
    models with equal kernels and different rewards cost for ever: None if there are
    such and it is not known.
    """
    if different == 1:
        return Verdict.YES
    if not ways_back or loss_per_step is None:
        return Verdict.NOT_PROMISED
    if loss_per_step.ends[0] > 0.0:
        return Verdict.NOT_PROMISED
    return Verdict.IN_THE_LONG_RUN


def memory_is_needed(
    memoryless: Certified, stake: Certified, acceptable: float
) -> bool:
    """Return whether it is certain that no policy without memory is acceptable."""
    return memoryless.ends[0] > acceptable * stake.ends[1]
