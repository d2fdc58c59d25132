"""Lemmas 2 and 3: values over H steps, the average reward, and spans (theory 4.2).

With r0 = min R, r1 = max R, D the diameter of the model and l a solution of the
optimality equation,

    sp(l) <= D (rho* - r0)            along the fastest path, every step costs rho* - R
    H rho* + l(s1) - max l <= V*_1(s1) <= H rho* + l(s1) - min l
    sp(V*_h) <= D (r1 - r0)           walk to the better state, lose r1 - r0 a step
    gap(pi) <= Reg(H) + sp(l)

The second line gives |V*_1 - H rho*| <= sp(l) <= D, the Lemma 2 of the paper.
"""

from __future__ import annotations

from simgap.bounds.bound import Bound, Kind, Quantity, named
from simgap.bounds.numbers import real


def bias_span(diameter: float, gain: float, *, least_reward: float = 0.0) -> Bound:
    """Return D (rho* - min R), at least the span of every bias (Lemma 3)."""
    D = real("diameter", diameter)
    above = real("gain", gain, least=least_reward) - least_reward
    return Bound(
        claim="Lemma 3",
        quantity=Quantity.BIAS_SPAN,
        kind=Kind.UPPER,
        value=D * above if above else 0.0,
        horizon=None,
        constants=named(D=D, rho=gain, r0=least_reward),
    )


def value_span(
    diameter: float, *, least_reward: float, greatest_reward: float
) -> Bound:
    """Return D (max R - min R), at least the span of V*_h at every step h."""
    D = real("diameter", diameter)
    spread = real("greatest_reward", greatest_reward, least=least_reward) - least_reward
    return Bound(
        claim="Lemma 3",
        quantity=Quantity.VALUE_SPAN,
        kind=Kind.UPPER,
        value=D * spread if spread else 0.0,
        horizon=None,
        constants=named(D=D, r0=least_reward, r1=greatest_reward),
    )
