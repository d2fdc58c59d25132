"""What real data do to the gap bound: the prior becomes a posterior (theory 7.4).

After real episodes the oracle is solved again for the posterior nu_t, and Lemma 1
gives, given the data, gap <= C / nu_t(M*) for a base policy of gap C. How large is
1/nu_t(M*)?

1. Never worse on average: E[1/nu_t(M*)] <= 1/nu(M*) however data are collected, since
   1/nu_t(M*) = 1 + sum_j (nu_j/nu_*) L_j/L_* and likelihood ratios are supermartingales
   of mean <= 1. With kernels of common support it is an *equality*: the mean does not
   improve, because rare bad data keep it up.
2. Typically much better. Suppose that by then each rival has had n visits to a pair
   (s, a) where it is delta away from the real model. Then for x > 0

       P( 1/nu_t(M*) > 1 + x ) <= Q x^(-1/2) exp(-n delta^2/8),
       Q = sum_{j != *} sqrt(nu_j/nu_*),   M - 1 for a uniform prior,

   by Markov's inequality for the square root of the sum, sqrt(sum a) <= sum sqrt(a),
   and E sqrt(L_j/L_*) <= BC^n <= exp(-n delta^2/8): steps elsewhere only lower that
   mean. (A union over rivals would have (M-1)^(3/2) in place of M - 1.)
3. Hence E[gap] <= (1 + x) C + H Q x^(-1/2) exp(-n delta^2/8), least at
   x = (H Q exp(-n delta^2/8) / (2C))^(2/3), where it is C (1 + 3x). A gap is never more
   than H, so that H is returned where it is less.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, sqrt

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Kind, Quantity, named
from simgap.bounds.numbers import real, whole, widths
from simgap.errors import InvalidArgument


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


def mean_inverse_posterior(prior: float) -> float:
    """Return 1/nu(M*), at least E[1/nu_t(M*)] after any data (part 1)."""
    weight = real("prior", prior, most=1.0)
    return 1.0 / weight if weight else inf


def posterior_tail(
    excess: float, *, rivals: float, visits: int, separation: float
) -> float:
    """Return Q x^(-1/2) exp(-n delta^2/8), at least P(1/nu_t(M*) > 1 + x) (part 2).

    `rivals` is Q: `rival_weight(prior, member)`, or M - 1 for a uniform prior.
    """
    x = real("excess", excess, above=True)
    return min(1.0, _missed(rivals, visits, separation) / sqrt(x))


def fine_tuned_gap(
    base_gap: float,
    *,
    horizon: int,
    rivals: float,
    visits: int,
    separation: float,
) -> Bound:
    """Return C (1 + 3x), the mean gap after n visits to each rival's pair (part 3)."""
    gap, horizon = real("base_gap", base_gap), whole("horizon", horizon)
    missed = horizon * _missed(rivals, visits, separation)
    # C (1 + 3x) with x = (missed / 2C)^(2/3), written so that C = 0 needs no division
    value = gap + 3.0 * gap ** (1.0 / 3.0) * (missed / 2.0) ** (2.0 / 3.0)
    return Bound(
        claim="fine-tuning",
        quantity=Quantity.ORACLE_GAP,
        kind=Kind.UPPER,
        value=min(float(horizon), value),
        horizon=horizon,
        constants=named(C=gap, Q=rivals, n=visits, delta=separation),
    )


def rival_weight(prior: Sequence[float] | FloatArray, member: int) -> float:
    """Return Q = sum over j != m of sqrt(nu_j / nu_m); inf without prior weight."""
    weights = widths("prior weights", prior)
    at = whole("member", member, least=0, most=weights.size - 1)
    if abs(float(weights.sum()) - 1.0) > 1e-9:
        raise InvalidArgument(
            f"the prior sums to {float(weights.sum())}", hint="a prior sums to 1"
        )
    own = float(weights[at])
    if own == 0.0:
        return inf
    return sum(sqrt(float(each) / own) for j, each in enumerate(weights) if j != at)


def _missed(rivals: float, visits: int, separation: float) -> float:
    n, delta = (
        whole("visits", visits, least=0),
        real("separation", separation, most=2.0),
    )
    return real("rivals", rivals) * exp(-n * delta * delta / 8.0)
