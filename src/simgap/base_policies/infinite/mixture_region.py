"""Where the coordinates u of a linear mixture live: a unit ball or a hull of corners.

Coordinates are chosen so that the region lies in the unit ball, which is (nearly) the
smallest ellipsoid around it. A member of a mixture predicts x . u for a step, x in R^r
a linear function of the bias l. Members are kernels, so that predictions for an l of
width 1 differ by at most 1; this bounds |x| by `feature_bound`:

    ball: u and -u predict numbers 2 |x . u| apart, hence |x| <= 1/2;
    hull: some weights on the corners have mean 0 and covariance I / (r q^2), q near 1,
          hence |x|^2 / (r q^2) is a variance of numbers at most 1 apart, at most 1/4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol, final

import numpy as np
from scipy.optimize import brentq, nnls

from simgap.arrays import FloatArray, read_only
from simgap.errors import NotSolved

MOST_ROUNDS = 20_000
ROUNDNESS = 1e-3  # how far the ellipsoid may be from the smallest one


class Region(Protocol):
    """A compact convex set of coordinates inside the unit ball."""

    @property
    def dimension(self) -> int:
        """r, the number of coordinates."""
        ...

    @property
    def feature_bound(self) -> float:
        """The greatest norm of x for a bias of width 1."""
        ...

    def reach(self, directions: FloatArray) -> FloatArray:
        """Return max g . u over the region for each row g, (n,)."""
        ...

    def farthest(self, directions: FloatArray) -> FloatArray:
        """Return a point of the region that attains `reach` for each row, (n, r)."""
        ...

    def nearest(self, point: FloatArray, metric: FloatArray) -> FloatArray:
        """Return the point of the region nearest to `point` in a metric (r, r)."""
        ...

    def theta(self, u: FloatArray) -> FloatArray:
        """Return a parameter vector theta of the user with these coordinates, (d,)."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class UnitBall:
    """All u with |u| <= 1; theta = theta_centre + theta_axes u."""

    theta_centre: FloatArray  # (d,)
    theta_axes: FloatArray  # (d, r)

    def __post_init__(self) -> None:
        for field in ("theta_centre", "theta_axes"):
            object.__setattr__(self, field, read_only(getattr(self, field)))

    @property
    def dimension(self) -> int:
        return int(self.theta_axes.shape[1])

    @property
    def feature_bound(self) -> float:
        return 0.5

    def reach(self, directions: FloatArray) -> FloatArray:
        """Return the length of each row, (n,)."""
        return np.asarray(np.sqrt((directions**2).sum(axis=1)))

    def farthest(self, directions: FloatArray) -> FloatArray:
        """Return each row divided by its length; zero rows stay zero."""
        lengths = self.reach(directions)[:, None]
        return np.asarray(directions / np.where(lengths > 0.0, lengths, 1.0))

    def nearest(self, point: FloatArray, metric: FloatArray) -> FloatArray:
        """Return (metric + m I)^-1 metric point with the least m >= 0 that is inside.

        At m = w |point|, w the greatest eigenvalue, the length is at most 1.
        """
        if float(point @ point) <= 1.0:
            return np.array(point)
        values, axes = np.linalg.eigh(metric)
        pulled = values * (axes.T @ point)

        def excess(shift: float) -> float:
            return float(np.linalg.norm(pulled / (values + shift))) - 1.0

        most = float(values[-1]) * float(np.linalg.norm(point)) * (1.0 + 1e-9)
        outside = excess(0.0) > 0.0  # if not, the point is inside but for rounding
        shift = brentq(excess, 0.0, most, xtol=1e-15 * most) if outside else 0.0
        inside = axes @ (pulled / (values + shift))
        return np.asarray(inside / max(1.0, float(np.linalg.norm(inside))))

    def theta(self, u: FloatArray) -> FloatArray:
        """Return theta_centre + theta_axes u, (d,)."""
        return np.asarray(self.theta_centre + self.theta_axes @ u)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """All mixtures of a few corners, each of length at most 1."""

    corners: FloatArray  # (V, r)
    theta_corners: FloatArray  # (V, d)
    elongation: float  # q >= 1; 1 if the unit ball is the smallest ellipsoid

    def __post_init__(self) -> None:
        for field in ("corners", "theta_corners"):
            object.__setattr__(self, field, read_only(getattr(self, field)))

    @property
    def dimension(self) -> int:
        return int(self.corners.shape[1])

    @property
    def feature_bound(self) -> float:
        return 0.5 * sqrt(self.dimension) * self.elongation

    def reach(self, directions: FloatArray) -> FloatArray:
        """Return the greatest g . u over the corners for each row g, (n,)."""
        return np.asarray((directions @ self.corners.T).max(axis=1))

    def farthest(self, directions: FloatArray) -> FloatArray:
        """Return the corner that attains `reach` for each row, (n, r)."""
        return np.asarray(self.corners[(directions @ self.corners.T).argmax(axis=1)])

    def nearest(self, point: FloatArray, metric: FloatArray) -> FloatArray:
        """Return the mixture of corners nearest to `point`."""
        return np.asarray(self._weights(point, metric) @ self.corners)

    def theta(self, u: FloatArray) -> FloatArray:
        """Return the theta of a mixture of corners that is u, (d,)."""
        weights = self._weights(u, np.eye(self.dimension))
        return np.asarray(weights @ self.theta_corners)

    def _weights(self, point: FloatArray, metric: FloatArray) -> FloatArray:
        """Return weights of the corners whose mixture is nearest to `point`, (V,).

        For w = t v with v a law, |F w|^2 + (t - 1)^2 is least over t at
        |F v|^2 / (1 + |F v|^2): least squares with w >= 0 finds the best v.
        """
        root = np.linalg.cholesky(metric).T
        apart = root @ (self.corners - point).T
        apart = apart / max(1.0, float(np.abs(apart).max(initial=0.0)))
        system = np.vstack([apart, np.ones(len(self.corners))])
        weights, _ = nnls(system, np.append(np.zeros(self.dimension), 1.0))
        return np.asarray(weights / weights.sum())


