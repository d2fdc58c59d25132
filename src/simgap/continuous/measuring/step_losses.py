"""What one policy loses against another, step by step, in the same worlds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.measuring.bands import Band, band_around
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.measuring.means import ENOUGH_SEEDS, Level
from simgap.continuous.measuring.value import MeasuredValue
from simgap.continuous.measuring.worth import Combination, averaged


class StepLosses(NamedTuple):
    """The loss at every step with its band, and that of whole episodes."""

    value: Band  # of the ways of training: worlds and seeds are both random
    evaluation: Band  # of these very policies: only worlds are
    total: Combination  # of an episode


def step_losses(
    reference: FloatArray, policy: FloatArray, *, confidence: float = 0.95
) -> StepLosses:
    """Return what is lost, from rewards (training seeds, worlds, steps) of both.

    A world in which an episode broke is left out. After the end of an episode rewards
    are 0, so that the losses of all steps add up to that of the episode.
    """
    fine = np.isfinite(reference).all(axis=(0, 2)) & np.isfinite(policy).all(
        axis=(0, 2)
    )
    one, other = reference[:, fine], policy[:, fine]
    apart = one.mean(axis=0) - other.mean(axis=0)  # (worlds, steps)
    many = [each for each in (one, other) if len(each) >= ENOUGH_SEEDS]
    trainings = [each.mean(axis=1) for each in many]
    drawn, mean = DrawnPoints(Drawn.INDEPENDENT), apart.mean(axis=0)
    both = (
        MeasuredValue({name: each.sum(axis=2)[..., None]}, drawn)
        for name, each in (("reference", one), ("policy", other))
    )
    every = np.ones(len(apart), np.bool_)
    return StepLosses(
        band_around(mean, [apart, *trainings], confidence=confidence),
        band_around(mean, [apart], confidence=confidence),
        averaged(next(both) - next(both), every, Level(confidence)),
    )
