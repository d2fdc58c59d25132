"""How well parameters can be read from a memory: R^2 on worlds it was not fitted to.

Half of the worlds fit a linear map from what is remembered to the parameters (ridge
regression; how much it is held back is chosen by leaving out one world at a time), the
others say how much of the variance it explains there: 1 is all, 0 is no better than the
mean, and a map of nothing but luck is below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt

import numpy as np
from threadpoolctl import threadpool_limits

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.measuring.value import mean_of
from simgap.intervals import Estimate

HELD_BACK = np.logspace(-6.0, 4.0, 21)  # times the number of worlds
LEAST_WORLDS = 20  # in each half


def explained(
    memories: Sequence[FloatArray], numbers: FloatArray, *, confidence: float = 0.95
) -> Estimate | None:
    """Return R^2 of a parameter (T, m) in memories (T, n), one for each training.

    Every second world is fitted to. None: too few worlds for it.
    """
    fitted = np.arange(len(numbers)) % 2 == 0
    with threadpool_limits(1, user_api="blas"):  # small matrices: threads only wait
        found = [read_out(each, numbers, fitted) for each in memories]
    told = [each for each in found if each is not None]
    if not told or len(told) < len(found):
        return None
    every = np.stack(told)
    worlds, trainings = mean_of(every.T), mean_of(every)
    judged = worlds[np.isfinite(worlds)]
    mean = float(judged.mean())
    half = hypot(*(_reach(each, confidence) for each in (judged, trainings)))
    method = f"R^2 by ridge regression, t interval, {judged.size} worlds"
    if len(every) > 1:
        method += f", {len(every)} training seeds"
    about = Estimate(mean, mean - half, mean + half, confidence, method)
    return about.within(None, 1.0)


def read_out(
    memory: FloatArray, numbers: FloatArray, fitted: BoolArray
) -> FloatArray | None:
    """Return a number for each world, (T,), whose mean over the other half is R^2.

    `memory` is (T, n) with NaN rows where nothing is known, `numbers` (T, m) is one
    parameter. Numbers of worlds that are not judged are NaN. A mean of such numbers
    errs as R^2 does, to first order. None: too few worlds in a half.
    """
    known = np.isfinite(memory).all(axis=1) & (memory.shape[1] > 0)
    one, other = fitted & known, ~fitted & known
    if min(one.sum(), other.sum()) < LEAST_WORLDS:
        return None
    centred = memory - memory[one].mean(axis=0)
    spread = float(np.sqrt((centred[one] ** 2).mean()))
    scaled = centred / (spread or 1.0)  # all by one number: what hardly moves is noise
    mean = numbers[one].mean(axis=0)
    weights = _ridge(scaled[one], numbers[one] - mean)
    off = ((numbers[other] - mean - scaled[other] @ weights) ** 2).sum(axis=1)
    whole = ((numbers[other] - mean) ** 2).sum(axis=1)
    ratio = off.mean() / whole.mean()
    found: FloatArray = np.full(len(memory), np.nan)
    found[other] = 1.0 - ratio - (off - ratio * whole) / whole.mean()
    return found


def _reach(numbers: FloatArray, confidence: float) -> float:
    """Return how far a mean may be off; one number alone says nothing of it."""
    from scipy.special import stdtrit

    if numbers.size < 2:
        return 0.0
    error = float(numbers.std(ddof=1)) / sqrt(numbers.size)
    return float(stdtrit(numbers.size - 1, 0.5 + confidence / 2.0)) * error


def _ridge(given: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return weights (n, m); those that predict worlds left out one by one best."""
    left, sizes, right = np.linalg.svd(given, full_matrices=False)
    turned = left.T @ wanted
    best = np.zeros((given.shape[1], wanted.shape[1]))  # the mean alone
    least = float((wanted**2).sum()) / (1.0 - 1.0 / len(given)) ** 2
    for held in len(given) * HELD_BACK:
        shrunk = sizes**2 / (sizes**2 + held)
        lever = (left**2 * shrunk).sum(axis=1) + 1.0 / len(given)
        free = np.maximum(1.0 - lever, 1e-9)[:, None]
        rest = (wanted - left @ (shrunk[:, None] * turned)) / free
        if (error := float((rest**2).sum())) < least:
            least = error
            best = right.T @ ((sizes / (sizes**2 + held))[:, None] * turned)
    return best
