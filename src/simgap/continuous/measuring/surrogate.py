"""A smooth function through noisy losses: what it says, and how sure that is.

A Gaussian process whose functions are sums of orthonormal polynomials (`polynomials`)
with independent coefficients. A term of degrees d_j has the prior variance

    together^(order - 1)  prod over its parameters j of  weight_j decay_j^(d_j - 1),

so each parameter has its weight and its smoothness. What no term explains (a cliff) is
the *rest*, an independent number at each point; noise of episodes is known and apart
from it. Weights, decays and rest maximise the likelihood of the losses times a wide
prior; their own uncertainty is that of a Gaussian around this maximum (Laplace).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from threadpoolctl import threadpool_limits

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.measuring.polynomials import Axis, axis_of, features, terms_of

CONSTANT = 10.0  # prior variance of the mean, of losses that have variance 1
LIMITS = {  # logarithms: least, most, and the wide prior's mean and deviation
    "weight": (-12.0, 4.0, -1.5, 2.5),
    "decay": (-3.5, -0.1, -1.0, 0.8),
    "together": (-6.0, 2.0, -0.5, 1.5),
    "rest": (-14.0, 0.5, -5.0, 2.0),
}
STEP = 1e-4  # for second derivatives
MANY_DRAWS = (40, 25)  # of weights, and of coefficients for each


@final
@dataclass(frozen=True, slots=True, eq=False)
class Surrogate:
    """A function of the parameters, in units of reward."""

    axes: tuple[Axis, ...]
    terms: OffsetArray  # (terms, P)
    coefficients: FloatArray  # (terms,), the mean first
    apart: FloatArray  # (T,), losses less what the other points say of them
    sampled: FloatArray  # (draws, terms), coefficients that may be
    rest: FloatArray  # (draws,), variance that no term explains

    def at(self, theta: FloatArray) -> FloatArray:
        """Return the function at some points, (n,)."""
        found: FloatArray = features(self.axes, self.terms, theta) @ self.coefficients
        return found

    @property
    def error(self) -> float:
        """Return what it is typically off at a point that it was not fitted to."""
        return float(np.sqrt(np.mean(self.apart**2)))


def fitted(
    theta: FloatArray,
    loss: FloatArray,
    noise: FloatArray,
    *,
    weights: FloatArray,
    uniforms: FloatArray | None = None,
    resampled: bool = False,
    seed: int = 0,
) -> Surrogate:
    """Return a function through losses (T,) with noise of known variance (T,).

    `resampled`: the points are draws of a distribution that is not known but through
    them, so that it is uncertain, too (weights of points are drawn; Rubin 1981).
    """
    middle, scale = float(weights @ loss), float(np.std(loss)) or 1.0
    flat, known = (loss - middle) / scale, noise / scale**2

    def problem(shares: FloatArray) -> tuple[tuple[Axis, ...], _Problem]:
        axes = tuple(
            axis_of(theta[:, j], None if uniforms is None else uniforms[:, j], shares)
            for j in range(theta.shape[1])
        )
        terms = terms_of([axis.degree for axis in axes])
        return axes, _Problem(features(axes, terms, theta), flat, known, terms)

    rng = np.random.default_rng(seed)
    draws, rests = [], []
    with threadpool_limits(1, user_api="blas"):  # small matrices: threads only wait
        axes, first = problem(weights)
        best, spread = first.maximum()
        inverse, variances = first.inverse(best)
        coefficients = scale * variances * (first.table.T @ (inverse @ flat))
        for _ in range(MANY_DRAWS[0]):
            near = first.clipped(best + spread @ rng.normal(size=best.size))
            of = first
            if resampled:
                drawn = weights * rng.exponential(size=weights.size)
                of = problem(drawn / drawn.sum())[1]
            draws.append(of.draws(near, rng, MANY_DRAWS[1]))
            rests.append(np.full(MANY_DRAWS[1], np.exp(near[-1])))
    sampled = scale * np.concatenate(draws)
    coefficients[0] += middle
    sampled[:, 0] += middle
    return Surrogate(
        axes,
        first.terms,
        coefficients,
        scale * (inverse @ flat) / np.diag(inverse),
        sampled,
        scale**2 * np.concatenate(rests),
    )


@final
class _Problem:
    """Losses of variance 1, and how likely weights, decays and rest make them."""

    def __init__(
        self, table: FloatArray, loss: FloatArray, noise: FloatArray, terms: OffsetArray
    ) -> None:
        self.table, self.loss, self.noise, self.terms = table, loss, noise, terms
        order = (terms > 0).sum(axis=1)
        self.linear = np.concatenate(
            [
                terms > 0,
                np.maximum(terms - 1, 0),
                np.maximum(order - 1, 0)[:, None],
            ],
            axis=1,
        ).astype(float)  # log variances of the terms are linear in the logarithms
        size = terms.shape[1]
        rows = [
            *[LIMITS["weight"]] * size,
            *[LIMITS["decay"]] * size,
            LIMITS["together"],
            LIMITS["rest"],
        ]
        self.least, self.most, self.usual, self.wide = np.array(rows).T

    def clipped(self, given: FloatArray) -> FloatArray:
        return np.clip(given, self.least, self.most)

    def inverse(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the inverse of the covariance, and the variances of the terms."""
        covariance, variances = self._covariance(given)
        return np.asarray(np.linalg.inv(covariance), dtype=float), variances

    def maximum(self) -> tuple[FloatArray, FloatArray]:
        """Return the likeliest logarithms, and a root of their covariance."""
        from scipy.optimize import minimize

        found = minimize(
            self.unlikely,
            self.usual,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(self.least, self.most, strict=True)),
            options={"maxiter": 200},
        ).x
        size = found.size
        second = np.empty((size, size))
        for at in range(size):
            step = STEP * np.eye(size)[at]
            up, down = self.unlikely(found + step)[1], self.unlikely(found - step)[1]
            second[at] = (up - down) / (2.0 * STEP)
        values, vectors = np.linalg.eigh(0.5 * (second + second.T))
        values = np.maximum(values, 1.0 / self.wide.max() ** 2)
        return found, vectors / np.sqrt(values)

    def unlikely(self, given: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the logarithm of the posterior, and its derivatives."""
        covariance, variances = self._covariance(given)
        root = np.linalg.cholesky(covariance)
        inverse = np.linalg.inv(covariance)
        solved = inverse @ self.loss
        apart = (given - self.usual) / self.wide
        value = 0.5 * float(self.loss @ solved) + float(np.log(np.diag(root)).sum())
        gained = (self.table.T @ solved) ** 2
        lost = np.einsum("ta,ta->a", self.table, inverse @ self.table)
        of_terms = -0.5 * variances * (gained - lost)
        of_rest = -0.5 * np.exp(given[-1]) * float(solved @ solved - np.trace(inverse))
        slope = np.append(self.linear.T @ of_terms, of_rest) + apart / self.wide
        return value + 0.5 * float(apart @ apart), slope

    def draws(
        self, given: FloatArray, rng: np.random.Generator, count: int
    ) -> FloatArray:
        """Return coefficients that the losses allow (Matheron's rule)."""
        inverse, variances = self.inverse(given)
        prior = np.sqrt(variances) * rng.normal(size=(count, variances.size))
        deviation = np.sqrt(self.noise + np.exp(given[-1]))
        off = rng.normal(size=(count, self.loss.size)) * deviation
        missing = self.loss - prior @ self.table.T - off
        found: FloatArray = prior + (missing @ inverse @ self.table) * variances
        return found

    def _covariance(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        variances = np.exp(self.linear @ given[:-1])
        variances[0] = CONSTANT
        covariance = (self.table * variances) @ self.table.T
        covariance[np.diag_indices_from(covariance)] += self.noise + np.exp(given[-1])
        return covariance, variances
