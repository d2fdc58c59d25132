"""Least squares in a mixture class, its confidence set, and the score that ends data.

Sample t is a step (s, a, s') with a bias l and w, the width of l over the successors
that some member gives (s, a): x = (direction_i l (s, a))_i / w in R^r, and
y = (l(s') - centre l (s, a)) / w. For the real u*, y = x . u* + noise, and the noise
has mean 0 and width 1, so that E exp(c noise) <= exp(c^2 / 8). Algorithm 4's constants
hold with 1 in place of D_lambda; nothing about l has to be known in advance.

Confidence (method of mixtures). For fixed u, exp(2 sum (y - x.u*)^2 - (y - x.u)^2) is a
supermartingale of mean <= 1. Average it over u ~ N(0, I / (4 ridge)) and apply Ville's
inequality: with V = ridge I + sum x x^T and the ridge estimate v = V^-1 sum x y,

    |u* - v|_V^2 <= log(det(V / ridge)) / 4 + log(1 / failure) / 2 + ridge |u*|^2

at all times at once, with probability 1 - failure; and |u*| <= 1. This is sharper than
the theorem of Abbasi-Yadkori, Pal and Szepesvari (2011), whose radius is the sum of two
square roots (here: the root of a sum), and than the cover of the class in theory 4.7.1,
which has 2 r log H in place of (r log H) / 4.

The fit is the member nearest to v in the norm of V, which is regularised least squares
over the class, as in Algorithm 4. The region is convex, so |u - v|^2 >= |u - fit|^2 +
|fit - v|^2 for its members: the set around the fit has the square radius above less
|fit - v|^2. It always contains the fit, and the real u* with probability 1 - failure.

Score. The paper's test for a pair with |f1 - f2|^2_new >= |f1 - f2|^2_Z + alpha is not
homogeneous: alpha does not grow with the pair. Differences of members have length at
most 2, so with alpha = 4 ridge it implies that lambda_max(new, V) >= 1, and that is the
rule here. On a ball it is the same test. On a hull it comes no later, and when it comes
the paper's test with alpha / (r q^2)^2 has come too, q the hull's elongation: weights
on the corners with mean 0 and covariance I / (r q^2) make every width 2 / (r q^2) or
more. At a switch det V at least doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.base_policies.infinite.mixture_region import Region
from simgap.intervals import EPS


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSet:
    """Members u of a region with |u - fit|_V^2 <= square_radius."""

    region: Region
    fit: FloatArray  # (r,), a member
    metric: FloatArray  # (r, r), V = ridge I + sum x x^T
    square_radius: float  # inf: the whole region
    refuted: bool  # no member is in the set: real data do that with chance `failure`
    whiten: FloatArray  # (r, r), |whiten g| = |g| in the norm of V^-1
    radius: float  # its root, enlarged for what rounding does to `whiten`

    def reach(self, directions: FloatArray) -> FloatArray:
        """Return bounds on max g . u over the set for each row g, (n,).

        The lesser of the maxima over the region and over the ellipsoid.
        """
        whole = self.region.reach(directions)
        if not np.isfinite(self.square_radius):
            return whole
        return np.minimum(whole, self._over_ellipsoid(directions))

    def farthest(self, directions: FloatArray) -> FloatArray:
        """Return where `reach` is attained: in the region or in the ellipsoid."""
        corners = self.region.farthest(directions)
        if not np.isfinite(self.square_radius):
            return corners
        white = directions @ self.whiten.T
        lengths = np.linalg.norm(white, axis=1)[:, None]
        step = (white / np.where(lengths > 0.0, lengths, 1.0)) @ self.whiten
        points = self.fit + np.sqrt(self.square_radius) * step
        round_side = self._over_ellipsoid(directions) < self.region.reach(directions)
        return np.where(round_side[:, None], points, corners)

    def contains(self, u: FloatArray, *, slack: float = 1e-9) -> bool:
        """Return whether a member u of the region is in the set."""
        apart = u - self.fit
        return float(apart @ self.metric @ apart) <= self.square_radius + slack

    def inward(self, u: FloatArray) -> FloatArray:
        """Return a point of the set near u: its nearest member, pulled to the fit."""
        step = self.region.nearest(u, self.metric) - self.fit
        length = float(step @ self.metric @ step)
        if length > self.square_radius:
            step = step * np.sqrt(self.square_radius / length)
        return np.asarray(self.fit + step)

    def _over_ellipsoid(self, directions: FloatArray) -> FloatArray:
        lengths = np.linalg.norm(directions @ self.whiten.T, axis=1)
        return np.asarray(directions @ self.fit + self.radius * lengths)


def confidence_set(
    region: Region,
    gram: FloatArray,
    moment: FloatArray,
    *,
    ridge: float,
    failure: float,
) -> ConfidenceSet:
    """Return the set from gram = sum x x^T and moment = sum x y (theory 3.3, 4.7)."""
    r = region.dimension
    metric = ridge * np.eye(r) + gram
    estimate = np.asarray(np.linalg.solve(metric, moment), np.float64)
    fit = region.nearest(estimate, metric)
    pull = metric @ (estimate - fit)
    # zero if fit is the nearest member to the last digit; how far it may be off if not
    defect = max(0.0, float(region.reach(pull[None])[0] - pull @ fit))
    left = square_radius(metric, ridge=ridge, failure=failure)
    left += 2.0 * defect - float((estimate - fit) @ pull)
    refuted = left < 0.0
    left = np.inf if refuted else left
    whiten = np.linalg.solve(np.linalg.cholesky(metric), np.eye(r))
    condition = float((metric**2).sum() ** 0.5) * float((whiten**2).sum())
    return ConfidenceSet(
        region=region,
        fit=owned(fit),
        metric=owned(metric),
        square_radius=left,
        refuted=refuted,
        whiten=owned(whiten),
        radius=sqrt(left) * (1.0 + 8.0 * (r + 1) * EPS * condition),
    )


def single_member(region: Region, u: FloatArray) -> ConfidenceSet:
    """Return the set of one member."""
    eye = owned(np.eye(region.dimension))
    return ConfidenceSet(region, u, eye, 0.0, False, eye, 0.0)


def square_radius(metric: FloatArray, *, ridge: float, failure: float) -> float:
    """Return log det(V / ridge) / 4 + log(1 / failure) / 2 + ridge."""
    volume = float(np.linalg.slogdet(metric / ridge)[1])
    return 0.25 * volume + 0.5 * log(1.0 / failure) + ridge


def score(fresh: FloatArray, metric: FloatArray) -> float:
    """Return lambda_max(fresh, V): the rule is to switch when it reaches 1."""
    half = np.linalg.solve(np.linalg.cholesky(metric), fresh)
    white = np.linalg.solve(np.linalg.cholesky(metric), half.T)
    values = np.linalg.eigvalsh(0.5 * (white + white.T))
    return float(values.max(initial=0.0))
