"""Algorithm 3 with Freedman's inequality: thresholds from variances (theory 4.14).

The agent is Algorithm 3: stat_n = sum P_k l_k (s_i, a_i) - l_k(s'_i) over the steps of
the current episode of model k. Beside it the agent keeps the variance that k itself
predicts, V_n = sum Var_{P_k(s_i, a_i)} l_k(s'). With b = sp(l_k), J = ceil(log2(max(1,
H/4))), L = log(2H(J+1)) and levels v_j = b^2 2^j, j = 0..J, model k is eliminated when

    |stat_n| > thr = bL/3 + sqrt( (bL/3)^2 + 2 v L ),  v the least level with v >= V_n.

Theorem. The real model is eliminated with probability at most 1/H. Otherwise, with e_k
= 1 if episode k ended by elimination and thr_k the threshold after n_k - e_k steps,

    sum_h (rho* - R_h) <= sum_k [ thr_k + e_k sp_k + sp_k ]        (pathwise), and
    Reg(H) <= 2 sqrt(L H sum_m sigma_m^2)
              + sum_m sp_m (2L/3 + sqrt(2L) + 2) - sp_* + 1,       gap <= Reg(H) + sp_*

where sigma_m is the greatest standard deviation of l_m(s') under P_m and its own
policy, at most sp_m / 2.

Proof. While the real model is played, stat is a martingale from a stopping time on,
with increments at most b and predictable variance V_n. Freedman's inequality holds for
all n at once: P(exists n: |stat_n| >= x, V_n <= v) <= 2 exp(-x^2 / (2 (v + bx/3))), and
thr solves x^2 = 2L (v + bx/3). A variance is at most b^2/4, so V_n <= H b^2/4 <= v_J,
some level is always there, and the J + 1 levels cost 2 (J+1) exp(-L) = 1/H in all. The
pathwise inequality is that of Theorem 6 (`simgap.bounds.upper`): nothing there depends
on how the threshold came about. Finally v <= max(b^2, 2 V_n) and V_n <= n sigma^2, so

    thr <= 2bL/3 + sqrt(2L) (b + sigma sqrt(2n)),

and sum_k sigma_k sqrt(n_k) <= sqrt(H sum_m sigma_m^2); an episode that ends at its
first step has statistic 0 before it. At most M episodes, all but the real model's
ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log, log2, sqrt

import numpy as np

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Quantity, named, upper_bound
from simgap.bounds.numbers import whole, widths
from simgap.errors import InvalidArgument

CLAIM = "variance-aware optimism"


def variance_gap(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    deviations: Sequence[float] | FloatArray | None = None,
) -> Bound:
    """Return the gap of Algorithm 3 with variance-aware thresholds, in every model.

    `deviations` are sigma_m, half the spans if they are not given.
    """
    return _bound(Quantity.BASE_GAP, horizon, spans, deviations)


def variance_regret(
    *,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    deviations: Sequence[float] | FloatArray | None = None,
) -> Bound:
    """Return the regret of Algorithm 3 with variance-aware thresholds."""
    return _bound(Quantity.REGRET, horizon, spans, deviations)


def _bound(
    quantity: Quantity,
    horizon: int,
    spans: Sequence[float] | FloatArray,
    deviations: Sequence[float] | FloatArray | None,
) -> Bound:
    given = widths("spans", spans)
    spread = given / 2.0 if deviations is None else widths("deviations", deviations)
    if spread.shape != given.shape or (spread > given / 2.0 * (1.0 + 1e-9)).any():
        raise InvalidArgument(
            f"deviations {spread.tolist()} for spans {given.tolist()}",
            hint="give one per model, at most half the span of its bias",
        )
    total, squares = float(given.sum()), float(np.square(spread).sum())
    real_model = float(given.min()) if quantity is Quantity.REGRET else 0.0

    def formula(h: int) -> float:
        level = _log_term(h)
        ends = total * (2.0 * level / 3.0 + sqrt(2.0 * level) + 2.0)
        return 2.0 * sqrt(level * h * squares) + ends - real_model + 1.0

    horizon = whole("horizon", horizon)
    return upper_bound(
        CLAIM,
        quantity,
        formula,
        horizon,
        constants=named(
            M=given.size, Dl=given.max(), sigma2=squares, L=_log_term(horizon)
        ),
    )


def _levels(horizon: int) -> int:
    return ceil(log2(max(1.0, horizon / 4.0)))


def _log_term(horizon: int) -> float:
    return log(2.0 * horizon * (_levels(horizon) + 1))
