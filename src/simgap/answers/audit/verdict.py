"""Will it transfer? The verdict, from certified numbers alone.

With a horizon, losses are measured against what is at stake: what acting at random
loses. Transfer is acceptable if a policy loses at most the acceptable part of it, on
average over the prior. The ends of the brackets are compared, so that a verdict is
never a guess: where they do not decide, it is "undecided".

One model is real, not their average. A policy without memory that is fine on average
may fail in one of them; if a policy with memory does clearly better in that model, and
no policy without memory is met that is fine in all of them, the verdict is "with
memory". If memory does not help either, or is proved to save nothing on average, the
words name that model.

A table on a grid that is too coarse says nothing about its simulator: the verdict is
then "undecided: grid too coarse", whatever the table says (`grid` has the rules).

Without a horizon the question is whether the loss per step goes to 0 as episodes grow.
It does if every mistake can be undone and models are told apart by what is seen
(Theorems 1 and 2). Models that nothing tells apart are harmless if one policy is best
for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import final

from simgap.intervals import Certified
from simgap.records.audit import OpenOnGrid, Verdict

BAD: tuple[Verdict, ...] = ("no", "not promised")  # a script should stop here
CLEARLY = 0.5  # of the loss in the worst model: what memory has to bring it below


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict in words: one sentence, and one to three more that say why."""

    verdict: Verdict
    headline: str
    reason: str
    code: OpenOnGrid | None = None  # why a grid leaves the verdict open


@final
@dataclass(frozen=True, slots=True)
class WorstCases:
    """The greatest part of its stake that two policies lose in a model with weight."""

    without_memory: float = 0.0
    with_memory: float = inf  # inf: not known
    saves_nothing: bool = False  # memory, on average, and this is proved

    def memory_helps(self, acceptable: float) -> bool:
        """Return whether memory makes the worst model acceptable, or twice as good."""
        if self.saves_nothing:
            return False
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
        return "yes" if most <= noise else "undecided"
    if memoryless.ends[1] <= acceptable * least:
        fine = worst.without_memory <= acceptable or not worst.memory_helps(acceptable)
        return "yes" if fine else "with memory"
    if high <= acceptable * least:
        return "with memory"
    if low > acceptable * most:
        return "no"
    return "undecided"


def verdict_in_the_long_run(
    *, ways_back: bool, loss_per_step: Certified | None
) -> Verdict:
    """Return the verdict for episodes without end.

    `loss_per_step` is what models with equal kernels and different rewards cost in
    every step, for ever; None if there are such models and it is not known.
    """
    if not ways_back or loss_per_step is None:
        return "not promised"
    if loss_per_step.ends[0] > 0.0:
        return "not promised"
    return "in the long run"


def memory_is_needed(
    memoryless: Certified, stake: Certified, acceptable: float
) -> bool:
    """Return whether it is certain that no policy without memory is acceptable."""
    return memoryless.ends[0] > acceptable * stake.ends[1]
