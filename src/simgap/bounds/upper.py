"""Theorems 1, 2, 5 and 6 with every constant: separated and finite classes.

Theorem 5 (theory 4.5). With C1 = n0 (M-1)(2D(M+2)+1) + D + 1, Algorithm 1 loses at most
C1 in every model. For every fixed t, V*_1(s_1) <= t + D + V*_{t+1}(s_{t+1}), since a
walk to the best state costs at most D. This is used pathwise at the end of stage 1
(the paper conditions one process on the stopping time of another, errata E27). From
there on the optimal policy is played. The event that the real model was dropped has
probability at most 1/H and costs at most H.

Theorem 6 (theory 4.6). Let the statistic of Algorithm 3 have threshold thr_k(n), e_k =
1 if episode k ended by elimination. Unless the real model is eliminated,

    sum_h (rho* - R_h) <= sum_k [ thr_k(n_k - e_k) + e_k sp_k + sp_k ],

because rho_k >= rho*, rho_k - R = P_k l_k - l_k(s), the rule was not broken one step
earlier, and the bias telescopes inside an episode (errata E29: not across episodes).
Cauchy-Schwarz over at most M episodes, all but the real model's ending by elimination:

    Reg(H) <= sqrt(H log(2H^2)/2 sum_m sp_m^2) + 2 sum_m sp_m - sp_* + 1,

and the gap is at most Reg(H) + sp_* (Lemma 2). The real model is eliminated with
probability at most sum_n 2 exp(-2 thr(n)^2 / (n sp^2)) = 1/H (errata E28: its
episode begins at a random time). Every span is at most the diameter D, which may take
its place: C2 is then D sqrt(MH log(2H^2)/2) + 2MD + 1.

Theorems 1 and 2 add Lemma 1: the mean gap of the oracle is at most that of any base
policy, and its gap in one model is at most this mean divided by the prior weight of the
model.

Rewards that depend on the model and are seen by the agent (theory 7.2).

Shared rewards carry no information, and all bounds of this room assume them. If rewards
in [0, 1] depend on the model and the agent sees them, what it observes is (r, s'):

* Algorithm 1 compares likelihoods of pairs; C1 is unchanged, with delta the separation
  of the joint laws.
* Algorithm 3's statistic becomes sum R_k + P_k l_k - r - l_k(s'), of width sp(l_k) + 1
  a step. The threshold, and what the last step of an episode adds, grow with it.
* Algorithm 4's functions become f_M = R_M + P_M l, with values in [0, Dl + 1].
* In optimism by likelihood ratios and in posterior sampling (P_k - P_*) l_k becomes the
  difference of the means of r + l_k(s') under two joint laws, at most (sp_k + 1) TV.
* Lemmas 1, 2 and 3 do not change.

So the bounds hold if every span, or the diameter in its place, is increased by 1. If
rewards depend on the model and are *not* seen, only Theorems 1 and 5 remain valid: they
identify the model by its kernel. The other agents trust a model until an observation
contradicts it, and no observation need ever contradict a wrong reward.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import hypot, inf, log, sqrt

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.bounds.bound import Bound, Quantity, named, upper_bound
from simgap.bounds.comparisons import ComparisonRule, Travel, lacks, times, trips
from simgap.bounds.numbers import real, whole, widths
from simgap.bounds.reduction import base_policy_transfer
from simgap.records.bounds import Constant


class ProvedThreshold(Enum):
    """When a statistic of n steps contradicts candidate k (theory 3.2)."""

    SHARP = "sp_k sqrt(n log(2 H^2) / 2)"
    ONE_SIDED = "sp_k sqrt(n log(H^2) / 2), for the statistic without its modulus"
    PAPER = "D sqrt(2 n log(2 H M)), n counting from 1 (errata E17)"


def separated_class(
    rule: ComparisonRule,
    *,
    horizon: int,
    members: int,
    diameter: float,
    weight: float | None = None,
    travel: Travel = Travel.REMAINING,
) -> Bound:
    """Return the gap of the oracle in a separated class, C1 / nu(m) (Theorem 1).

    `weight` is the prior of the model, 1/M unless given.
    """
    base = elimination_gap(
        rule, horizon=horizon, members=members, diameter=diameter, travel=travel
    )
    weight = 1.0 / members if weight is None else weight
    return base_policy_transfer(base, weight=weight, claim="Theorem 1")


def elimination_gap(
    rule: ComparisonRule,
    *,
    horizon: int,
    members: int,
    diameter: float,
    travel: Travel = Travel.REMAINING,
) -> Bound:
    """Return C1, the gap of Algorithm 1 in every model (Theorem 5, theory 4.5)."""
    horizon, members = whole("horizon", horizon), whole("members", members)
    diameter = real("diameter", diameter)
    cost = trips(members, diameter, travel)

    def formula(h: int) -> float:
        if members == 1:
            return 0.0  # nothing to find out
        return times(rule.samples(h, members), cost) + diameter + 1.0

    return upper_bound(
        "Theorem 5",
        Quantity.BASE_GAP,
        formula,
        horizon,
        constants=(
            *named(n0=rule.samples(horizon, members), D=diameter, M=members),
            *_settings(rule),
        ),
        unmet=() if members == 1 else lacks(rule, members, diameter),
    )


def finite_class(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    weight: float | None = None,
    threshold: ProvedThreshold = ProvedThreshold.SHARP,
    diameter: float = inf,
) -> Bound:
    """Return the gap of the oracle in a finite class, C2 / nu(m) (Theorem 2)."""
    base = optimistic_gap(
        horizon=horizon, spans=spans, threshold=threshold, diameter=diameter
    )
    weight = 1.0 / len(spans) if weight is None else weight
    return base_policy_transfer(base, weight=weight, claim="Theorem 2")


def optimistic_gap(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    threshold: ProvedThreshold = ProvedThreshold.SHARP,
    diameter: float = inf,
) -> Bound:
    """Return C2, the gap of Algorithm 3 in every model (Theorem 6 with Lemma 2)."""
    widths_ = widths("spans", spans)
    constants = _optimism_constants(widths_, threshold, diameter)
    boundary = 2.0 * float(widths_.sum()) + 1.0
    return upper_bound(
        "Theorem 6",
        Quantity.BASE_GAP,
        lambda h: _deviation(h, widths_, threshold, diameter) + boundary,
        whole("horizon", horizon),
        constants=constants,
        unmet=_optimism_lacks(widths_, threshold, diameter),
    )


def optimistic_regret(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    threshold: ProvedThreshold = ProvedThreshold.SHARP,
    diameter: float = inf,
) -> Bound:
    """Return the bound on the regret of Algorithm 3 in every model (Theorem 6).

    `spans` are those of the biases, or M times the diameter, or M times the greatest
    span. The paper's threshold needs the diameter besides.
    """
    widths_ = widths("spans", spans)
    # the real model's own span is subtracted; it is unknown, so the least one is
    boundary = 2.0 * float(widths_.sum()) - float(widths_.min()) + 1.0
    return upper_bound(
        "Theorem 6",
        Quantity.REGRET,
        lambda h: _deviation(h, widths_, threshold, diameter) + boundary,
        whole("horizon", horizon),
        constants=_optimism_constants(widths_, threshold, diameter),
        unmet=_optimism_lacks(widths_, threshold, diameter),
    )


def _deviation(
    horizon: int, spans: FloatArray, threshold: ProvedThreshold, diameter: float
) -> float:
    """Return the sum of thresholds over M episodes that share H steps, at most."""
    if threshold is ProvedThreshold.PAPER:
        M = spans.size
        return diameter * sqrt(2.0 * M * horizon * log(2.0 * horizon * M))
    sides = 1.0 if threshold is ProvedThreshold.ONE_SIDED else 2.0
    level = log(sides * float(horizon) ** 2) / 2.0
    return sqrt(horizon * level) * hypot(*spans)


def _optimism_constants(
    spans: FloatArray, threshold: ProvedThreshold, diameter: float
) -> tuple[Constant, ...]:
    constants = named(M=spans.size, sp=spans.max(), sp2=np.square(spans).sum())
    if threshold is ProvedThreshold.PAPER:
        constants += named(D=diameter)
    return constants


def _optimism_lacks(
    spans: FloatArray, threshold: ProvedThreshold, diameter: float
) -> tuple[str, ...]:
    if threshold is not ProvedThreshold.PAPER:
        return ()
    if real("diameter", diameter) == inf:
        return ("a finite diameter, which the paper's threshold is made of",)
    if diameter < spans.max():
        return ("a diameter no less than the spans of the biases (Lemma 3)",)
    return ()


def _settings(rule: ComparisonRule) -> tuple[Constant, ...]:
    return tuple(
        Constant("delta" if name == "separation" else name, float(getattr(rule, name)))
        for name in rule.__dataclass_fields__
    )


def with_model_rewards(spans: Sequence[float] | FloatArray) -> FloatArray:
    """Return sp + 1 for every model: with rewards that tell models apart."""
    wider: FloatArray = owned(widths("spans", spans) + 1.0)
    return wider
