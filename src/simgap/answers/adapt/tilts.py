"""Laws between and beyond the models of a class, as alternatives to one of them.

The real parameter may lie between two values of the grid or past its end. Tilting P_m
away from another model k,

    q(s'|s,a) = P_m(s'|s,a) (P_m(s'|s,a) / P_k(s'|s,a))^t / Z_t(s,a),

is k itself at t = -1, lies between the two for -1 < t < 0 and beyond m for t > 0 (for a
chance p the odds move along a line). One t holds in all rows, so that a few visits to
each of many pairs add up, where laws fitted row by row have learnt nothing yet. A row
in which m allows what k does not, or the other way round, is left as it is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from simgap.answers.adapt.evidence import ObservedRows, per_row
from simgap.arrays import FloatArray, OffsetArray

TILTS = (-0.5, 0.5, 1.0, 2.0)
MOST_PARTNERS = 16  # models k, evenly spaced; a choice that the data do not enter


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
