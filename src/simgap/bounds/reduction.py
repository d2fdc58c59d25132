"""Lemma 1: the oracle is not much worse than any base policy.

Finite (theory 4.1a). The oracle's policy maximises the mean value over the prior, so
its mean gap is at most that of every policy. No gap is negative, so the gap in one
model is at most the mean gap divided by the prior weight of this model. For a policy
whose mean value is within eta of the best,

    sum_m nu_m gap(pi, m) <= sum_m nu_m gap(pi_hat, m) + eta,
    gap(pi, m) <= [ sum_m nu_m gap(pi_hat, m) + eta ] / nu(m).

Infinite (theory 4.1c). If gap(pi_DR, M*) - gap(pi_DR, M) <= L_gap d(M, M*) in the ball
C_eps around M*, then integrating over the ball

    gap(pi_DR, M*) <= E_nu[gap(pi_hat, M)] / nu(C_eps) + L_gap eps.

The paper asks only that the *value* of pi_DR is L-Lipschitz (Assumption 3), and that is
not enough (errata E9): in Proposition 2 the oracle never leaves an arm whose mean is
the same in all models, so L = 0 for every metric, and the statement would bound a gap
of (H - 1)/2 by that of "play arm 2 until it fails", which is below 1/2.

What real data do to the gap bound: the prior becomes a posterior (theory 7.4).

After real episodes the oracle is solved again for the posterior nu_t, and Lemma 1
gives, given the data, gap <= C / nu_t(M*) for a base policy of gap C. On average that
is never worse: E[1/nu_t(M*)] <= 1/nu(M*) however data are collected, since 1/nu_t(M*) =
1 + sum_j (nu_j/nu_*) L_j/L_* and likelihood ratios are supermartingales of mean <= 1.
With kernels of common support it is an *equality*: the mean does not improve, because
rare bad data keep it up.

How much the values of two nearby models can differ (theory 4.1c, row 38).

With d = max over (s, a) of || P_1 - P_2 ||_1 and rewards in [0, 1]:

    |V^pi_1 - V^pi_2| <= d H(H-1)/4                    for every history-dependent pi
    |V*_1 - V*_2|     <= d (H-1) min(D_1, D_2) / 2

Proof: replace one model by the other step by step. At step h the continuation values
have range at most H - h (the values of pi), or span at most D (optimal values, of the
model with the smaller diameter), and a difference of kernels integrates a function of
span w to at most w d / 2. If max R - min R is w, both lines are multiplied by w. If the
rewards of the two models differ by at most r, both lines gain H r.

Together they make the gap of every policy Lipschitz, with the universal constant that
the corrected Lemma 1 takes when nothing better is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from simgap.arrays import FloatArray
from simgap.bounds.bound import (
    LITERAL,
    Bound,
    Formula,
    Kind,
    Quantity,
    first_below,
    named,
)
from simgap.bounds.numbers import real, whole, widths
from simgap.errors import InvalidArgument
from simgap.records.bounds import Constant

BASES = (Quantity.BASE_GAP, Quantity.MEAN_BASE_GAP)


def base_policy_transfer(
    base: Bound, *, weight: float, eta: float = 0.0, claim: str = "Lemma 1"
) -> Bound:
    """Return (C + eta) / nu(m), the gap in a model of prior weight nu(m) (Lemma 1).

    `base` bounds the gap of a base policy, in every model or in the mean over the same
    prior; `eta` is what the policy's mean value lacks to the best one. A uniform prior
    has weight 1/M: the M C of the paper.
    """
    weight = real("weight", weight, most=1.0)
    eta = real("eta", eta)
    unmet = () if weight else ("a positive prior weight of the model",)
    return _transferred(
        base,
        claim,
        Quantity.ORACLE_GAP,
        lambda gap: (gap + eta) / weight if weight else inf,
        constants=named(nu=weight, eta=eta),
        unmet=unmet,
    )


def mean_transfer(base: Bound, *, eta: float = 0.0, claim: str = "Lemma 1") -> Bound:
    """Return C + eta, which bounds the oracle's mean gap over the prior (Lemma 1)."""
    eta = real("eta", eta)
    return _transferred(
        base,
        claim,
        Quantity.MEAN_ORACLE_GAP,
        lambda gap: gap + eta,
        constants=named(eta=eta),
    )


