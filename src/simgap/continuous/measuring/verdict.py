"""The verdict of a transfer: losses as a share of what a baseline loses.

The worst normalized loss has the same denominator as the mean (`normalized`), so that
it is never below it.

*A useful reference* is better than the baseline, beyond its interval, on average and at
points that are more than half of nu. Against another one there is no verdict.

*Sim-to-real drop*, without a reference: 1 - (return above the baseline) / (the same at
the nominal parameters). A policy that is no better than the baseline there has no drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.gaps import gap_at_points, losses
from simgap.continuous.measuring.means import Level, mean_at, mean_over
from simgap.continuous.measuring.normalized import (
    Baseline,
    Stake,
    baseline_return,
    fieller,
    grouped,
    over_mean,
    ratio,
    stake_of,
)
from simgap.continuous.measuring.value import FIXED, MeasuredValue, measured_return
from simgap.continuous.measuring.worst import loss_region, worst_gap, worst_point
from simgap.intervals import Estimate
from simgap.records.transfer import LossRegion, TransferVerdict, VerdictCode, WorstPoint
from simgap.statistics import estimated_rate
from simgap.text import (
    at_least,
    at_most,
    listed,
    number,
    percent,
    percent_at_least,
    shown,
)

TOLERANCE = 0.1  # a normalized loss that matters
MOST = 0.5  # of nu: a reference must be better than the baseline at more
WHOLE = 1.0 - 1e-9  # of nu
NOTHING_TO_COMPARE = "name a policy to compare with: --reference R"


class Judgement(NamedTuple):
    """The verdict on a policy, and where it loses more than matters."""

    verdict: TransferVerdict | None  # None: it is a reference
    region: LossRegion | None


def verdict_on(
    cube: Cube,
    policy: str,
    points: DrawnPoints,
    level: Level,
    *,
    baseline: Baseline | None = None,
    threshold: float | None = None,
    success: Estimate | None = None,
) -> Judgement:
    """Return the verdict on a policy.

    What matters is a tenth of what the baseline loses, or `threshold`, in units of
    reward.
    """
    if policy in cube.references:
        return Judgement(None, None)
    about = TransferVerdict(
        code="no-baseline",
        text="",
        normalized_loss=None,
        worst_normalized_loss=None,
        drop=None,
        worst_drop=None,
        tolerance=None,
        acceptable=None,
        success=success,
        reference=", ".join(cube.references) or None,
        baseline=None if baseline is None else baseline.name,
        compared=0.0,
    )
    if cube.references:
        return _against_references(
            cube, policy, points, level, about, baseline, threshold
        )
    return Judgement(
        _against_nominal(cube, policy, points, level, about, baseline), None
    )


def overall(verdicts: Sequence[tuple[str, TransferVerdict]]) -> TransferVerdict | None:
    """Return the verdict on the first policy, which says that of the others too."""
    if not verdicts:
        return None
    first = verdicts[0][1]
    others = [f"{shown(name, 40)} ({each.code})" for name, each in verdicts[1:]]
    if not others:
        return first
    return replace(first, text=f"{first.text} Others: {listed(others)}.")


def _against_references(
    cube: Cube,
    policy: str,
    points: DrawnPoints,
    level: Level,
    about: TransferVerdict,
    baseline: Baseline | None,
    threshold: float | None,
) -> Judgement:
    lost = losses(cube, policy, points)
    assert lost is not None  # there are references
    found = None if baseline is None else stake_of(cube, policy, points, baseline)
    compared = cube.inside & lost.there if found is None else found.compared
    share = float(points.shares(cube.inside)[compared[cube.inside]].sum())
    about = replace(about, compared=min(1.0, share))
    against, name = _reference_words(cube), shown(policy, 40)
    if not compared.any():
        text = f"{name} and {against} were measured at no point in common."
        return Judgement(replace(about, code="partly-compared", text=text), None)
    worst = worst_gap(lost, cube, compared, level)
    mean = mean_over(lost.chosen_on_others(), compared, level)
    stake, limit = None, threshold
    if found is not None:
        stake = mean_over(found.stake, compared, level)
        about = _normalized(about, found, stake, worst, level)
        limit = limit or (TOLERANCE * stake.estimate if stake.lower > 0.0 else None)
        if stake.lower > 0.0 and limit is not None:
            about = replace(about, tolerance=limit / stake.estimate)
    region = None if limit is None else _region(cube, policy, points, level, limit)
    if region is not None:
        about = replace(about, acceptable=_acceptable(region, cube, points, level))
    measure = f"{name} loses {_with_ends(mean, 4)} on average against {against}"
    if about.normalized_loss is not None:
        measure += (
            f", {_with_ends(about.normalized_loss, 2)} of what "
            f"{shown(about.baseline or '', 40)} loses"
        )
    if share < WHOLE:
        text = f"On the compared part, {percent(share)} of the range: {measure}."
        return Judgement(replace(about, code="partly-compared", text=text), region)
    if stake is None:
        text = (
            f"{measure}. What that is worth is not known without a baseline: name a "
            "policy that stands for knowing nothing, --baseline P."
        )
        return Judgement(replace(about, text=text), region)
    assert found is not None
    better = _better(found, cube, points, level)
    trivial = limit is not None and stake.lower <= limit  # anything would do
    if about.normalized_loss is None or trivial or better <= MOST:
        than = shown(about.baseline or "", 40)
        why = f"on average it gets {_with_ends(stake, 4)} more than {than}, and surely "
        why += f"more at {percent(better)} of the range"
        if cube.references == (about.baseline,):
            why = "it is the baseline itself"
        elif trivial:
            why = f"{than} itself may lose less than {number(limit, 4)}, which matters"
        text = (
            f"{against} is not known to be a useful reference: {why}. Train one that "
            "knows the parameters (simgap train --informed), look at returns and "
            "success, or run more episodes if the interval is wide."
        )
        return Judgement(replace(about, code="no-useful-reference", text=text), region)
    assert region is not None and about.tolerance is not None
    code = _code(about, region, about.normalized_loss)
    text = f"{measure}. {_conclusion(code, region, worst, threshold is not None)}"
    text += _guarantee(code, mean, region.threshold)
    return Judgement(replace(about, code=code, text=text), region)


def _code(about: TransferVerdict, region: LossRegion, loss: Estimate) -> VerdictCode:
    """Return what intervals say of losses that matter."""
    limit, worst = about.tolerance or 0.0, about.worst_normalized_loss
    if loss.lower > limit:
        return "fails"
    if region.certain > 0.0 or (worst is not None and worst.lower > limit):
        return "fails-in-places"
    if region.possible == 0.0:
        return "transfers"
    if loss.upper > limit:
        return "undecided"
    if worst is not None and worst.estimate > limit:
        return "on-average-only"
    return "transfers-on-average"


def _conclusion(
    code: VerdictCode, region: LossRegion, worst: WorstPoint, declared: bool
) -> str:
    limit = number(region.threshold, 4)
    limit += "" if declared else f" ({percent(TOLERANCE)} of that)"
    where = ", ".join(f"{k}={number(v, 3)}" for k, v in worst.theta.items())
    most = f"{_with_ends(worst.number, 4)} at {where or 'the only point'}"
    if code == "fails":
        return f"That is more than {limit} would be; most is lost, {most}."
    if code == "fails-in-places":
        if region.certain > 0.0:
            share = percent_at_least(region.certain)
            return f"It loses more than {limit} at {share} of the points or more."
        return f"It loses more than {limit} at its worst point: {most}."
    if code == "transfers":
        return f"At no measured point does it lose more than {limit}."
    if code == "transfers-on-average":
        return f"That is less than {limit}; single points may lose more."
    if code == "on-average-only":
        return f"That is less than {limit}, but it seems to lose {most}."
    return f"Whether it loses more than {limit} is not known: more episodes decide."


def _guarantee(code: VerdictCode, loss: Estimate, limit: float) -> str:
    """Return that the guaranteed interval leaves open what the other one decides."""
    sure = loss.guaranteed
    if sure is None or code not in {"fails", "transfers-on-average", "on-average-only"}:
        return ""
    if sure.lower > limit if code == "fails" else sure.upper <= limit:
        return ""
    low, high = at_least(sure.lower), at_most(sure.upper)
    return f" The guaranteed interval, {low} to {high}, leaves that open."


def _against_nominal(
    cube: Cube,
    policy: str,
    points: DrawnPoints,
    level: Level,
    about: TransferVerdict,
    baseline: Baseline | None,
) -> TransferVerdict:
    """Return what part of its nominal return above the baseline a policy keeps."""
    name = shown(policy, 40)
    least = None if baseline is None else baseline_return(cube, points, baseline)
    more = None if baseline is None else _nominal_gain(policy, baseline)
    if baseline is None or least is None or more is None:
        text = (
            f"{name} is compared with nothing, and its return at the nominal "
            f"parameters is not known: {NOTHING_TO_COMPARE}."
        )
        return replace(about, code="no-nominal", text=text)
    nominal = mean_at(more, 0, level)
    returns = replace(measured_return(cube, policy, points), bounds=None)
    gain = grouped(returns, least.values.shape[1]) - least
    chosen = cube.inside & (gain.counts > 0)
    about = replace(
        about,
        compared=float(points.shares(cube.inside)[chosen[cube.inside]].sum()),
        tolerance=TOLERANCE,
    )
    than = shown(baseline.name, 40)
    mean = fieller(mean_over(gain, chosen, level), nominal)
    if mean is None:
        text = (
            f"At the nominal parameters {name} gets {_with_ends(nominal, 4)} more than "
            f"{than}: there is nothing that it could keep. To know what could be had, "
            f"{NOTHING_TO_COMPARE}."
        )
        return replace(about, code="nominal-no-better", text=text)
    worst = worst_point(gain, replace(cube, inside=chosen), level)
    least_kept = over_mean(worst.number, nominal)
    drop = mean.changed(-1.0, 1.0)
    most = _no_less(least_kept.changed(-1.0, 1.0), drop)
    code: VerdictCode = "no-drop-seen" if drop.upper <= TOLERANCE else "undecided"
    if drop.lower > TOLERANCE:
        code = "drops"
    elif most.lower > TOLERANCE:
        code = "drops-in-places"
    where = ", ".join(f"{k}={number(v, 3)}" for k, v in worst.theta.items())
    text = (
        f"Sim-to-real drop: over the range {name} keeps {_with_ends(mean, 2)} of its "
        f"nominal return above {than}, and {_with_ends(least_kept, 2)} at "
        f"{where or 'the only point'}. What could be had is not known: "
        f"{NOTHING_TO_COMPARE}."
    )
    return replace(about, code=code, text=text, drop=drop, worst_drop=most)


def _nominal_gain(policy: str, baseline: Baseline) -> MeasuredValue | None:
    """Return what a policy gets more than the baseline at the nominal parameters."""
    if baseline.nominal is None:
        return None
    mine, least = (
        replace(measured_return(baseline.nominal, each, FIXED), bounds=None)
        for each in (policy, baseline.name)
    )
    gain = mine - least
    return gain if gain.counts[0] > 1 else None


def _normalized(
    about: TransferVerdict,
    found: Stake,
    stake: Estimate,
    worst: WorstPoint,
    level: Level,
) -> TransferVerdict:
    """Return the verdict with the losses in units of the stake, where it is above 0."""
    if stake.lower <= 0.0:
        return about
    mean = ratio(found.loss, found.stake, found.compared, level)
    if mean is None:
        return about
    more = found.most + found.gain
    if found.most is not found.loss and (
        high := ratio(found.most, more, found.compared, level)
    ):
        low, up = min(mean.lower, high.lower), max(mean.upper, high.upper)
        mean = replace(mean, lower=low, upper=up)
    most = _no_less(over_mean(worst.number, stake), mean)
    return replace(about, normalized_loss=mean, worst_normalized_loss=most)


def _region(
    cube: Cube, policy: str, points: DrawnPoints, level: Level, threshold: float
) -> LossRegion | None:
    """Return where the policy loses more than a threshold; None without a reference.

    Intervals of all points hold at once.
    """
    lost = losses(cube, policy, points)
    if lost is None:
        return None
    where = np.flatnonzero(cube.inside)
    gaps = gap_at_points(lost, level, where.size)
    found = [None if (gap := gaps[t]) is None else gap[0] for t in where]
    return loss_region(
        found,
        cube.theta[where],
        cube.parameters,
        points.shares(cube.inside),
        threshold,
        level.confidence,
    )


def _acceptable(
    region: LossRegion, cube: Cube, points: DrawnPoints, level: Level
) -> Estimate:
    """Return at what share of nu no more than the threshold is lost."""
    low, high = 1.0 - region.possible, 1.0 - region.certain
    how = "from intervals at all measured points at once"
    if points.sampled:  # other points could have been met
        count = int(cube.inside.sum())
        ends = [
            estimated_rate(round(end * count), count, level.share())
            for end in (low, high)
        ]
        low, high = ends[0].lower, ends[1].upper
        how += ", and of the rate over points"
    middle = 1.0 - (region.certain + region.possible) / 2.0
    return Estimate(middle, min(low, middle), max(high, middle), level.confidence, how)


def _better(found: Stake, cube: Cube, points: DrawnPoints, level: Level) -> float:
    """Return at what share of nu the reference is better, beyond its interval."""
    stake = found.stake.of_these_trainings()
    shares = points.shares(cube.inside)
    where = np.flatnonzero(cube.inside)
    sure = [
        found.compared[t] and mean_at(stake, int(t), level).lower > 0.0 for t in where
    ]
    return float(shares[np.array(sure)].sum())


def _no_less(worst: Estimate, mean: Estimate) -> Estimate:
    """Return the worst number, never below the mean."""
    return replace(
        worst,
        estimate=max(worst.estimate, mean.estimate),
        lower=max(worst.lower, mean.lower),
        upper=max(worst.upper, mean.upper),
    )


def _with_ends(found: Estimate, digits: int) -> str:
    low, high = at_least(found.lower, digits), at_most(found.upper, digits)
    return f"{number(found.estimate, digits)} [{low}, {high}]"


def _reference_words(cube: Cube) -> str:
    return listed([shown(each, 40) for each in cube.references])
