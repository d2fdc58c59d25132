"""What real data do to the gap bound: the prior becomes a posterior (theory 7.4).

After real episodes the oracle is solved again for the posterior nu_t, and Lemma 1
gives, given the data, gap <= C / nu_t(M*) for a base policy of gap C. On average that
is never worse: E[1/nu_t(M*)] <= 1/nu(M*) however data are collected, since 1/nu_t(M*) =
1 + sum_j (nu_j/nu_*) L_j/L_* and likelihood ratios are supermartingales of mean <= 1.
With kernels of common support it is an *equality*: the mean does not improve, because
rare bad data keep it up.
"""

from __future__ import annotations

from simgap.bounds.bound import Bound, Kind, Quantity, named
from simgap.bounds.numbers import real, whole


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
