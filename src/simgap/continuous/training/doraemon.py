"""DORAEMON: the widest draws under which enough episodes succeed.

Tiboni et al., *Domain randomization via entropy maximization* (ICLR 2024). Every range
has a Beta distribution, at first a narrow one about the nominal value. After a batch of
episodes the entropy of all is raised as far as two limits let it: the chance of
success, estimated by importance weights on the batch, stays above a level, and the new
distribution is near the old one. Where the level is not reached, the chance of success
is raised first. Until it is reached once, nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray, read_only
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.training.beforehand import Needed, Reference, Sides, sides_of
from simgap.continuous.training.samplers import Met

SHARPEST = 500.0  # greatest parameter of a Beta distribution; the least is 1
SLACK = 1e-3  # by which a limit may be missed
HALVINGS = 12  # of a step that misses a limit, before it is not made
TINY = 1e-12  # points are so far from the ends, where a density may be infinite


@final
@dataclass(frozen=True, slots=True)
class Doraemon:
    """The numbers of DORAEMON."""

    success: float = 0.5  # share of the way to the reference from which on it is one
    chance: float = 0.5  # of a success, at least (alpha)
    divergence: float = 0.1  # of new from old distribution, at most (epsilon)
    batch: int = 256  # episodes
    sharpness: float = 98.0  # a + b - 2 at the start: a standard deviation of 0.05

    @property
    def needs(self) -> Needed:
        """Return what is trained before."""
        return Needed.NOMINAL

    def start(
        self, randomization: BoundRandomization, reference: Reference
    ) -> DoraemonSampler:
        """Return the sampler of a training."""
        sides = sides_of(randomization)
        middle = np.stack([sides.middle, 1.0 - sides.middle], axis=-1)
        return DoraemonSampler(
            self,
            sides,
            reference.threshold(self.success),
            1.0 + self.sharpness * middle,
            np.empty((0, sides.places.size)),
            np.empty(0),
            np.array(0),
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class DoraemonSampler:
    """Beta distributions on the A sides, and the batch so far."""

    settings: Doraemon
    sides: Sides
    threshold: float  # return of a success
    shape: FloatArray  # (A, 2), a and b
    points: FloatArray  # (n, A), of the batch so far
    success: FloatArray  # (n,), 1 or 0
    begun: OffsetArray  # (), 1: the chance was reached once

    def __post_init__(self) -> None:
        for name in ("shape", "points", "success"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        object.__setattr__(self, "begun", read_only(self.begun, np.int64))

    @property
    def share(self) -> float:
        """Return e to the entropy, 1 if all distributions are uniform."""
        return float(np.exp(entropy(self.shape)))

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return theta under the current distributions."""
        cube = self.sides.randomization.uniforms(seed, episodes)
        return self.sides.theta(cube, self._points(cube))

    def met(self, episodes: Met) -> DoraemonSampler:
        """Return the distributions after some episodes."""
        cube = self.sides.randomization.uniforms(episodes.seed, episodes.number)
        succeeded = (episodes.returned > self.threshold).astype(np.float64)
        points = np.concatenate([self.points, self._points(cube)])
        success = np.concatenate([self.success, succeeded])
        if success.size < self.settings.batch:
            return replace(self, points=points, success=success)
        begun = bool(self.begun) or bool(success.mean() >= self.settings.chance)
        shape = self.shape
        if begun:
            shape = widened(self.settings, shape, points, success)
        return replace(
            self,
            shape=shape,
            points=points[:0],
            success=success[:0],
            begun=np.array(begun),
        )

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return the distributions and the batch so far."""
        return {
            "shape": self.shape,
            "points": self.points,
            "success": self.success,
            "begun": self.begun,
        }

    def restored(self, arrays: Mapping[str, AnyArray]) -> DoraemonSampler:
        """Return the sampler with the distributions that a checkpoint kept."""
        return replace(
            self,
            shape=arrays["shape"],
            points=arrays["points"],
            success=arrays["success"],
            begun=arrays["begun"],
        )

    def _points(self, cube: FloatArray) -> FloatArray:
        from scipy.special import betaincinv

        a, b = self.shape.T
        found: FloatArray = betaincinv(a, b, self.sides.points(cube))
        return np.clip(found, TINY, 1.0 - TINY)


def widened(
    settings: Doraemon, old: FloatArray, points: FloatArray, success: FloatArray
) -> FloatArray:
    """Return the distributions that follow `old`, (A, 2), after a batch drawn from it.

    What the solver finds is held to both limits; a step that misses one is halved.
    """
    before = _log_density(old, points)

    def chance(shape: FloatArray) -> float:
        weight = np.exp(_log_density(shape, points) - before)
        return float((weight * success).sum() / weight.sum())

    def near(shape: FloatArray) -> float:
        return settings.divergence - divergence(shape, old)

    def enough(shape: FloatArray) -> float:
        return chance(shape) - settings.chance

    start = old
    if enough(old) < 0.0:
        start = _greatest(chance, old, (near,))
        if enough(start) < 0.0:
            return start
    return _greatest(entropy, start, (near, enough))


def entropy(shape: FloatArray) -> float:
    """Return the entropy of independent Beta distributions; 0 if all are uniform."""
    from scipy.special import betaln, digamma

    a, b = shape.T
    each = betaln(a, b) - (a - 1.0) * digamma(a) - (b - 1.0) * digamma(b)
    return float((each + (a + b - 2.0) * digamma(a + b)).sum())


def divergence(shape: FloatArray, old: FloatArray) -> float:
    """Return the Kullback-Leibler divergence of Beta distributions from old ones."""
    from scipy.special import betaln, digamma

    a, b = shape.T
    c, d = old.T
    each = betaln(c, d) - betaln(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b)
    return float((each + (c - a + d - b) * digamma(a + b)).sum())


def _log_density(shape: FloatArray, points: FloatArray) -> FloatArray:
    from scipy.special import betaln

    a, b = shape.T
    each = (a - 1.0) * np.log(points) + (b - 1.0) * np.log1p(-points) - betaln(a, b)
    return np.asarray(each.sum(axis=1))


def _greatest(
    wanted: Callable[[FloatArray], float],
    start: FloatArray,
    limits: tuple[Callable[[FloatArray], float], ...],
) -> FloatArray:
    """Return distributions with much of what is wanted; no limit is below 0."""
    from scipy.optimize import Bounds, minimize

    def of_logs(
        function: Callable[[FloatArray], float],
    ) -> Callable[[FloatArray], float]:
        return lambda logs: function(np.exp(logs).reshape(start.shape))

    cost = of_logs(lambda shape: -wanted(shape))
    begin: FloatArray = np.log(start).ravel()
    held = [of_logs(limit) for limit in limits]
    told: Any = [{"type": "ineq", "fun": limit} for limit in held]
    found: FloatArray = minimize(
        cost,
        begin,
        method="SLSQP",
        bounds=Bounds(0.0, log(SHARPEST)),
        constraints=told,
    ).x
    for halving in range(HALVINGS):
        logs: FloatArray = begin + 0.5**halving * (found - begin)
        kept = all(limit(logs) > -SLACK for limit in held)
        if kept and cost(logs) < cost(begin):
            return np.asarray(np.exp(logs).reshape(start.shape))
    return start
