"""The worst point without the luck of having been chosen, and where losses are large.

The least of many means is too small: it was chosen for its bad luck, too. So the point
is chosen on every other episode and told from the rest, and its interval is for what
is true *at that point*. With four training seeds or more the seeds are halved as well.
Where there are too few episodes to halve, the point is chosen on all of them and its
interval is one of as many as there are points, which hold at once.

Nothing is said of points in between: a cliff may hide there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.gaps import EVEN, LEAST, ODD, Losses, losses
from simgap.continuous.measuring.means import Level, at_point
from simgap.continuous.measuring.sampled import Sampled, sampled_returns, training_seeds
from simgap.intervals import Estimate
from simgap.records.transfer import LossRegion, WorstPoint

HALVES = "chosen on one half of the episodes, told from the other"


def worst_point(cube: Cube, policy: str, chosen: BoolArray, level: Level) -> WorstPoint:
    """Return the point with the least return among the chosen ones."""
    looks, tells = (sampled_returns(each, policy) for each in halves(cube))
    claims = 1
    if not _enough(looks, tells, chosen):
        looks = tells = sampled_returns(cube, policy)
        claims = int(chosen.sum())
    return _told(cube, _least(looks.means, chosen), tells, level, claims)


def worst_gap(
    cube: Cube, policy: str, chosen: BoolArray, level: Level
) -> WorstPoint | None:
    """Return the point with the greatest loss against a reference that is told too."""
    choosing, telling = (losses(each, policy) for each in halves(cube))
    whole = losses(cube, policy)
    if choosing is None or telling is None or whole is None:
        return None
    if _enough(choosing.chosen_on_all(), telling.chosen_on_all(), chosen):
        point, best = _greatest(choosing, telling, chosen)
        if _tells(telling.against[best], point):
            return _told(cube, point, telling.against[best], level, 1)
    point, best = _greatest(whole, whole, chosen)
    claims = int(chosen.sum()) * len(whole.names)
    return _told(cube, point, whole.against[best], level, claims)


def halves(cube: Cube) -> tuple[Cube, Cube]:
    """Return every other episode, and the rest; of training seeds too, if many."""
    few = min(training_seeds(cube, each) for each in cube.policies) < 4
    seeds = (slice(None), slice(None)) if few else (EVEN, ODD)
    return _part(cube, seeds[0], EVEN), _part(cube, seeds[1], ODD)


def loss_region(
    intervals: Sequence[Estimate | None],
    theta: FloatArray,
    names: Sequence[str],
    weights: FloatArray,
    threshold: float,
    confidence: float,
) -> LossRegion:
    """Return where a loss exceeds a threshold, from intervals that hold at once.

    Where nothing was measured it may exceed it.
    """
    lower = np.array([-np.inf if e is None else e.lower for e in intervals])
    upper = np.array([np.inf if e is None else e.upper for e in intervals])
    certain = lower > threshold
    box = {
        name: (float(column[certain].min()), float(column[certain].max()))
        for name, column in zip(names, theta.T, strict=True)
        if certain.any()
    }
    return LossRegion(
        threshold=threshold,
        certain=float(weights[certain].sum()),
        possible=min(1.0, float(weights[upper > threshold].sum())),
        confidence=confidence,
        ranges=box,
    )


def _part(cube: Cube, seeds: slice, episodes: slice) -> Cube:
    """Return some training seeds and episodes of a cube."""
    first_seed, first = seeds.start or 0, episodes.start or 0
    step_seed, step = seeds.step or 1, episodes.step or 1
    success = cube.success
    return replace(
        cube,
        returns=cube.returns[:, seeds, :, episodes],
        success=None if success is None else success[:, seeds, :, episodes],
        failures=tuple(
            replace(
                each,
                training_seed=(each.training_seed - first_seed) // step_seed,
                episode=(each.episode - first) // step,
            )
            for each in cube.failures
            if (each.training_seed - first_seed) % step_seed == 0
            and (each.episode - first) % step == 0
        ),
    )


def _enough(looks: Sampled, tells: Sampled, chosen: BoolArray) -> bool:
    """Return whether each half says something of every point."""
    least = 1 if tells.bounds else 2
    met = looks.counts[chosen] + tells.counts[chosen] > 0
    return bool(
        np.all(looks.counts[chosen][met] >= 1)
        and np.all(tells.counts[chosen][met] >= least)
    )


def _tells(tells: Sampled, point: int) -> bool:
    """Return whether there are episodes enough for an interval."""
    return int(tells.counts[point]) >= (1 if tells.bounds else 2)


def _greatest(looks: Losses, tells: Losses, chosen: BoolArray) -> tuple[int, int]:
    """Return the point with the greatest loss, and against which reference."""
    point = _least(-looks.chosen_on_all().means, chosen)
    means = [
        each.means[point] if _tells(told, point) else -np.inf
        for each, told in zip(looks.against, tells.against, strict=True)
    ]
    if max(means) == -np.inf:
        means = [each.means[point] for each in looks.against]
    return point, int(np.argmax(np.nan_to_num(means, nan=LEAST, neginf=-np.inf)))


def _least(means: FloatArray, chosen: BoolArray) -> int:
    return int(np.nanargmin(np.where(chosen, means, np.nan)))


def _told(
    cube: Cube, point: int, tells: Sampled, level: Level, claims: int
) -> WorstPoint:
    found = at_point(tells, point, level, claims)
    how = HALVES if claims == 1 else f"one of {claims} that hold at once"
    return WorstPoint(
        theta=theta_at(cube, point),
        estimate=found.estimate,
        lower=found.lower,
        upper=found.upper,
        confidence=found.confidence,
        label=found.label,
        method=f"{found.method}, {how}",
    )


def theta_at(cube: Cube, point: int) -> dict[str, float]:
    """Return the parameters of a point by name."""
    return dict(zip(cube.parameters, cube.theta[point].tolist(), strict=True))
