"""What Algorithm 4 can lose on a cover, with the radius of its cells in the bound.

Every alive cell has n radius^2 / 4 <= A at every switch, n the samples so far, where

    A = max(1, log(2H) / 4, H finest^2 / 4)

as long as `max_cells` never held a halving back; `misfit` puts in another A. With
z = 6 A + own / 2 + 2 price at the deepest cell, theory 4.7 goes through with
probability 1 - 1/H, step by step (g the cell of the real parameter, k the one that is
played):

1. |f_fit - f*|_Z <= sqrt(z) and sqrt(beta) <= sqrt(A) + sqrt(z), so that
   |f_k - f*|_Z <= sqrt(A) + 2 sqrt(z) and |f_k - f_g|_Z <= 2 (sqrt(A) + sqrt(z)).
2. Before every step of an episode |f_k - f_g|_new^2 < |f_k - f_g|_Z^2 + alpha, and new
   data are at most as many as old, so that sum (f_k - f*)^2 over both is at most
   b' = (sqrt(A) + 2 sqrt(z))^2 + (sqrt(4 (sqrt(A) + sqrt(z))^2 + alpha) + sqrt(A))^2.
3. Eluder sum, d_e the eluder dimension of the family at scale 1/H for biases of width
   1: sum |f_k - f*| <= 1 + d_e + 2 sqrt(b' d_e H).
4. rho* <= rho_k + radius_k sp_k / 2, and the sum of radius_k / 2 is at most
   1 + H finest / 2 + sqrt(2 H log(2H)), since radii follow sqrt(log(2H) / n) down and
   n is at least half of the steps taken; or 1 + 2 sqrt(2 H A) for another A.
5. Episodes: K <= 1 + [2 + log2 H] that end because data doubled, + 2 [1 +
   (max(0, log2 sqrt(H)) + 2) d_e (4 log H + 1)] that end by the score (theory 4.7.4,
   for H >= 4; trivially H below).

    Reg(H) <= Dl [1 + d_e + 2 sqrt(b' d_e H) + item 4 + K] + H defect + spread,

Dl the greatest span of a bias that is played, at most D spread for a class of diameter
D. With `finest` of order sqrt(log H / H) or less nothing here is linear in H.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, log, log2, sqrt
from typing import final

from simgap.base_policies.infinite.cover_confidence import own_price, price
from simgap.errors import InvalidArgument

ALPHA = 2.0  # Dl^2 + 1 for biases of width 1
TOP = 0.125  # of the radius of alive cells: that of the most optimistic one


@final
@dataclass(frozen=True, slots=True)
class CoverGuarantee:
    """Bounds for every model of the family, if it is the real one."""

    regret: float
    gap: float  # at most regret + D spread
    misfit: float  # A, what the radius of cells costs
    finest: float  # the radius at which halving stops
    failure: float  # chance that the real cell is ever left out
    proved: bool  # false: rates were estimated, and nothing is guaranteed
    vacuous: bool  # whether the regret bound exceeds H spread


def cover_guarantee(
    *,
    horizon: int,
    eluder_dimension: int,
    diameter: float,
    parameters: int,
    widest: float,
    finest: float,
    proved: bool,
    roots: int = 1,
    spread: float = 1.0,
    defect: float = 0.0,
    misfit: float | None = None,
) -> CoverGuarantee:
    """Return the bounds above; `widest` is the radius of the greatest root."""
    if horizon < 1 or eluder_dimension < 0 or parameters < 1 or roots < 1:
        raise InvalidArgument(
            f"horizon {horizon}, eluder dimension {eluder_dimension}, {parameters} "
            f"parameters and {roots} roots",
            hint="the eluder dimension counts from 0, the others from 1",
        )
    for name, value in (
        ("diameter", diameter),
        ("widest", widest),
        ("finest", finest),
        ("spread", spread),
    ):
        if not (isfinite(value) and value >= 0.0):
            raise InvalidArgument(f"{name} is {value}", hint="it is finite and >= 0")
    log_term = log(2.0 * horizon)
    off = max(1.0, 0.25 * log_term, horizon * finest**2 / 4.0)
    coarse = 1.0 + 0.5 * horizon * finest + sqrt(2.0 * horizon * log_term)
    if misfit is not None:
        off = max(off, misfit)
        coarse = 1.0 + 2.0 * sqrt(2.0 * horizon * off)
    depth = _deepest(widest, max(finest, TOP * sqrt(log_term / horizon)), parameters)
    z = 6.0 * off + 0.5 * own_price(depth, horizon) + 2.0 * price(depth, horizon, roots)
    inside = sqrt(off) + 2.0 * sqrt(z)
    beside = sqrt(4.0 * (sqrt(off) + sqrt(z)) ** 2 + ALPHA) + sqrt(off)
    errors = inside**2 + beside**2
    d = eluder_dimension
    learning = 1.0 + d + 2.0 * sqrt(errors * d * horizon)
    span = diameter * spread
    regret = span * (learning + coarse + _episodes(horizon, d))
    regret += horizon * defect + spread
    return CoverGuarantee(
        regret=regret,
        gap=regret + span,
        misfit=off,
        finest=finest,
        failure=1.0 / horizon,
        proved=proved,
        vacuous=regret > horizon * spread,
    )


def _deepest(widest: float, narrowest: float, parameters: int) -> int:
    """Return how many halvings lead from one radius below the other.

    P halvings of the side that moves kernels most take off half of the radius: a side
    that is left out is no longer than one that was halved twice.
    """
    if widest <= narrowest:
        return 0
    return parameters * ceil(log2(widest / narrowest))


def _episodes(horizon: int, eluder_dimension: int) -> float:
    if horizon < 4:
        return float(horizon)
    by_score = (max(0.0, log2(sqrt(horizon))) + 2.0) * eluder_dimension
    by_score *= 4.0 * log(horizon) + 1.0
    return min(float(horizon), 3.0 + log2(horizon) + 2.0 * (1.0 + by_score))
