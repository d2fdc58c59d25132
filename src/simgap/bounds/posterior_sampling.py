"""Posterior sampling over a finite class: its mean regret over the prior (theory 4.15).

The agent. At the start t_k of episode k a model m_k is drawn from the posterior given
everything seen, and played by a policy greedy for its bias l_k until the end of the
episode: after a step by which some pair (s, a) has been played in this episode as often
as ever before it, and at least once ("its count has doubled"), or when the episode is
one step longer than the one before (T_k <= T_{k-1} + 1, T_0 = 0). A rule that waits
until the count has *more* than doubled is covered too: steps 2 and 5 hold for both. The
idea of the two rules is that of Ouyang, Gagrani, Nayyar and Jain (2017).

Theorem. For every prior over M >= 2 models, with P pairs (s, a) that some policy plays,
the mean over the prior of the regret is at most

    sqrt( (6 log(MH) + 1) H sum_{m != *} sp_m^2 ) + Dl K_H + (K_H - 1)(1 - rho)
        + Dl ((M-1)/M) (2 + (K_H - 1)/H)

with Dl = max sp_m, rho the mean of the gains over the prior (0 is right without knowing
them) and K_H <= (sqrt(m^2 + 8mH) - m)/2 <= sqrt(2mH), m = 1 + P (1 + log2(H/P)) for
H >= 2P, the number of episodes; for M = 1 it is sp_*. The mean gap is at most Dl more.

Proof. 1. (Posterior matching.) Given the history F_k before t_k, m_k and the real model
have the same law, so E g(m_k, X) = E g(m_*, X) if X is a function of F_k.

2. (Episodes.) Counts of one pair go 0, 1, >= 2, >= 4, ... at the ends they cause, so
they cause at most 1 + log2 N(s, a) ends, N its final count, and all pairs at most
P (1 + log2(H/P)), by concavity, if H >= 2P (and always at most H). Cut time at these
ends into at most m stretches. The first step of all visits a new pair, so every stretch
but the first starts after an episode of length >= 1, and the first stretch is one step.
In a stretch of n episodes all but the last end by length, so their lengths are at least
2, 3, ..., n, the last one's at least 1, together n(n+1)/2. Sum over stretches:
K^2/m + K <= 2H.

3. (Gains.) sum_k T_k (rho_* - rho_k) = sum_k T_k ((1 - rho_k) - (1 - rho_*)). Here
T_k <= T_{k-1} + 1, a function of F_k, and 1 - rho_k >= 0, so by 1. the mean is at most
E (1 - rho_*) [ sum_k (T_{k-1} + 1) - H ] <= E (1 - rho_*)(K - 1), since the T_{k-1} sum
to H - T_K <= H - 1.

4. (Bellman.) rho_k - R = P_k l_k - l_k(s) is the sum of (P_k - P_*) l_k <= sp_k TV, of
a martingale difference of mean 0, and of a telescoping part: Dl per episode.

5. (Concentration.) Let C_k be the models with L_m(t_k) > max_j L_j(t_k) / (MH), a set
that F_k knows. As in `likelihood_optimism`, except with probability (M-1)/(MH) the real
model is in all C_k (event G1), and except with the same probability (event G2) every
rival in C_k has sum_{i < t_k} TV_i^2 <= 3 log(MH), over all steps before the episode.
In the episode no pair is played more often than before it, except that one pair may be
played once more, by the last step; so the episode adds at most 3 log(MH) + 1. Take the
last episode with m_k = m in C_k: all steps of such episodes of m together have
sum TV^2 <= 6 log(MH) + 1. Cauchy-Schwarz twice gives the first term on G2; off G2
the parts sp_k TV <= Dl of all steps cost at most Dl H (M-1)/(MH).

6. (Bad draws.) Episodes with m_k outside C_k cost Dl T_k at most. By 1., with T_k <=
T_{k-1} + 1 again, their mean sum is at most Dl E[1(not G1) sum_k (T_{k-1} + 1)] <=
Dl (H + K_H - 1)(M-1)/(MH).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log, log2, sqrt

import numpy as np

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Quantity, named, upper_bound
from simgap.bounds.numbers import real, whole, widths

CLAIM = "posterior sampling"


def sampling_gap(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    pairs: int,
    mean_gain: float = 0.0,
) -> Bound:
    """Return the mean gap of posterior sampling over its prior (with Lemma 2)."""
    return _bound(Quantity.MEAN_BASE_GAP, horizon, spans, pairs, mean_gain)


def sampling_regret(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    pairs: int,
    mean_gain: float = 0.0,
) -> Bound:
    """Return the mean regret of posterior sampling over its prior.

    `pairs` counts the (s, a) that the policy of some model plays: at most S times the
    lesser of A and M.
    """
    return _bound(Quantity.MEAN_REGRET, horizon, spans, pairs, mean_gain)


def most_episodes(horizon: int, pairs: int) -> int:
    """Return K_H, the greatest number of episodes in H steps (step 2 above)."""
    H, P = whole("horizon", horizon), whole("pairs", pairs)
    ends = float(H)  # every step can end an episode
    if H >= 2 * P:
        ends = min(ends, P * (1.0 + log2(H / P)))
    stretches = 1.0 + floor(ends * (1.0 + 1e-12))  # the last one ends with the horizon
    root = sqrt(stretches * stretches + 8.0 * stretches * H)
    return min(H, floor((root - stretches) / 2.0 * (1.0 + 1e-12)))


def _bound(
    quantity: Quantity,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    pairs: int,
    mean_gain: float,
) -> Bound:
    given, pairs = widths("spans", spans), whole("pairs", pairs)
    loss = 1.0 - real("mean_gain", mean_gain, most=1.0)
    horizon = whole("horizon", horizon)
    M, widest = given.size, float(given.max())
    squares = np.square(given)
    rivals = float(squares.sum() - squares.min())
    more = 0.0 if quantity is Quantity.MEAN_REGRET else widest

    # Nondecreasing: while K stays, bad falls by less than Dl/h, unsure rises by more.
    def formula(h: int) -> float:
        if M == 1:
            return widest + more  # one bias, which telescopes over all episodes
        episodes, others = most_episodes(h, pairs), (M - 1) / M
        unsure = sqrt((6.0 * log(M * h) + 1.0) * h * rivals)
        bad = widest * others * (2.0 + (episodes - 1) / h)
        return unsure + widest * episodes + (episodes - 1) * loss + bad + more

    return upper_bound(
        CLAIM,
        quantity,
        formula,
        horizon,
        constants=named(
            M=M, Dl=widest, sp2=rivals, P=pairs, K=most_episodes(horizon, pairs)
        ),
    )
