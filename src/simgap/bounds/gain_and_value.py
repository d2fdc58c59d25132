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

from simgap.bounds.bound import Bound, Kind, Quantity, named, upper_bound
from simgap.bounds.numbers import real, whole
from simgap.errors import InvalidArgument


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


def value_above(*, horizon: int, gain: float, bias_at_start: float) -> Bound:
    """Return H rho* + l(s1), at least V*_1(s1) if min l = 0 (Lemma 2)."""
    horizon, start = whole("horizon", horizon), real("bias_at_start", bias_at_start)
    return Bound(
        claim="Lemma 2",
        quantity=Quantity.VALUE,
        kind=Kind.UPPER,
        value=horizon * gain + start,
        horizon=horizon,
        constants=named(rho=gain, l=start),
        formula=lambda h: h * gain + start,
    )


def value_below(
    *, horizon: int, gain: float, bias_at_start: float, bias_span: float
) -> Bound:
    """Return H rho* + l(s1) - sp(l), at most V*_1(s1) if min l = 0 (Lemma 2)."""
    horizon, span = whole("horizon", horizon), real("bias_span", bias_span)
    start = real("bias_at_start", bias_at_start, most=span)
    return Bound(
        claim="Lemma 2",
        quantity=Quantity.VALUE,
        kind=Kind.LOWER,
        value=horizon * gain + start - span,
        horizon=horizon,
        constants=named(rho=gain, l=start, sp=span),
        formula=lambda h: h * gain + start - span,
    )


GAPS = {
    Quantity.REGRET: Quantity.BASE_GAP,
    Quantity.MEAN_REGRET: Quantity.MEAN_BASE_GAP,
}


def gap_from_regret(regret: Bound, *, span: float) -> Bound:
    """Return Reg(H) + sp(l), which bounds the gap (Lemma 2); D bounds sp(l)."""
    formula, more = regret.formula, real("span", span)
    if regret.quantity not in GAPS or formula is None or regret.horizon is None:
        raise InvalidArgument(
            f"{regret.claim} bounds the {regret.quantity.value}",
            hint="Lemma 2 starts from a bound on the regret",
        )
    return upper_bound(
        regret.claim,
        GAPS[regret.quantity],
        lambda h: formula(h) + more,
        regret.horizon,
        constants=regret.constants,
        unmet=regret.unmet,
    )
