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
from simgap.records import Constant

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
