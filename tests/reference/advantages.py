"""Generalised advantages by their definition: for every step, a sum over later ones."""

from __future__ import annotations

import numpy as np

from simgap.arrays import BoolArray, FloatArray


def advantages(
    reward: FloatArray,
    value: FloatArray,
    ended: BoolArray,
    discount: float,
    trace: float,
) -> FloatArray:
    """Return the sum of (discount trace)^k * surprise up to the end of the episode."""
    found = np.zeros_like(reward)
    steps, rows = reward.shape
    for row in range(rows):
        for step in range(steps):
            for later in range(step, steps):
                over = ended[later, row]
                expected = 0.0 if over else discount * value[later + 1, row]
                surprise = reward[later, row] + expected - value[later, row]
                found[step, row] += (discount * trace) ** (later - step) * surprise
                if over:
                    break
    return found


def discounted(reward: FloatArray, ended: BoolArray, discount: float) -> FloatArray:
    """Return the discounted rewards from each step to the end of episode or row."""
    found = np.zeros_like(reward)
    for step, row in np.ndindex(reward.shape):
        for later in range(step, len(reward)):
            found[step, row] += discount ** (later - step) * reward[later, row]
            if ended[later, row]:
                break
    return found
