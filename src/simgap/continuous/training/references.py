"""What is trained before an adaptive sampler begins, paid from the same steps.

ADR and DORAEMON judge returns by a policy for the nominal values alone; the gap-aware
sampler by one that is told the parameters, which is then measured in every cell of nu.
Neither has memory: such policies learn fastest.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.training.beforehand import Needed, Reference
from simgap.continuous.training.gap_aware import cells_of
from simgap.continuous.training.learner import Learner
from simgap.continuous.training.samplers import drawn_as, draws_in_a_row
from simgap.continuous.training.settings import Settings
from simgap.continuous.training.trainer import Trained
from simgap.continuous.training.update import Learnt
from simgap.errors import InvalidArgument

SHARE = {Needed.NOTHING: 0.0, Needed.NOMINAL: 1 / 12, Needed.INFORMED: 1 / 3}
LEAST_ROUNDS = 3  # of the reference: the first measures, the second begins to learn
IN_A_CELL = 4  # episodes of the informed policy
STARTS = 977  # seed of the episodes that are measured, the same for every training


class Budget(NamedTuple):
    """How the steps of a training are split."""

    reference: int  # to train the reference with
    before: int  # spent before the sampler begins: the reference is measured too
    left: int


def budget_of(
    needed: Needed, steps: int, settings: Settings, randomization: BoundRandomization
) -> Budget:
    """Return how so many steps are split, or refuse: they are too few."""
    share, batch = SHARE[needed], settings.batch
    if needed is Needed.NOTHING:
        return Budget(0, 0, steps)
    reference, measured = int(share * steps), 0
    if needed is Needed.INFORMED:
        measured = cells_of(randomization).count * IN_A_CELL * settings.horizon
    before = (settings.updates(reference) + 1) * batch + measured
    if reference < LEAST_ROUNDS * batch or steps - before < 2 * batch:
        least = max(LEAST_ROUNDS * batch / share, (2 * batch + measured) / (1 - share))
        raise InvalidArgument(
            f"{steps} steps of training with {needed.value} trained before",
            hint=f"a round takes {batch}; give at least {ceil(least)}",
            code="too-few-steps",
        )
    return Budget(reference, before, steps - before)


def reference_of(
    needed: Needed, learner: Learner, randomization: BoundRandomization, done: Trained
) -> Reference:
    """Return what returns are judged by, of a reference that is trained."""
    found = Reference(float(done.returns[0]), done.final_return)
    if needed is not Needed.INFORMED:
        return found
    theta = cells_of(randomization).points(IN_A_CELL, done.seed)
    got = returns_at(learner, done.learnt, randomization, theta, STARTS)
    return replace(found, cells=got.reshape(-1, IN_A_CELL).mean(axis=1))


def returns_at(
    learner: Learner,
    learnt: Learnt,
    randomization: BoundRandomization,
    theta: FloatArray,
    seed: int,
) -> FloatArray:
    """Return what a policy gets in an episode at each point, not exploring, (n,)."""
    in_a_row = draws_in_a_row(learner.settings)
    draws = drawn_as(
        np.repeat(theta, in_a_row, axis=0),
        np.arange(len(theta) * in_a_row),
        randomization,
        learner.features,
        learner.settings,
        seed,
        learner.simulator.parameters,
    )
    return learner.played(learnt, draws).returned
