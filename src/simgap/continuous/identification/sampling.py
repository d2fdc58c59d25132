"""Weighted samples of a posterior over the unit cube, closing in on where it is.

The first round are Sobol points of the whole cube, which is nu; the second is drawn
about the modes that are found from there. Each further one is drawn from normal kernels
about the samples so far, weighted by a power of the posterior that leaves many of them
weight (adaptive importance sampling: Cornuet et al. 2012).
Every sample counts in the end, over the density of all rounds together, so the weights
are right whatever the rounds looked like; too few rounds show as a small effective
sample, not as a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray

# (n, P) points, (D,) delays that are still in question -> (n, D, K) log-likelihoods
Target = Callable[[FloatArray, BoolArray], FloatArray]
# points and log-likelihoods so far -> normal laws about the modes: (m, P), (m, P, P)
Guess = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

KERNELS = 64  # centres of a round
WIDER = 2.0  # variance of a guess about a mode, over that of the normal law there
LEAST = 1e-6  # tempered probability below which a delay is no longer asked about


@final
@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """n points of the cube, and the weight of each with each delay."""

    points: FloatArray  # (n, P)
    log_likelihood: FloatArray  # (n, D, K)
    weights: FloatArray  # (n, D, K), each K sums to 1
    effective: float  # samples that an even weight would need for the same spread
    rounds: int
    settled: bool  # the effective sample is as large as was asked for

    @property
    def pooled(self) -> FloatArray:
        """The weights of the posterior, (n, D): the K ways of predicting, averaged."""
        mean: FloatArray = self.weights.mean(axis=2)
        return mean


@final
@dataclass(frozen=True, slots=True)
class Sampler:
    """How hard to look."""

    size: int = 512  # samples of a round
    effective: float = 200.0  # wanted
    rounds: int = 10  # at most
    seed: int = 0

    def samples(
        self, target: Target, guess: Guess, dimensions: int, delays: int
    ) -> Samples:
        """Return samples of prior (uniform) times likelihood."""
        from scipy.stats import qmc

        random = np.random.default_rng(self.seed)
        sobol = qmc.Sobol(dimensions, rng=random)
        points = sobol.random(self.size)
        asked = np.ones(delays, np.bool_)
        likely = target(points, asked)
        densities: list[_Kernels] = []
        for rounds in range(1, self.rounds + 1):
            log_q = _mixture(densities, points)
            weights = _weights(likely, log_q, 1.0)
            effective = _effective(weights)
            if effective >= self.effective or rounds == self.rounds:
                break
            tempered = _weights(likely, log_q, _power(likely, log_q, self.size / 8))
            asked &= tempered.sum(axis=0).max(axis=1) > LEAST
            if densities:
                kernels = _about(points, tempered.mean(axis=2).sum(axis=1), random)
            else:
                centres, spreads = guess(points, likely)
                roots = np.linalg.cholesky(WIDER * spreads)
                kernels = _Kernels(centres, np.asarray(roots, np.float64))
            new = kernels.drawn(self.size, random)
            densities.append(kernels)
            inside = (new.min(axis=1) >= 0.0) & (new.max(axis=1) < 1.0)
            found = target(np.clip(new, 0.0, 1.0 - 1e-12), asked)
            points = np.concatenate([points, new])
            likely = np.concatenate(
                [likely, np.where(inside[:, None, None], found, -np.inf)]
            )
        return Samples(
            points,
            likely,
            weights,
            effective,
            rounds,
            effective >= self.effective,
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Kernels:
    """An even mixture of normal laws."""

    centres: FloatArray  # (m, P)
    roots: FloatArray  # (m, P, P), lower triangular

    def drawn(self, count: int, random: np.random.Generator) -> FloatArray:
        """Return draws, (count, P)."""
        at = random.integers(len(self.centres), size=count)
        normal = random.standard_normal((count, self.centres.shape[1]))
        moved = np.einsum("npq,nq->np", self.roots[at], normal)
        found: FloatArray = self.centres[at] + moved
        return found

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return the log density at points (n, P)."""
        from scipy.special import logsumexp

        m, size = self.centres.shape
        away = np.moveaxis(points[:, None, :] - self.centres[None], 0, 2)  # (m, P, n)
        square = (np.linalg.solve(self.roots, away) ** 2).sum(axis=1)
        width = np.log(np.diagonal(self.roots, axis1=1, axis2=2)).sum(axis=1)
        logs = -0.5 * square - (0.5 * size * np.log(2.0 * np.pi) + width)[:, None]
        found: FloatArray = logsumexp(logs, axis=0) - np.log(m)
        return found


def _about(
    points: FloatArray, weights: FloatArray, random: np.random.Generator
) -> _Kernels:
    """Return kernels about samples, as wide as few samples of a law make them."""
    m, size = KERNELS, points.shape[1]
    places = (random.random() + np.arange(m)) / m
    chosen = np.searchsorted(np.cumsum(weights)[:-1], places)
    spread = np.cov(points.T, aweights=weights, ddof=0).reshape(size, size)
    spread *= (4.0 / ((size + 2.0) * m)) ** (2.0 / (size + 4.0))
    spread += 1e-6 * np.diag(np.diag(spread)) + 1e-24 * np.eye(size)
    root = np.linalg.cholesky(spread)
    return _Kernels(points[chosen], np.repeat(root[None], m, axis=0))


def _mixture(densities: list[_Kernels], points: FloatArray) -> FloatArray:
    """Return the log density of all rounds together at all points."""
    parts = [np.zeros(len(points)), *(each.log_density(points) for each in densities)]
    found: FloatArray = np.logaddexp.reduce(parts) - np.log(len(parts))
    return found


def _weights(likely: FloatArray, log_q: FloatArray, power: float) -> FloatArray:
    """Return weights of a power of the likelihood; each way of predicting sums to 1."""
    with np.errstate(invalid="ignore"):
        logs = power * likely - log_q[:, None, None]
    logs = np.where(likely == -np.inf, -np.inf, logs)
    logs -= logs.max(axis=(0, 1))
    weights = np.exp(logs)
    found: FloatArray = weights / weights.sum(axis=(0, 1))
    return found


def _effective(weights: FloatArray) -> float:
    """Return the effective sample of the worst way of predicting."""
    over_delays = weights.sum(axis=1)
    return float((1.0 / (over_delays**2).sum(axis=0)).min())


def _power(likely: FloatArray, log_q: FloatArray, wanted: float) -> float:
    """Return the power, at most 1, that leaves an effective sample as wanted."""
    low, high = 0.0, 1.0
    if _effective(_weights(likely, log_q, high)) >= wanted:
        return high
    for _ in range(40):
        middle = 0.5 * (low + high)
        enough = _effective(_weights(likely, log_q, middle)) >= wanted
        low, high = (middle, high) if enough else (low, middle)
    return low
