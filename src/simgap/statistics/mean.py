"""The mean of sampled numbers with its interval: guaranteed or approximate.

*Guaranteed*: by betting, for every law in the known range (`betting`). Its width is at
least about 5 ranges divided by the number of samples, even if all samples are equal.

*Approximate*: a t interval, widened on both sides for events that were not sampled. n
samples miss an event of probability log(2 / (1 - confidence)) / n with the probability
that one end may fail. Such an event is taken to change a sample by a little more than
twice the greatest distance of a sample from the median, by far more if few samples
differ, and by anything in the known range if none does. So the interval holds for
numbers that are mostly equal, and for those whose tails were sampled. It cannot hold
for numbers that vary a little and hide a rare event far away from all samples.

Which of them: the guaranteed interval where it is affordable, that is at most WIDER
times as wide as the approximate one, or no wider than a PART of the estimate; or where
it is asked for, as `simgap run` and `simgap gap` do for fewer than THIN runs, which
show too little of a law to say what was not met. Both are cut at what is certain about
the mean. Numbers without a known range (low = -inf, high = inf) have the approximate
one; if they are all equal it has no width, and an event that was not met is taken to be
at most three times as far as the farthest that was.

Samples come in parts (strata) with weights: the answer is the weighted mean. Room is
left for one event, in the part where it matters most; what was met in a part tells of
that part only, but parts of fewer than THIN samples are taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, log, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.statistics.betting import Score, betting_interval, mixture_interval

WIDER = 2.0  # times the approximate interval: affordable
PART = 0.1  # of the estimate: a width that is affordable, too
THIN = 30.0  # samples below which the largest deviation means little
MOST_TIMES = 3.0  # the greatest distance met, where no range ends it
NOISE = 1e-13  # of the range: differences that are rounding


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Independent numbers in a known range, and their weight in the answer."""

    values: FloatArray  # (n,)
    low: float
    high: float
    weight: float = 1.0
    one_law: bool = True  # False: of several laws, whose means average to the answer
    short: FloatArray | None = None  # (n,), what the numbers may be too small by
    unexplained: FloatArray | None = None  # (n,), less what is known of it


def estimated_mean(
    parts: Sequence[Part],
    confidence: float,
    *,
    method: str = "",
    least: float = -inf,
    greatest: float = inf,
    rounding: float = 0.0,
    scores: Sequence[Sequence[Part]] = (),
    guaranteed: bool = False,
    stopped: bool = False,
) -> Estimate:
    """Return the weighted mean of parts with its interval.

    `least` and `greatest` are certain about the mean. `scores` are other numbers of the
    same samples with the same mean, to bet on instead: those of the parts may then have
    been combined with hindsight. `stopped`: what was met decided how many samples were
    drawn.
    """
    parts = [part for part in parts if part.weight > 0.0]
    _check(parts, confidence, stopped=stopped)
    mean, error, below, above = _approximate(parts, confidence, rounding)
    low, high = -inf, inf
    if bounded := all(isfinite(part.high - part.low) for part in parts):
        low, high = _guaranteed(scores or [parts], confidence, stopped=stopped)
        low, high = low - rounding, high + rounding
    room = (min(greatest, mean + above) - max(least, mean - below)) * WIDER
    wide = min(greatest, high) - max(least, low)
    count = sum(part.values.size for part in parts)
    sure = bounded and (guaranteed or wide <= max(room, PART * abs(mean)))
    if not sure:
        low, high = mean - below, mean + above
    how = "betting" if sure else "t interval with room for unseen events"
    found = Estimate(
        estimate=min(max(mean, low), high),
        lower=low,
        upper=high,
        confidence=confidence,
        method=", ".join(filter(None, (how, f"{count} episodes", method))),
        standard_error=error,
        label="guaranteed" if sure else "approximate",
    )
    return found.within(least, greatest)


def _approximate(
    parts: Sequence[Part], confidence: float, rounding: float
) -> tuple[float, float, float, float]:
    """Return mean, standard error, and how far the interval reaches on both sides."""
    from scipy.special import stdtrit

    mean = short = 0.0
    errors = []  # of each part
    for part in parts:
        n, values, wide = part.values.size, part.values, part.high - part.low
        mean += part.weight * float(values.mean())
        errors.append(part.weight * (_deviation(values) if n > 1 else wide) / sqrt(n))
        if part.short is not None:
            short += part.weight * float(part.short.mean())
    half, error = rounding, hypot(*errors)
    if error > 0.0:
        freedom = sum(
            (each / error) ** 4 / max(1, part.values.size - 1)
            for each, part in zip(errors, parts, strict=True)
        )
        half += float(stdtrit(1.0 / freedom, 0.5 + confidence / 2.0)) * error
    many = [[part] for part in parts if part.values.size >= THIN]
    few = [part for part in parts if part.values.size < THIN]
    rooms = [_unseen(group, rounding) for group in (*many, few) if group]
    down, up = (max(side) for side in zip(*rooms, strict=True))
    missed = log(2.0 / (1.0 - confidence))  # samples
    return mean, error, half + missed * down, half + missed * up + short