def neighbourhood_transfer(
    base: Bound,
    *,
    radii: Sequence[float] | FloatArray,
    masses: Sequence[float] | FloatArray,
    lipschitz: float,
    eta: float = 0.0,
    claim: str = "Lemma 1",
) -> Bound:
    """Return min over eps of (C + eta) / nu(C_eps) + L_gap eps (Lemma 1, corrected).

    `radii` are values of eps below eps_0, `masses` the prior weights of those balls
    around the real model, `lipschitz` the constant L_gap of the *gap* there.
    """
    balls = _balls(radii, masses)
    lipschitz, eta = real("lipschitz", lipschitz), real("eta", eta)
    found = _transferred(
        base,
        claim,
        Quantity.ORACLE_GAP,
        lambda gap: min(_of_ball(gap + eta, ball, lipschitz) for ball in balls),
        constants=named(L_gap=lipschitz, eta=eta),
        unmet=() if any(mass for _, mass in balls) else ("a ball of positive mass",),
        one_horizon=lipschitz > 0.0,
    )
    best = min(balls, key=lambda ball: _of_ball(base.value + eta, ball, lipschitz))
    ball = named(eps=best[0], mass=best[1])
    return replace(found, constants=found.constants + ball)


def neighbourhood_transfer_literal(
    base: Bound,
    *,
    radii: Sequence[float] | FloatArray,
    masses: Sequence[float] | FloatArray,
    lipschitz: float,
) -> Bound:
    """Return C / nu(C_eps) + L eps as printed, L of the *value*: false (errata E9)."""
    found = neighbourhood_transfer(
        base,
        radii=radii,
        masses=masses,
        lipschitz=lipschitz,
        claim="Lemma 1 (infinite class)",
    )
    named_l = tuple(
        replace(each, name="L") if each.name == "L_gap" else each
        for each in found.constants
    )
    return replace(found, constants=named_l, label=LITERAL)


def known_base_gap(
    gap: float, *, horizon: int, quantity: Quantity = Quantity.BASE_GAP
) -> Bound:
    """Return a base policy's gap that was computed, as what Lemma 1 starts from.

    It is the greatest gap over the class, or with MEAN_BASE_GAP its prior mean.
    """
    return Bound(
        claim="base policy",
        quantity=quantity,
        kind=Kind.UPPER,
        value=real("gap", gap),
        horizon=whole("horizon", horizon),
        constants=named(C=gap),
    )


def _transferred(
    base: Bound,
    claim: str,
    quantity: Quantity,
    transfer: Callable[[float], float],
    *,
    constants: tuple[Constant, ...],
    unmet: tuple[str, ...] = (),
    one_horizon: bool = False,
) -> Bound:
    if base.quantity not in BASES or base.kind is not Kind.UPPER:
        raise InvalidArgument(
            f"{base.claim} bounds the {base.quantity.value}",
            hint="Lemma 1 starts from an upper bound on the gap of a base policy",
        )
    formula = None if one_horizon else _composed(transfer, base.formula)
    return Bound(
        claim=claim,
        quantity=quantity,
        kind=Kind.UPPER,
        value=transfer(base.value),
        horizon=base.horizon,
        constants=base.constants + constants,
        unmet=base.unmet + unmet,
        non_vacuous_from=None if formula is None else first_below(formula),
        label=base.label,
        formula=formula,
    )


def _composed(
    transfer: Callable[[float], float], formula: Formula | None
) -> Formula | None:
    if formula is None:
        return None
    return lambda horizon: transfer(formula(horizon))


def _balls(
    radii: Sequence[float] | FloatArray, masses: Sequence[float] | FloatArray
) -> tuple[tuple[float, float], ...]:
    sizes, weights = widths("radii", radii), widths("masses", masses)
    if sizes.shape != weights.shape:
        raise InvalidArgument(
            f"{sizes.size} radii and {weights.size} masses",
            hint="give one mass per ball",
        )
    for mass in weights:
        real("mass", float(mass), most=1.0 + 1e-9)
    return tuple(zip(map(float, sizes), map(float, weights), strict=True))


def _of_ball(gap: float, ball: tuple[float, float], lipschitz: float) -> float:
    radius, mass = ball
    return gap / mass + lipschitz * radius if mass else inf


def posterior_gap(base_gap: float, *, posterior: float, horizon: int) -> Bound:
    """Return min(H, C / nu_t(M*)), the gap of the posterior's oracle (theory 7.4)."""
    gap, weight = real("base_gap", base_gap), real("posterior", posterior, most=1.0)
    horizon = whole("horizon", horizon)
    return Bound(
        claim="Lemma 1 (posterior)",
        quantity=Quantity.ORACLE_GAP,
        kind=Kind.UPPER,
        value=min(float(horizon), gap / weight) if weight else float(horizon),
        horizon=horizon,
        constants=named(C=gap, nu_t=weight),
    )


def universal_lipschitz(*, horizon: int, diameter: float) -> float:
    """Return L_gap = H(H-1)/4 + (H-1) D/2, right for every policy and shared rewards.

    gap(M*) - gap(M) is a difference of optimal values plus one of the policy's values.
    """
    h, D = whole("horizon", horizon), real("diameter", diameter)
    return h * (h - 1) / 4.0 + ((h - 1) * D / 2.0 if h > 1 else 0.0)
