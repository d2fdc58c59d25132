"""The exact maximum of g . u over a confidence set: region and ellipsoid together.

For m > 0 the greatest g . u - (m / 2) (|u - fit|_V^2 - radius^2) over the region bounds
g . u over the set (Lagrange). It is attained where the region is nearest to
fit + V^-1 g / m in the norm of V, and the least such bound over m is exact. Where u0 is
not the nearest point to the last digit, the gradient p at u0 says by how much the bound
may be off: at most max p . (u - u0) over the region, which is added.

With exact maxima the backup of `mixture_planning` is monotone: it maximises over
kernels. The lesser of two separate maxima is cheaper, but it need not be monotone, and
value iteration with it may go round in circles for ever.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.mixture_confidence import ConfidenceSet

ROUNDS = 100
LARGEST = 1e14  # 1 / m, in units of where the ellipsoid alone would have it
CLOSE = 1e-11  # of |g|: how far apart bound and a member's value may stay


def exact_reach(
    members: ConfidenceSet, directions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on max g . u for each row g, (n,), and members near it, (n, r)."""
    bounds, points = members.reach(directions), members.farthest(directions)
    if not 0.0 < members.square_radius < np.inf:
        return bounds, points
    for row, g in enumerate(directions):
        bounds[row], points[row] = _maximum(members, g, bounds[row], points[row])
    return bounds, points


def _maximum(
    members: ConfidenceSet, g: FloatArray, bound: float, point: FloatArray
) -> tuple[float, FloatArray]:
    """Return the maximum for one g, given a bound and where it is attained.

    On one face of the region the nearest point is affine in t = 1 / m, so that its
    distance from the fit is followed by secants; an end that stays counts half
    (Illinois).
    """
    best = members.inward(point)
    length = float(np.linalg.norm(members.whiten @ g))
    close = CLOSE * float(np.abs(g).sum())
    if bound - float(g @ best) <= close or length == 0.0:
        return bound, best
    pulled = members.whiten.T @ (members.whiten @ g)
    radius = sqrt(members.square_radius)
    t = first = radius / length
    inner, outer = (0.0, -radius), (inf, inf)  # t and how far beyond the radius
    was_inside = True
    for _ in range(ROUNDS):
        u = members.region.nearest(members.fit + t * pulled, members.metric)
        step = u - members.fit
        apart = members.metric @ step
        square = float(step @ apart)
        slope = g - apart / t
        off = max(0.0, float(members.region.reach(slope[None])[0] - slope @ u))
        value = float(g @ u) + 0.5 * (members.square_radius - square) / t + off
        bound = min(bound, value)
        beyond = sqrt(max(square, 0.0)) - radius
        inside = u if beyond <= 0.0 else members.fit + step * (radius / sqrt(square))
        if float(g @ inside) > float(g @ best):
            best = inside
        if bound - float(g @ best) <= close or t > LARGEST * first:
            break
        again = was_inside is (beyond <= 0.0)
        was_inside = beyond <= 0.0
        if was_inside:
            inner, outer = (t, beyond), (outer[0], outer[1] * (0.5 if again else 1.0))
        else:
            inner, outer = (inner[0], inner[1] * (0.5 if again else 1.0)), (t, beyond)
        t = 4.0 * t if outer[0] == inf else _between(inner, outer)
    return bound, best


def _between(inner: tuple[float, float], outer: tuple[float, float]) -> float:
    """Return where the secant is zero, or half way if rounding leaves no room."""
    (a, at_a), (b, at_b) = inner, outer
    t = (a * at_b - b * at_a) / (at_b - at_a)
    return t if a < t < b else 0.5 * (a + b)
