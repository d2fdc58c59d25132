"""The mean of sampled episodes with the least variance, and an interval for it.

Every episode gives two unbiased numbers for the same gap: raw, V* minus its return, and
the sum of its losses. The second has far less variance when the policy is near the best
one, and about the same when the randomness of exploration dominates. Their difference
has mean zero, so (1 - c) raw + c losses is unbiased for every c that does not depend on
the episode: c is the regression coefficient of the *other* half of the episodes. Of
this mixture, the losses and the returns, the one that varies least is taken, so that
the answer is never worse than returns alone.

The intervals are those of `statistics.mean`: Student's t of the combination, and one
that bets on returns or losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.intervals import Estimate
from simgap.statistics import Part, estimated_mean

FEW = 20  # episodes below which no coefficient is estimated
Range = tuple[float, float]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Episodes of one policy in one model."""

    raw: FloatArray  # (n,), V* - return
    losses: FloatArray  # (n,)
    raw_range: Range  # no episode is outside
    loss_range: Range
    least: float  # the mean cannot be less (0 for a gap)
    greatest: float  # nor more
    rounding: float  # what floating point may misstate
    stopped: bool = False  # what was met decided how many episodes were run


@final
@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """One number per episode, unbiased, with the least variance found."""

    values: FloatArray  # (n,)
    coefficient: float  # of the losses; 1 - coefficient is that of raw returns
    variance_ratio: float  # of raw returns over this
    low: float  # no number is less
    high: float  # nor more


def combined(sample: Sample) -> Combined:
    """Return (1 - c) raw + c losses, c from the other half of the episodes."""
    raw, losses = sample.raw, sample.losses
    choices: list[tuple[FloatArray, tuple[float, ...]]] = [(losses, (1.0,))]
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
        choices += [(mixed, (of_first, of_second)), (raw, (0.0,))]
    values, used = min(choices, key=lambda choice: float(choice[0].var()))
    noise, left = float(raw.var(ddof=1)), float(values.var(ddof=1))
    ratio = noise / left if left > 0.0 else (1.0 if noise == 0.0 else float("inf"))
    ends = [
        (1.0 - c) * returned + c * lost
        for c in used
        for returned in sample.raw_range
        for lost in sample.loss_range
    ]
    return Combined(values, sum(used) / len(used), ratio, min(ends), max(ends))


def interval(
    samples: Sequence[Sample],
    confidence: float,
    *,
    weights: Sequence[float] = (1.0,),
) -> Estimate:
    """Return the weighted mean over models, with its interval.

    Episodes of different models are independent.
    """
    both = [
        (each, weight)
        for each, weight in zip(samples, weights, strict=True)
        if weight > 0.0
    ]
    best = [combined(each) for each, _ in both]
    used = sum(w * one.coefficient for one, (_, w) in zip(best, both, strict=True))
    return estimated_mean(
        [
            Part(one.values, one.low, one.high, weight)
            for one, (_, weight) in zip(best, both, strict=True)
        ],
        confidence,
        method=f"losses weighted {used / sum(w for _, w in both):.3g} against returns",
        least=sum(weight * each.least for each, weight in both),
        greatest=sum(weight * each.greatest for each, weight in both),
        rounding=sum(weight * each.rounding for each, weight in both),
        scores=(
            [Part(each.losses, *each.loss_range, weight) for each, weight in both],
            [Part(each.raw, *each.raw_range, weight) for each, weight in both],
        ),
        stopped=any(each.stopped for each, _ in both),
    )


def _coefficient(raw: FloatArray, losses: FloatArray) -> float:
    """Return the c that minimises the variance of raw + c (losses - raw)."""
    change = losses - raw
    spread = float(change.var())
    if spread == 0.0:
        return 1.0
    shared = float(np.mean((raw - raw.mean()) * (change - change.mean())))
    return -shared / spread
