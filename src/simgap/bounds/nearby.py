"""How much the values of two nearby models can differ (theory 4.1c, row 38).

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

from simgap.bounds.numbers import real, whole


def universal_lipschitz(*, horizon: int, diameter: float) -> float:
    """Return L_gap = H(H-1)/4 + (H-1) D/2, right for every policy and shared rewards.

    gap(M*) - gap(M) is a difference of optimal values plus one of the policy's values.
    """
    h, D = whole("horizon", horizon), real("diameter", diameter)
    return h * (h - 1) / 4.0 + ((h - 1) * D / 2.0 if h > 1 else 0.0)
