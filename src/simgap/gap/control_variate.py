"""The mean of sampled episodes with the least variance, and an interval for it.

Every episode gives two unbiased numbers for the same gap: raw, V* minus its return, and
the sum of its losses. The second has far less variance when the policy is near the best
one, and about the same when luck in exploration dominates. Their difference has mean
zero, so (1 - c) raw + c losses is unbiased for every c that does not depend on the
episode: c is the regression coefficient of the *other* half of the episodes. Of this
mixture, the losses and the returns, the one that varies least is taken, so that the
answer is never worse than returns alone.

The interval. Its base is a t interval. What was not sampled may matter: n episodes miss
an event of probability log(2 / (1 - confidence)) / n with the chance that one end may
fail, so that many episodes that lose twice the most that was met, or what an episode
can lose at all if hardly any differ, are added at the upper end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.statistics import Estimate

FEW = 20  # episodes below which no coefficient is estimated
NOISE = 1e-13  # of what can be lost: differences that are rounding
THIN = 30.0  # contributing episodes below which the largest loss met means little


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Episodes of one policy in one model."""

    raw: FloatArray  # (n,), V* - return
    losses: FloatArray  # (n,)
    least: float  # the quantity cannot be less (0 for a gap)
    greatest: float  # nor more
    most: float  # an episode cannot lose more, in expectation given what it met
    rounding: float  # what floating point may misstate


@final
@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """One number per episode, unbiased, with the least variance found."""

    values: FloatArray  # (n,)
    coefficient: float  # of the losses; 1 - coefficient is that of raw returns
    variance_ratio: float  # of raw returns over this


def combined(sample: Sample) -> Combined:
    """Return (1 - c) raw + c losses, c from the other half of the episodes."""
    raw, losses = sample.raw, sample.losses
    values, used = losses, 1.0
    if raw.size >= FEW:
        half = raw.size // 2
        first, second = slice(0, half), slice(half, None)
        of_first = _coefficient(raw[second], losses[second])
        of_second = _coefficient(raw[first], losses[first])
        mixed = np.concatenate(
            [
                raw[first] + of_first * (losses[first] - raw[first]),
                raw[second] + of_second * (losses[second] - raw[second]),
            ]
        )
        choices = ((losses, 1.0), (mixed, 0.5 * (of_first + of_second)), (raw, 0.0))
        values, used = min(choices, key=lambda choice: float(choice[0].var()))
    noise, left = float(raw.var(ddof=1)), float(values.var(ddof=1))
    ratio = noise / left if left > 0.0 else (1.0 if noise == 0.0 else float("inf"))
    return Combined(values, used, ratio)


def interval(sample: Sample, confidence: float) -> Estimate:
    """Return the mean with an interval that holds the truth at `confidence`."""
    from scipy.special import stdtrit

    best = combined(sample)
    values, n = best.values, best.values.size
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    error = spread / sqrt(n)
    half = float(stdtrit(n - 1, 0.5 + confidence / 2.0)) * error
    apart = np.abs(values - np.median(values))
    apart[apart <= sample.rounding + NOISE * sample.most] = 0.0
    total = float((apart**2).sum())
    contributing = float(apart.sum()) ** 2 / total if total > 0.0 else 0.0
    unseen = sample.most
    if contributing > 0.0:
        met = float(apart.max()) * (2.0 + THIN / contributing)
        unseen = min(unseen, met)
    room = log(2.0 / (1.0 - confidence)) / n * unseen
    lower = min(mean, max(sample.least, mean - half - sample.rounding))
    return Estimate(
        estimate=mean,
        lower=lower,
        upper=max(mean, min(mean + half + room + sample.rounding, sample.greatest)),
        confidence=confidence,
        method=f"t interval with room for unseen losses, {n} episodes, losses "
        f"weighted {best.coefficient:.3g} against returns",
        standard_error=error,
    )


def _coefficient(raw: FloatArray, losses: FloatArray) -> float:
    """Return the c that minimises the variance of raw + c (losses - raw)."""
    change = losses - raw
    spread = float(change.var())
    if spread == 0.0:
        return 1.0
    shared = float(np.mean((raw - raw.mean()) * (change - change.mean())))
    return -shared / spread
