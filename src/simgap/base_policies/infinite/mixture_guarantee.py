"""Theorem 7 on linear mixtures: what Algorithm 4 can lose, with every constant.

Write Gamma = log det(V_H / ridge) for all data of a run, beta for the greatest square
radius, Dl for the greatest span of a bias that was played, K for the number of
episodes. On the event that the real u* stays in every set (probability 1 - failure):

1. Gamma <= r log(1 + H L^2 / (r ridge)), |x| <= L (trace and determinant).
2. beta <= Gamma / 4 + log(1 / failure) / 2 + ridge.
3. K <= 1 + Gamma / log 2: det V doubles at every switch.
4. Within an episode V_h < 2 V before every step, so relaxed P l - P* l is at most
   Dl min(1, 2 sqrt(2 beta) |x_h| in the norm of V_h^-1), and the sum over all steps is
   at most Dl max(1, 2 sqrt(2 beta)) sqrt(2 H Gamma) (elliptical potential lemma).
5. l telescopes inside an episode: at most K Dl. The noise P* l - l(s') is stopped when
   u* leaves a set and has mean 0. Planning costs its defect at every step, and so do
   steps whose bias hardly varies, which are not kept as data.
6. Dl <= D (spread of rewards + defect), D the diameter of the real model alone.

What happens after u* left a set costs at most H spread failure.

    Reg(H) <= Dl [max(1, 2 sqrt(2 beta)) sqrt(2 H Gamma) + K]
              + H defect + H spread failure

With failure = 1/H and 8 beta >= 1 the leading term is 4 Dl sqrt(beta Gamma H), of order
D r sqrt(H) log H: the dimension r takes the place of the eluder dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log, log1p, sqrt
from typing import final

from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True)
class MixtureGuarantee:
    """Bounds that hold whichever model of the class is the real one."""

    regret: float  # on Reg(H) = E[H rho* - rewards]
    gap: float  # on V* - V of the agent, which is at most regret + D spread
    switches: float  # K - 1, surely
    square_radius: float  # beta
    log_volume: float  # Gamma
    failure: float  # chance that the real model ever leaves the set
    diameter: float  # of the real model, as supposed
    vacuous: bool  # whether the regret bound exceeds H spread


def mixture_guarantee(
    *,
    dimension: int,
    feature_bound: float,
    horizon: int,
    ridge: float,
    diameter: float,
    spread: float = 1.0,
    defect: float = 0.0,
) -> MixtureGuarantee:
    """Return the bounds above for a real model of diameter D (theory 4.7 and 4.16)."""
    if horizon < 1 or dimension < 0:
        raise InvalidArgument(
            f"horizon {horizon} and dimension {dimension}",
            hint="give a horizon from 1 on and a dimension from 0 on",
        )
    for name, value in (("diameter", diameter), ("spread", spread)):
        if not (isfinite(value) and value >= 0.0):
            raise InvalidArgument(f"{name} is {value}", hint="it is finite and >= 0")
    if not (isfinite(ridge) and ridge > 0.0):
        raise InvalidArgument(f"ridge is {ridge}", hint="it is a positive number")
    failure = 1.0 / horizon
    volume = 0.0
    if dimension > 0:
        volume = dimension * log1p(horizon * feature_bound**2 / (dimension * ridge))
    beta = 0.25 * volume + 0.5 * log(horizon) + ridge
    switches = volume / log(2.0)
    span = diameter * (spread + defect)
    learning = max(1.0, 2.0 * sqrt(2.0 * beta)) * sqrt(2.0 * horizon * volume)
    regret = span * (learning + switches + 1.0) + horizon * defect + spread
    return MixtureGuarantee(
        regret=regret,
        gap=regret + diameter * spread,
        switches=switches,
        square_radius=beta,
        log_volume=volume,
        failure=failure,
        diameter=diameter,
        vacuous=regret > horizon * spread,
    )
