"""What one policy loses against another, step by step, in the same worlds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.measuring.bands import Band, band_around
from simgap.continuous.measuring.means import Level, over_draws
from simgap.continuous.measuring.sampled import Sampled
from simgap.intervals import Estimate


class StepLosses(NamedTuple):
    """The loss at every step with its band, and that of whole episodes."""

    value: Band  # of the ways of training: worlds and seeds are both random
    evaluation: Band  # of these very policies: only worlds are
    total: Estimate  # of an episode
    total_evaluation: Estimate


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
    many = [each for each in (one, other) if len(each) > 1]
    trainings = [each.mean(axis=1) for each in many]
    whole = apart.sum(axis=1)[:, None]
    seeds = tuple(each.sum(axis=2) for each in many)
    level, mean = Level(confidence), apart.mean(axis=0)
    return StepLosses(
        band_around(mean, [apart, *trainings], confidence=confidence),
        band_around(mean, [apart], confidence=confidence),
        over_draws(Sampled(whole, seeds, what="paired"), level),
        over_draws(Sampled(whole, what="paired"), level),
    )
