"""The mean of sampled numbers with both of its intervals.

*The interval*: Student's t, of strata with the degrees of freedom of Satterthwaite
(1946). It holds for laws whose rare events are like those that were sampled. Where few
of the samples carry all the deviation, or none differs at all, it cannot know, and says
so by a warning; `guaranteed` knows.

*Guaranteed*: by betting, for every law in the known range (`betting`). Its width is at
least about 5 ranges divided by the number of samples, even if all samples are equal.
Numbers without a known range (low = -inf, high = inf) have none.

Samples come in parts (strata) with weights: the answer is the weighted mean. Both
intervals are cut at what is certain about the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate, Guaranteed
from simgap.statistics.betting import Score, betting_interval, mixture_interval

FEW_CARRY = 15.0  # samples, in effect, that carry the deviation: fewer say little
NOISE = 1e-13  # of the range: differences that are rounding
RARE, ALIKE = "rare-events", "all-alike"  # warnings


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


def estimated_mean(
    parts: Sequence[Part],
    confidence: float,
    *,
    method: str = "",
    least: float = -inf,
    greatest: float = inf,
    rounding: float = 0.0,
    scores: Sequence[Sequence[Part]] = (),
    stopped: bool = False,
) -> Estimate:
    """Return the weighted mean of parts with its intervals.

    `least` and `greatest` are certain about the mean. `scores` are other numbers of the
    same samples with the same mean, to bet on instead: those of the parts may then have
    been combined with hindsight. `stopped`: what was met decided how many samples were
    drawn.
    """
    parts = [part for part in parts if part.weight > 0.0]
    _check(parts, confidence, stopped=stopped)
    mean = sum(part.weight * float(part.values.mean()) for part in parts)
    sure = None
    if all(isfinite(part.high - part.low) for part in parts):
        low, high = _guaranteed(scores or [parts], confidence, stopped=stopped)
        sure = Guaranteed(low - rounding, high + rounding)
    error, reach = _reach(parts, confidence)
    short = sum(
        part.weight * float(part.short.mean())
        for part in parts
        if part.short is not None
    )
    ends = (mean - reach - rounding, mean + reach + rounding + short)
    if not isfinite(reach):  # a single sample
        assert sure is not None
        ends = min(mean, sure.lower), max(mean, sure.upper)
    count = sum(part.values.size for part in parts)
    how = "t interval" if isfinite(reach) else "betting"
    return Estimate(
        estimate=mean,
        lower=ends[0],
        upper=ends[1],
        confidence=confidence,
        method=", ".join(filter(None, (how, f"{count} episodes", method))),
        standard_error=error,
        guaranteed=sure,
        warning=rare_events(parts, rounding),
    ).within(least, greatest)


def _reach(parts: Sequence[Part], confidence: float) -> tuple[float, float]:
    """Return the standard error, and how far the interval reaches; inf: not known."""
    from scipy.special import stdtrit

    errors = []  # of each part
    for part in parts:
        n, wide = part.values.size, part.high - part.low
        errors.append(
            part.weight * (_deviation(part.values) if n > 1 else wide) / sqrt(n)
        )
    error = hypot(*errors)
    if error == 0.0:
        return 0.0, 0.0
    freedom = sum(
        (each / error) ** 4 / (part.values.size - 1) if part.values.size > 1 else inf
        for each, part in zip(errors, parts, strict=True)
        if each > 0.0
    )
    if not isfinite(freedom):
        return error, inf
    return error, float(stdtrit(1.0 / freedom, 0.5 + confidence / 2.0)) * error


def _deviation(values: FloatArray) -> float:
    """Return the standard deviation of samples, also where no square is a float."""
    apart = values - values.mean()
    most = float(np.abs(apart).max())
    return most * float((apart / most).std(ddof=1)) if most > 0.0 else 0.0


def guaranteed_mean(parts: Sequence[Part], confidence: float) -> Guaranteed:
    """Return ends of the weighted mean of bounded parts that hold by theorem."""
    return Guaranteed(*_guaranteed([parts], confidence, stopped=False))


def rare_events(parts: Sequence[Part], rounding: float = 0.0) -> str | None:
    """Return what the interval cannot know: events that were seldom sampled, or never.

    Deviations are from the median of each part; so many samples carry them, in effect,
    as equal ones would have the same sum of squares beside the square of the sum.
    """
    apart = []
    for part in parts:
        wide = part.high - part.low
        known = wide if isfinite(wide) else float(np.abs(part.values).max())
        moved = np.abs(part.values - np.median(part.values))
        noise = rounding + NOISE * known
        share = part.weight / part.values.size
        apart.append(share * np.where(moved <= noise, 0.0, moved))
    every = np.concatenate(apart)
    most = float(every.max())
    if most == 0.0:
        drawn = any(part.high > part.low and part.values.size > 1 for part in parts)
        return ALIKE if drawn else None
    shares = every / most
    carry = float(shares.sum()) ** 2 / float((shares**2).sum())
    return RARE if carry < min(FEW_CARRY, every.size / 4.0) else None


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
