"""Theorems 4 and 7 with every constant: classes measured by the eluder dimension.

F = {f_M : (s, a, l) -> P_M l (s, a)}, Dl the greatest span of a bias, d_e the eluder
dimension of F at scale 1/H, N its covering number there. Theory 4.7:

1. Noise l(s') - P* l has width Dl, so for each f, with Z = sum (f - f*)^2, for all
   times at once sum (f - Y)^2 - (f* - Y)^2 >= Z/2 - Dl^2 log(1/p) with probability
   1 - p. The least-squares fit has the left side <= 0, so with p = 1/(|F| H) per
   function Z <= beta = 2 Dl^2 log(|F| H). A cover at scale 1/H moves both sides by
   2 Dl: beta = 2 Dl^2 log(N H) + 6 Dl.
2. Two models of the set are 4 beta apart on Z (errata E30: print has 2 beta), and on
   the fresh data 4 beta + alpha + Dl^2 by the switching rule: together
   b = 8 beta + alpha + Dl^2.
3. Hence sum_t |(P_k - P*) l_k| <= 1 + Dl d_e + 2 sqrt(b d_e H).
4. Episodes K = switches + 1 (errata E21). Some pair at least doubles Z + alpha at a
   switch: K <= 1 + (|F|(|F|-1)/2) log2(1 + H Dl^2 / alpha). For any class,
   K <= 1 + 2 [1 + (max(0, log2(Dl sqrt H)) + 2) d_e (4 log H + 1)] for H >= 4: a switch
   needs scores sup (f1-f2)^2 / (Z_<t + alpha) that sum to 1/2; they are below 1/H where
   |f1-f2| <= 1/sqrt(H), and in each of the bins (e, 2e] between there and Dl the i-th
   bucket of independent points has at most d_e points of score min(1, 4/(i-1)).
   And there are never more episodes than steps.
5. The martingale sum P* l - l(s') has mean at most Dl/2 on the good event
   (Cauchy-Schwarz), the bad event costs H (1/H):

    Reg(H) <= 1 + Dl d_e + 2 sqrt(b d_e H) + Dl/2 + K Dl + 1,  gap <= Reg(H) + Dl.

d_e and N belong to the scale 1/H of one horizon. A bound that is evaluated at other
horizons keeps the numbers it was given, so they should then bound every scale, as
|F|(|F|-1)/2 and |F| do (errata E7: d_e <= M is false).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import inf, isfinite, log, log2, sqrt

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Quantity, named, upper_bound
from simgap.bounds.numbers import real, whole
from simgap.bounds.reduction import neighbourhood_transfer
from simgap.records.bounds import Constant


class Ridge(Enum):
    """alpha of Algorithm 4."""

    SPAN = "Dl^2 + 1"
    PAPER = "4 Dl^2 + 1"


class Radius(Enum):
    """beta of Algorithm 4."""

    FINITE = "2 Dl^2 log(|F| H)"
    COVER = "2 Dl^2 log(N H) + 6 Dl"
    PAPER = "11 Dl^2 log(N H), for Dl >= 1: the c that print leaves open"


class Switches(Enum):
    """Which bound on the number of episodes."""

    LEAST = "the least of the two"
    PAIRS = "one doubling per pair of functions"
    ELUDER = "by the eluder dimension"


def infinite_class(
    base: Bound,
    *,
    radii: Sequence[float] | FloatArray,
    masses: Sequence[float] | FloatArray,
    lipschitz: float,
) -> Bound:
    """Return min over eps of C4 / nu(C_eps) + L_gap eps (Theorem 4, corrected).

    `base` is `general_optimistic_gap`. The printed theorem asks for a smooth value of
    the oracle where a smooth gap is needed (errata E9).
    """
    return neighbourhood_transfer(
        base,
        radii=radii,
        masses=masses,
        lipschitz=lipschitz,
        claim="Theorem 4 (corrected)",
    )


def general_optimistic_gap(
    *,
    horizon: int,
    span: float,
    eluder: float,
    functions: float = inf,
    covering: float = inf,
    ridge: Ridge = Ridge.SPAN,
    radius: Radius = Radius.FINITE,
    switches: Switches = Switches.LEAST,
) -> Bound:
    """Return C4, the gap of Algorithm 4 in every model (Theorem 7 with Lemma 2)."""
    regret = general_optimistic_regret(
        horizon=horizon,
        span=span,
        eluder=eluder,
        functions=functions,
        covering=covering,
        ridge=ridge,
        radius=radius,
        switches=switches,
    )
    return upper_bound(
        "Theorem 7",
        Quantity.BASE_GAP,
        lambda h: regret.at(h) + span,
        horizon,
        constants=regret.constants,
        unmet=regret.unmet,
    )


def general_optimistic_regret(
    *,
    horizon: int,
    span: float,
    eluder: float,
    functions: float = inf,
    covering: float = inf,
    ridge: Ridge = Ridge.SPAN,
    radius: Radius = Radius.FINITE,
    switches: Switches = Switches.LEAST,
) -> Bound:
    """Return the bound on the regret of Algorithm 4 in every model (Theorem 7).

    `span` is Dl, the greatest span of a bias, or the diameter, which bounds it;
    `eluder` is d_e and `covering` is N, or upper bounds of them; `functions` is |F|,
    the number of different functions, or of models.
    """
    horizon = whole("horizon", horizon)
    span, eluder = real("span", span), real("eluder", eluder)
    functions = real("functions", functions, least=1.0)
    covering = min(real("covering", covering, least=1.0), functions)
    alpha = (4.0 if ridge is Ridge.PAPER else 1.0) * span * span + 1.0

    def beta(h: int) -> float:
        return _radius(h, span, functions, covering, radius)

    def episodes(h: int) -> float:
        if not (isfinite(span) and isfinite(eluder)):
            return float(h)
        return _episodes(h, span, eluder, functions, alpha, switches)

    unmet = _lacks(horizon, span, eluder, functions, covering, radius)
    known = isfinite(span) and isfinite(eluder) and isfinite(beta(horizon))

    def formula(h: int) -> float:
        if not known:
            return inf
        within = (8.0 * beta(h) + alpha + span * span) * eluder * h
        unsure = 1.0 + span * eluder + 2.0 * sqrt(within)
        return unsure + span / 2.0 + episodes(h) * span + 1.0

    numbers: tuple[Constant, ...] = named(
        Dl=span,
        d_e=eluder,
        F=functions,
        N=covering,
        alpha=alpha,
        beta=beta(horizon),
        K=episodes(horizon),
    )
    return upper_bound(
        "Theorem 7",
        Quantity.REGRET,
        formula,
        horizon,
        constants=numbers,
        unmet=unmet,
    )


def _radius(
    horizon: int, span: float, functions: float, covering: float, radius: Radius
) -> float:
    if span == 0.0:
        return 0.0
    if radius is Radius.FINITE:
        return 2.0 * span * span * log(functions * horizon)
    if radius is Radius.COVER:
        return 2.0 * span * span * log(covering * horizon) + 6.0 * span
    return 11.0 * span * span * log(covering * horizon)


def _episodes(
    horizon: int,
    span: float,
    eluder: float,
    functions: float,
    alpha: float,
    switches: Switches,
) -> float:
    """Return the least of the bounds on K; there is an episode, and one per step."""
    found = [float(horizon)]
    if switches is not Switches.ELUDER and isfinite(functions):
        doublings = log2(1.0 + horizon * span * span / alpha)
        found.append(1.0 + functions * (functions - 1.0) / 2.0 * doublings)
    if switches is not Switches.PAIRS and horizon >= 4:
        bins = max(0.0, log2(span * sqrt(horizon))) + 2.0 if span else 2.0
        scores = 1.0 + bins * eluder * (4.0 * log(horizon) + 1.0)
        found.append(1.0 + 2.0 * scores)
    return min(found)


def _lacks(
    horizon: int,
    span: float,
    eluder: float,
    functions: float,
    covering: float,
    radius: Radius,
) -> tuple[str, ...]:
    missing = []
    if not isfinite(span):
        missing.append("a finite diameter: some state cannot be reached (Assumption 1)")
    if not isfinite(eluder):
        missing.append("an upper bound of the eluder dimension")
    if radius is Radius.FINITE and not isfinite(functions):
        missing.append("a finite class, or a radius that uses the covering number")
    if radius is not Radius.FINITE and not isfinite(covering):
        missing.append("an upper bound of the covering number")
    if radius is Radius.PAPER and (span < 1.0 or horizon < 2):
        missing.append(
            "a span of at least 1 and two steps for the radius's constant 11"
        )
    return tuple(missing)
