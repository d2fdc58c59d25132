"""Does any model explain the data? p-values that no way of collecting data can fool.

For a model m let E_t be the likelihood of the first t transitions under some mixture Q
of other laws, divided by their likelihood under P_m. Q predicts the next successor of
(s, a) from what was seen before, q_t(s'), and if m is real

    E[ E_{t+1} / E_t | past, s, a ] = sum of q_t(s') over s' with P_m(s'|s,a) > 0 <= 1,

whatever rule chose (s, a) and whatever the past was. So E_t is a nonnegative
supermartingale with E_0 = 1. Averages of such processes are ones too, and so is a
product over rows of processes that each move only when their row is visited: a step
changes one factor. By Ville's inequality P_m(sup_t E_t >= 1/alpha) <= alpha, so the
p-value min(1, 1/E) holds for data of any adaptive policy, looked at as often as one
likes and stopped at any time. Models are tested one by one, and the class is left only
if *every* model with prior weight is refused; a false alarm needs that of the real
one, so its chance is at most alpha with no correction for the number of models.

Q is an average, fixed before the data, of three equal parts:

* the class itself: sum_k nu_k P_k, which refuses what another model explains better;
* laws between m and other models, and beyond it (`adapt_tilts`);
* rows that are off independently with chance rho, each with a Dirichlet law on the
  support of P_m(.|s,a): Jeffreys' one half everywhere (Krichevsky-Trofimov), or
  centred at P_m with concentration 2, 10 or 50. rho is 1 (all rows are off),
  n^(-1/2) or 1/n (one of them is) for n rows in all, so that a fault of one pair is
  not drowned by the price of looking at all others.

A successor outside the support of P_m excludes m at once (p = 0), so Q spends nothing
on it. E depends on counts alone: the order of the log does not matter.

Laws between and beyond the models of a class, as alternatives to one of them.

The real parameter may lie between two values of the grid or past its end. Tilting P_m
away from another model k,

    q(s'|s,a) = P_m(s'|s,a) (P_m(s'|s,a) / P_k(s'|s,a))^t / Z_t(s,a),

is k itself at t = -1, lies between the two for -1 < t < 0 and beyond m for t > 0 (for a
chance p the odds move along a line). One t holds in all rows, so that a few visits to
each of many pairs add up, where laws fitted row by row have learnt nothing yet. A row
in which m allows what k does not, or the other way round, is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import gammaln, logsumexp

from simgap.answers.adapt.evidence import Evidence, ObservedRows, per_row
from simgap.arrays import FloatArray, OffsetArray, owned

JEFFREYS = 0.5
CONCENTRATIONS = (2.0, 10.0, 50.0)
ROW_POWERS = (0.0, -0.5, -1.0)  # rho = n^power
TILTS = (-0.5, 0.5, 1.0, 2.0)
MOST_PARTNERS = 16  # models k, evenly spaced; a choice that the data do not enter


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """How well each model explains a log."""

    log_e: FloatArray  # (M,), log of the evidence against the model; inf: ruled out
    p_values: FloatArray  # (M,)


def goodness_of_fit(evidence: Evidence, prior: FloatArray) -> Fit:
    """Return an anytime-valid p-value for every model: min(1, 1/E)."""
    rows, likely = evidence.rows, evidence.log_likelihood
    with np.errstate(divide="ignore"):
        mixture = logsumexp(np.log(prior) + likely)
    alive = likely > -np.inf
    against = np.full(likely.size, np.inf)
    if not alive.any():
        return Fit(owned(against), owned(np.zeros(likely.size)))
    tilted = [tilted_evidence(rows, int(m)) for m in np.flatnonzero(alive)]
    shares = [float(rows.pairs) ** power for power in ROW_POWERS]
    by_row = [
        _over_rows(off, share)
        for off in _row_parts(rows, rows.chances[alive])
        for share in shares
    ]
    parts = [mixture - likely[alive], np.array(tilted), _log_mean(by_row)]
    against[alive] = _log_mean(parts)
    p_values = np.exp(-np.maximum(against, 0.0))
    return Fit(owned(against), owned(p_values))


def evidence_by_row(rows: ObservedRows, member: int) -> FloatArray:
    """Return the log of the evidence of each row against one model, (R,).

    The average over the Dirichlet laws; inf where the model rules a successor out.
    """
    chances = rows.chances[member : member + 1]
    out = _log_mean([each[0] for each in _row_parts(rows, chances)])
    ruled_out = (rows.counts > 0.0) & (chances[0] == 0.0)
    out[per_row(ruled_out.astype(np.float64), rows.offsets) > 0.0] = np.inf
    return out


def _row_parts(rows: ObservedRows, chances: FloatArray) -> list[FloatArray]:
    """Return log E of each row for each Dirichlet law, (m, R) each."""
    possible = chances > 0.0
    likely = per_row(
        rows.counts * np.log(np.where(possible, chances, 1.0)), rows.offsets
    )
    parts = [_predicted(rows, np.where(possible, JEFFREYS, 0.0)) - likely]
    parts += [_predicted(rows, each * chances) - likely for each in CONCENTRATIONS]
    return parts


def _predicted(rows: ObservedRows, weights: FloatArray) -> FloatArray:
    """Return the log-likelihood of each row under a Dirichlet law, (m, R).

    Gamma(a + n) / Gamma(a) is written a Gamma(a + n) / Gamma(a + 1), which holds for
    weights a as small as floats go.
    """
    seen = (rows.counts > 0.0) & (weights > 0.0)
    safe = np.where(weights > 0.0, weights, 1.0)
    each = np.where(
        seen, np.log(safe) + gammaln(safe + rows.counts) - gammaln(safe + 1.0), 0.0
    )
    total = per_row(weights, rows.offsets)
    whole = gammaln(total) - gammaln(total + rows.visits)
    out: FloatArray = per_row(each, rows.offsets) + whole
    return out


def _over_rows(off: FloatArray, share: float) -> FloatArray:
    """Return log of the product over rows of 1 - rho + rho E_row, (m,)."""
    if share >= 1.0:
        summed: FloatArray = off.sum(axis=1)
        return summed
    mixed = np.logaddexp(np.log1p(-share), np.log(share) + off)
    out: FloatArray = mixed.sum(axis=1)
    return out


def _log_mean(logs: list[FloatArray]) -> FloatArray:
    """Return the log of the mean of numbers given by their logs."""
    out: FloatArray = logsumexp(np.stack(logs), axis=0) - np.log(len(logs))
    return out


def tilted_evidence(rows: ObservedRows, member: int) -> float:
    """Return log of the average over k and t of q's likelihood over that of P_m.

    Each q is a fixed law with the support of P_m, so that each ratio is a martingale
    of mean 1 if m is real (see `goodness_of_fit`).
    """
    partners = _partners(rows.chances.shape[0], member)
    if partners.size == 0:
        return 0.0
    own, others = rows.chances[member], rows.chances[partners]
    same = (
        per_row(((own > 0.0) != (others > 0.0)).astype(np.float64), rows.offsets) == 0
    )
    both = (own > 0.0) & (others > 0.0)
    apart = np.log(np.where(both, own, 1.0)) - np.log(np.where(both, others, 1.0))
    law = np.log(np.where(own > 0.0, own, 1.0))
    moved = per_row(rows.counts * apart, rows.offsets)
    ratios = []
    for tilt in TILTS:
        weight = np.where(both, law + tilt * apart, -np.inf)
        total = _log_sums(weight, rows)
        gained = np.where(same, tilt * moved - rows.visits * total, 0.0)
        ratios.append(gained.sum(axis=1))
    return float(logsumexp(np.stack(ratios)) - np.log(len(TILTS) * partners.size))


def _partners(members: int, member: int) -> OffsetArray:
    """Return up to MOST_PARTNERS other models, evenly spaced."""
    others: OffsetArray = np.delete(np.arange(members), member)
    if others.size > MOST_PARTNERS:
        spaced = np.linspace(0, others.size - 1, MOST_PARTNERS).round()
        others = others[spaced.astype(np.int64)]
    return others


def _log_sums(weights: FloatArray, rows: ObservedRows) -> FloatArray:
    """Return log of the sum of exp over each row, (k, R); 0 for rows without any."""
    begins = rows.offsets[:-1]
    most = np.maximum.reduceat(weights, begins, axis=1)
    most = np.where(most > -np.inf, most, 0.0)
    lengths = np.diff(rows.offsets)
    sums = per_row(np.exp(weights - np.repeat(most, lengths, axis=1)), rows.offsets)
    out: FloatArray = most + np.log(np.where(sums > 0.0, sums, 1.0))
    return out
