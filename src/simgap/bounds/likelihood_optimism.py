"""Optimism with likelihood ratios, better than Algorithm 3 (theory 4.13).

The agent. L_m(t) is the likelihood of all transitions so far under model m. Model m is
dropped for good as soon as max_j L_j >= MH L_m, the maximum over all models or over
those that survive (the proof needs only the real one in it). The surviving model k of
greatest gain is played, by a policy greedy for its bias l_k. A new episode begins when
k is dropped.

Theorem. With Dl = max_m sp(l_m), the real model is dropped with probability at most
(M-1)/(MH), and in every model of the class

    Reg(H) <= sqrt( 3 H log(MH) sum_{m != *} sp_m^2 ) + 2 sum_m sp_m - sp_*
              + Dl sqrt((M-1)/(2M)) + 2 (M-1)/M
           <= Dl sqrt(3 (M-1) H log(MH)) + (2M - 1) Dl + Dl/sqrt(2) + 2,
    gap    <= Reg(H) + sp_*.

Proof. 1. Under the real model L_j/L_* is a nonnegative supermartingale of mean <= 1,
however actions are chosen. By Ville's inequality and a union over M - 1 rivals, the
real model survives (event G1) except with probability (M-1)/(MH).

2. Let BC_t(k) = sum_s' sqrt(P_k P_*)(s'|s_t, a_t), known before s' is drawn. Then
sqrt(L_k/L_*) / prod_{i<=t} BC_i(k) is a nonnegative martingale of mean 1, up to the
time when BC = 0, after which L_k = 0. So (event G2, again except with (M-1)/(MH)) for
all rivals k and all times  sum_i -log BC_i(k) <= log(MH) + (1/2) log(L_*/L_k).  As long
as k survives, L_*/L_k < MH and the sum is at most (3/2) log(MH). It runs over all steps
of the past, whichever model was played, and -log BC >= -(1/2) log(1 - TV^2) >= TV^2/2.

3. On G1 the gain of the model played is at least rho*, and a greedy policy has
rho_k - R = P_k l_k - l_k(s). Hence sum_h (rho* - R_h) is at most the sum of
  (a) (P_k - P_*) l_k (s_h, a_h) <= sp_k TV_h(k),
  (b) P_* l_k (s_h, a_h) - l_k(s_{h+1}), a martingale,
  (c) l_k(s_{h+1}) - l_k(s_h), at most sp_k per episode.
(c) Every episode has its own model, so the total is at most sum_m sp_m.
(a) is 0 for the real model. An episode of a rival k with n_k steps: at its last step,
if k is dropped there, (a) is at most sp_k; before it, Cauchy-Schwarz and 2. give
sp_k sqrt(3 n_k log(MH)). The real model is not dropped, so last steps cost at most
sum_m sp_m - sp_* in all, and a second Cauchy-Schwarz over rivals gives the first term.
(b) has mean 0 and variance at most H Dl^2/4, so its mean on G = G1 and G2 is minus that
off G, at most sqrt(H Dl^2/4) sqrt(2 (M-1)/(MH)) = Dl sqrt((M-1)/(2M)).
Off G the regret is at most H: 2 (M-1)/M.  For M = 1 the formula is Reg(H) <= sp_*.

Neither a separation nor a diameter enters. In the worst case this is no better than
Theorem 6, 3 log(MH) against log(2H^2)/2; what is gained is how soon wrong models are
dropped on a given class: after about log(MH) divided by the divergence of the two
models on the data, wherever these come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Quantity, named, upper_bound
from simgap.bounds.numbers import whole, widths

CLAIM = "likelihood-ratio optimism"


def likelihood_gap(*, horizon: int, spans: Sequence[float] | FloatArray) -> Bound:
    """Return the gap of optimism with likelihood ratios, in every model."""
    given = widths("spans", spans)
    boundary = 2.0 * float(given.sum())  # sp_* of the regret and of Lemma 2 cancel
    return upper_bound(
        CLAIM,
        Quantity.BASE_GAP,
        lambda h: _inside(h, given) + boundary,
        whole("horizon", horizon),
        constants=named(M=given.size, Dl=given.max(), sp2=_rivals(given)),
    )


def likelihood_regret(*, horizon: int, spans: Sequence[float] | FloatArray) -> Bound:
    """Return the regret of optimism with likelihood ratios, in every model."""
    given = widths("spans", spans)
    boundary = 2.0 * float(given.sum()) - float(given.min())
    return upper_bound(
        CLAIM,
        Quantity.REGRET,
        lambda h: _inside(h, given) + boundary,
        whole("horizon", horizon),
        constants=named(M=given.size, Dl=given.max(), sp2=_rivals(given)),
    )


def _inside(horizon: int, spans: FloatArray) -> float:
    """Return all terms but those at the ends of episodes."""
    M = spans.size
    level = 3.0 * log(M * horizon)
    others = (M - 1) / M
    unsure = sqrt(horizon * level * _rivals(spans))
    return unsure + float(spans.max()) * sqrt(others / 2.0) + 2.0 * others


def _rivals(spans: FloatArray) -> float:
    """Return sum over m != * of sp_m^2 at its greatest over the real model."""
    squares = np.square(spans)
    return float(squares.sum() - squares.min())