def _deviation(values: FloatArray) -> float:
    """Return the standard deviation of samples, also where no square is a float."""
    apart = values - values.mean()
    most = float(np.abs(apart).max())
    return most * float((apart / most).std(ddof=1)) if most > 0.0 else 0.0


def _unseen(parts: Sequence[Part], rounding: float) -> tuple[float, float]:
    """Return how far down and up a sample that was not met may move the answer."""
    down = up = 0.0
    apart = []  # what each sample moves it by, against the median of its part
    for part in parts:
        share, middle = part.weight / part.values.size, float(part.values.mean())
        down = max(down, share * (middle - part.low))
        up = max(up, share * (part.high - middle))
        free = part.values if part.unexplained is None else part.unexplained
        moved = np.abs(free - np.median(free))
        wide = part.high - part.low
        known = wide if isfinite(wide) else float(np.abs(free).max())
        noise = rounding + NOISE * known
        apart.append(share * np.where(moved <= noise, 0.0, moved))
    every = np.concatenate(apart)
    most = float(every.max())
    if most == 0.0:
        return (down, up) if isfinite(down + up) else (0.0, 0.0)
    shares = every / most
    differing = float(shares.sum()) ** 2 / float((shares**2).sum())
    few = min(THIN, every.size / 2.0)
    times = 2.0 + (few / differing) ** 3
    if not isfinite(down + up):
        times = min(times, MOST_TIMES)
    met = most * times
    return min(down, met), min(up, met)


def _guaranteed(
    scores: Sequence[Sequence[Part]], confidence: float, *, stopped: bool
) -> tuple[float, float]:
    """Return the ends by betting, on one law or on a mixture of strata."""
    first = scores[0]
    if len(first) == 1 and first[0].one_law:
        return betting_interval(
            [_score([part]) for (part,) in scores], confidence, stopped=stopped
        )
    if not stopped:
        return mixture_interval([_score(parts) for parts in scores], confidence)
    share = 1.0 - (1.0 - confidence) / len(first)  # so that all parts hold at once
    ends = [
        _guaranteed(
            [[replace(part, weight=1.0)] for part in of_part], share, stopped=True
        )
        for of_part in zip(*scores, strict=True)
    ]
    weights = [part.weight for part in first]
    low, high = (
        sum(w * end for w, end in zip(weights, side, strict=True))
        for side in zip(*ends, strict=True)
    )
    return low, high


def _score(parts: Sequence[Part]) -> Score:
    """Return numbers whose plain mean is the weighted one; all are in one range."""
    whole = sum(part.values.size for part in parts)
    factors = [part.weight * whole / part.values.size for part in parts]
    short = None
    if any(part.short is not None for part in parts):
        short = np.concatenate(
            [
                factor
                * (np.zeros(part.values.size) if part.short is None else part.short)
                for factor, part in zip(factors, parts, strict=True)
            ]
        )
    return Score(
        values=np.concatenate(
            [f * part.values for f, part in zip(factors, parts, strict=True)]
        ),
        low=min(f * part.low for f, part in zip(factors, parts, strict=True)),
        high=max(f * part.high for f, part in zip(factors, parts, strict=True)),
        short=short,
    )


def _check(parts: Sequence[Part], confidence: float, *, stopped: bool) -> None:
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence!r}", hint="it is between 0 and 1"
        )
    if not parts or min(part.values.size for part in parts) < 1:
        raise InvalidArgument("no samples", hint="an interval needs one or more")
    if any(p.values.size < 2 and not isfinite(p.high - p.low) for p in parts):
        raise InvalidArgument(
            "one sample, and no range that it lies in",
            hint="an interval needs two samples, or bounds",
        )
    if stopped and not all(part.one_law for part in parts):
        raise InvalidArgument(
            "samples of several laws, of a number that was decided on the way",
            hint="fix the number of samples beforehand",
        )
