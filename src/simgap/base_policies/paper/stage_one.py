"""How long Algorithm 1 takes to find the real model, and how often it finds another.

Measured over runs in every model, beside what is guaranteed: the chance of dropping the
real model (theory 4.3) is an interval that holds for every sample size (Clopper and
Pearson, 1934), the mean length of stage 1 that of numbers between 0 and H.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import OffsetArray
from simgap.base_policies.paper.elimination import Elimination
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.simulation import Runs, real_models, run_program
from simgap.statistics import Part, estimated_mean, estimated_rate


@final
@dataclass(frozen=True, slots=True, eq=False)
class StageOne:
    """Stage 1 of Algorithm 1 in one real model."""

    model: int
    name: str
    steps: Estimate  # mean length, H where it did not end
    unfinished: int  # runs whose horizon ended in stage 1
    wrong: Estimate  # chance that the real model is dropped
    allowed: float  # what that chance may be at most
    lengths: OffsetArray  # (n,)


def stage_one(
    agent: Elimination,
    *,
    runs: int,
    seed: int,
    models: Sequence[int] | None = None,
    confidence: float = 0.95,
    threads: int = 1,
) -> tuple[StageOne, ...]:
    """Return lengths and error rates of stage 1 in the models of the agent's class."""
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence!r}", hint="it is between 0 and 1"
        )
    known = agent.known
    real = real_models(
        agent.observed, known.simulators, agent.horizon, average=known.average
    )
    found = run_program(
        agent, real, runs=runs, seed=seed, models=models, threads=threads
    )
    return tuple(_summary(agent, each, confidence) for each in found)


def _summary(agent: Elimination, found: Runs, confidence: float) -> StageOne:
    ended = found.identified >= 0
    lengths = np.where(ended, found.identified, agent.horizon)
    count, longest = lengths.size, float(agent.horizon)
    values = [Part(lengths.astype(np.float64), 0.0, longest)]
    return StageOne(
        model=found.model,
        name=found.name,
        steps=estimated_mean(values, confidence, least=0.0, greatest=longest),
        unfinished=int((~ended).sum()),
        wrong=estimated_rate(int(found.truth_eliminated.sum()), count, confidence),
        allowed=agent.rounds.guarantee,
        lengths=lengths,
    )
