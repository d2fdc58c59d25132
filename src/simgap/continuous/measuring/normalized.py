"""Losses as a share of what a baseline loses, with intervals of ratios.

*Normalized loss*: mean loss / mean stake, where the stake is what the baseline loses
against the same reference at the same points. Its interval is that of Fieller:
loss - r * stake is a measured value, and the ratios r at which its mean may be 0 are
the interval. The baseline has few episodes: those of the others are put in as many
groups, so that noise which is common cancels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import final

import numpy as np

from simgap.arrays import BoolArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.gaps import losses
from simgap.continuous.measuring.means import Level, mean_over
from simgap.continuous.measuring.value import (
    MeasuredValue,
    mean_of,
    measured_return,
)
from simgap.intervals import Estimate


@final
@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """The policy that stands for knowing nothing, usually random actions."""

    name: str
    returns: Cube | None = None  # at the same points; None: it is one of the policies
    nominal: Cube | None = None  # all policies and it at the nominal parameters


@final
@dataclass(frozen=True, slots=True, eq=False)
class Stake:
    """What a policy loses, and what the baseline loses, at the same episodes."""

    loss: MeasuredValue  # against what looks best on other episodes
    most: MeasuredValue  # against what looks best on all of them
    gain: MeasuredValue  # return of the policy less that of the baseline
    compared: BoolArray  # (T,), inside, and there is an episode of all three

    @property
    def stake(self) -> MeasuredValue:
        """Return what the baseline loses."""
        return self.loss + self.gain


def stake_of(
    cube: Cube, policy: str, points: DrawnPoints, baseline: Baseline
) -> Stake | None:
    """Return what a policy and the baseline lose; None without a reference."""
    lost = losses(cube, policy, points)
    least = baseline_return(cube, points, baseline)
    if lost is None or least is None:
        return None
    groups = least.values.shape[1]
    loss, most, mine = (
        replace(grouped(each, groups), bounds=None)
        for each in (
            lost.chosen_on_others(),
            lost.chosen_on_all(),
            measured_return(cube, policy, points),
        )
    )
    gain = mine - least
    both = (loss + gain).counts > 0
    return Stake(loss, most, gain, cube.inside & both)


def baseline_return(
    cube: Cube, points: DrawnPoints, baseline: Baseline
) -> MeasuredValue | None:
    """Return what the baseline gets; None: it was not measured."""
    if baseline.returns is None:
        if baseline.name not in cube.policies:
            return None
        own = replace(measured_return(cube, baseline.name, points), bounds=None)
        ran = np.flatnonzero(np.isfinite(own.values).any(axis=0))
        return own.of_episodes(np.arange(ran.max(initial=0) + 1))
    found = measured_return(baseline.returns, baseline.name, points)
    (values,) = found.terms.values()
    missing = len(cube.theta) - values.shape[1]  # those beyond the range, at the end
    padded = np.pad(values, ((0, 0), (0, missing), (0, 0)), constant_values=np.nan)
    return replace(found, terms={f"baseline {baseline.name}": padded}, bounds=None)


def ratio(
    part: MeasuredValue,
    whole: MeasuredValue,
    chosen: BoolArray,
    level: Level,
) -> Estimate | None:
    """Return mean(part) / mean(whole); None if the whole may be 0."""
    above, below = (mean_over(each, chosen, level) for each in (part, whole))
    both = mean_over(part - whole, chosen, level)
    squares = [_half(each) ** 2 for each in (above, below, both)]
    common = (squares[0] + squares[1] - squares[2]) / 2.0
    most = sqrt(squares[0] * squares[1])
    return fieller(above, below, min(max(common, -most), most))


def fieller(part: Estimate, whole: Estimate, common: float = 0.0) -> Estimate | None:
    """Return part / whole; None if the whole may be 0.

    `common` is the covariance of both, in squares of half-widths.
    """
    if whole.lower <= 0.0:
        return None
    a, b = part.estimate, whole.estimate
    up, down = _half(part) ** 2, _half(whole) ** 2
    square = b * b - down
    if square <= 0.0:
        return None
    middle = (a * b - common) / square
    inner = middle**2 - (a * a - up) / square
    reach = sqrt(max(0.0, inner))
    value = a / b
    return Estimate(
        value,
        min(value, middle - reach),
        max(value, middle + reach),
        part.confidence,
        method=f"ratio of means, Fieller; {part.method}",
    )


def over_mean(part: Estimate, whole: Estimate) -> Estimate:
    """Return a number at one point over a mean that is known apart from it."""
    value, off = part.estimate / whole.estimate, _half(whole) / whole.estimate
    apart = [
        sqrt((part.estimate - end) ** 2 + (part.estimate * off) ** 2)
        for end in part.ends
    ]
    return Estimate(
        value,
        value - apart[0] / whole.estimate,
        value + apart[1] / whole.estimate,
        part.confidence,
        method=f"ratio, errors of both; {part.method}",
    )


def grouped(value: MeasuredValue, groups: int) -> MeasuredValue:
    """Return means of groups of episodes: the first ones are in groups of their own."""
    episodes = value.values.shape[1]
    if groups >= episodes:
        return value
    others = groups + np.random.default_rng(episodes).permutation(episodes - groups)
    members = [np.append(g, others[g::groups]) for g in range(groups)]
    terms = {
        name: np.stack([mean_of(each[..., some]) for some in members], axis=-1)
        for name, each in value.terms.items()
    }
    return replace(value, terms=terms)


def _half(found: Estimate) -> float:
    return max(found.estimate - found.lower, found.upper - found.estimate)