def hull_of(
    points: FloatArray, thetas: FloatArray
) -> tuple[FloatArray, FloatArray, Hull]:
    """Return (origin, axes, hull): point j is origin + axes.T u_j with |u_j| <= 1.

    `points` (V, n) may lie in a subspace of any dimension r; axes are (r, n).
    """
    mean = points.mean(axis=0)
    _, sizes, frame = np.linalg.svd(points - mean, full_matrices=False)
    scale = max(1.0, float(np.abs(points).max()))
    frame = frame[sizes > 1e-10 * scale]
    flat = (points - mean) @ frame.T
    centre, shape = _smallest_ellipsoid(flat)
    values, axes = np.linalg.eigh(shape)
    half = axes * np.sqrt(values)  # half @ half.T = shape
    corners = np.linalg.solve(half, (flat - centre).T).T
    elongation = max(1.0, float(np.linalg.norm(corners, axis=1).max(initial=0.0)))
    hull = Hull(corners / elongation, thetas, elongation)
    return mean + centre @ frame, (elongation * half.T) @ frame, hull


def _smallest_ellipsoid(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centre and r cov of weights that nearly maximise det cov (Khachiyan)."""
    count, r = points.shape
    lifted = np.column_stack([points, np.ones(count)])
    weights = np.full(count, 1.0 / count)
    for _ in range(MOST_ROUNDS):
        moment = (lifted.T * weights) @ lifted
        far = np.einsum("vi,iv->v", lifted, np.linalg.solve(moment, lifted.T))
        worst = int(far.argmax())
        if far[worst] <= (r + 1.0) * (1.0 + ROUNDNESS):
            centre = weights @ points
            apart = points - centre
            return centre, r * (apart.T * weights) @ apart
        step = (far[worst] - r - 1.0) / ((r + 1.0) * (far[worst] - 1.0))
        weights *= 1.0 - step
        weights[worst] += step
    raise NotSolved(
        f"no round ellipsoid around {count} corners in {r} dimensions after "
        f"{MOST_ROUNDS} rounds",
        hint="give fewer corners: those inside the hull of others do nothing",
    )
