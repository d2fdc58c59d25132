"""Every number of the record of `simgap transfer`, from the returns alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import DrawnPoints
from simgap.continuous.measuring.gaps import gap_at_points, losses, mean_gap
from simgap.continuous.measuring.maps import fit
from simgap.continuous.measuring.means import Level, mean_at, mean_over
from simgap.continuous.measuring.normalized import Baseline
from simgap.continuous.measuring.notes import notes_on
from simgap.continuous.measuring.stopping import Open, undecided
from simgap.continuous.measuring.value import (
    MeasuredValue,
    measured_return,
    measured_success,
)
from simgap.continuous.measuring.verdict import overall, verdict_on
from simgap.continuous.measuring.worst import theta_at, worst_gap, worst_point
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.records.note import Note
from simgap.records.transfer import (
    LossMap,
    TransferPoint,
    TransferPolicy,
    TransferVerdict,
    VarianceShare,
)
from simgap.text import number


class Graded(NamedTuple):
    """What the returns say: verdict, policies, parameters, pairs, maps, and remarks."""

    verdict: TransferVerdict | None
    policies: tuple[TransferPolicy, ...]
    parameters: tuple[VarianceShare, ...]
    pairs: tuple[VarianceShare, ...]
    maps: tuple[LossMap, ...]
    notes: tuple[Note, ...]


def graded(
    cube: Cube,
    points: DrawnPoints,
    *,
    confidence: float = 0.95,
    look: int = 0,
    threshold: float | None = None,
    baseline: Baseline | None = None,
    pace: float | None = None,
) -> Graded:
    """Return every number of a transfer.

    `look`: what was met decided how many episodes were run, and this is the so-manieth
    time that it was looked at (from 1 on). `threshold` is a loss that matters, in units
    of reward; without one it is a tenth of what the baseline loses. `pace`, seconds of
    an episode, goes into words alone.
    """
    if not cube.inside.any():
        raise InvalidArgument(
            "all points are beyond the range", hint="grade some that are inside"
        )
    level = Level(confidence, look)
    policies = tuple(
        _policy(cube, each, points, level, threshold, baseline)
        for each in cube.policies
    )
    mine = [each for each in cube.policies if each not in cube.references]
    fits = [fit(cube, each, points) for each in mine or cube.policies]
    left: tuple[Open, ...] = ()
    if threshold is not None:
        left = undecided(cube, points, threshold, level)
    none: tuple[VarianceShare, ...] = ()
    shares = (none, none) if isinstance(fits[0], Note) else fits[0].shares(confidence)
    return Graded(
        _overall(policies, baseline),
        policies,
        *shares,
        tuple(each.map() for each in fits if not isinstance(each, Note)),
        tuple(notes_on(cube, points, look, policies, fits[0], left, pace)),
    )


def _policy(
    cube: Cube,
    policy: str,
    points: DrawnPoints,
    level: Level,
    threshold: float | None,
    baseline: Baseline | None,
) -> TransferPolicy:
    """Return everything about one policy."""
    inside, beyond = cube.inside, ~cube.inside
    returns = measured_return(cube, policy, points)
    success = measured_success(cube, policy, points)
    if not returns.counts[inside].any():
        raise InvalidArgument(
            f"policy {policy!r} has no return inside the range",
            hint=_first_failure(cube, policy),
            code="no-return",
        )
    lost = losses(cube, policy, points)
    gaps = None if lost is None else gap_at_points(lost, level)
    inside_both = inside if lost is None else inside & lost.there
    succeeds = None if success is None else _over(success, inside, level)
    found = verdict_on(
        cube,
        policy,
        points,
        level,
        baseline=baseline,
        threshold=threshold,
        success=succeeds,
    )
    return TransferPolicy(
        name=policy,
        is_reference=policy in cube.references,
        training_seeds=len(returns.terms[policy]),
        mean=mean_over(returns, inside, level),
        beyond=_over(returns, beyond, level),
        worst=worst_point(returns, cube, level),
        success=succeeds,
        gap=mean_gap(lost, inside_both, level)
        if lost is not None and inside_both.any()
        else None,
        worst_gap=worst_gap(lost, cube, inside_both, level)
        if lost is not None and inside_both.any()
        else None,
        region=found.region,
        verdict=found.verdict,
        broken=sum(each.policy == policy for each in cube.failures),
        points=_points(cube, policy, level, returns, success, gaps),
    )


def _first_failure(cube: Cube, policy: str) -> str:
    """Return why a policy has no return."""
    first = next((each for each in cube.failures if each.policy == policy), None)
    if first is None:
        return "none of its episodes was run there"
    theta = zip(cube.parameters, cube.theta[first.point].tolist(), strict=True)
    at = " ".join(f"{name}={number(value)}" for name, value in theta)
    return (
        f"all of its episodes broke, the first one at {at or 'nominal'}, step "
        f"{first.step}: {first.text[:200]}"
    )


def _overall(
    policies: Sequence[TransferPolicy], baseline: Baseline | None
) -> TransferVerdict | None:
    """Return the verdict on the first policy that is no reference and no baseline."""
    verdicts = [(each.name, each.verdict) for each in policies if each.verdict]
    least = "" if baseline is None else baseline.name
    return overall([each for each in verdicts if each[0] != least] or verdicts)


def _points(
    cube: Cube,
    policy: str,
    level: Level,
    returns: MeasuredValue,
    success: MeasuredValue | None,
    gaps: Sequence[tuple[Estimate, str] | None] | None,
) -> tuple[TransferPoint, ...]:
    """Return each point at which an episode counts."""
    broken = [each.point for each in cube.failures if each.policy == policy]
    successes = None if success is None else success.counts
    found = []
    for point in np.flatnonzero(returns.counts).tolist():
        gap, reference = (gaps[point] if gaps else None) or (None, None)
        rate = successes is not None and successes[point] > 0
        found.append(
            TransferPoint(
                theta=theta_at(cube, point),
                inside=bool(cube.inside[point]),
                episodes=_episodes(cube, policy, point),
                broken=broken.count(point),
                success=mean_at(success, point, level) if success and rate else None,
                gap=gap,
                reference=reference,
                returned=mean_at(returns, point, level),
            )
        )
    return tuple(found)


def _over(value: MeasuredValue, chosen: BoolArray, level: Level) -> Estimate | None:
    some = chosen & (value.counts > 0)
    return mean_over(value, some, level) if some.any() else None


def _episodes(cube: Cube, policy: str, point: int) -> int:
    """Return the episodes at a point that count, over all training seeds."""
    broken = sum(e.policy == policy and e.point == point for e in cube.failures)
    ran: FloatArray = cube.of(policy)[:, point]
    return int(np.isfinite(ran).sum()) + (broken if cube.bounds else 0)
