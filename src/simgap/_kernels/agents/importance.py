"""The importance score of Algorithm 4 (theory 2.13): squared differences of all pairs.

The mass of a pair of models (i, j) over data is the sum of (f_i - f_j)^2. While model k
is played, all of it comes from rows (s, pi_k(s)) and the bias l_k, so that the mass of
the fresh data Z_new is

    carried + sum over s of N(s) d(s),  d(s) = ((f_i - f_j)(s, pi_k(s), l_k))^2,

N(s) the visits since k was chosen and `carried` zero unless the printed rule is run. A
pair fires when that reaches limit = (its mass over Z) + alpha; the score is at least 1
if and only if some pair has fired. Masses are computed from integer counts in one order
(s rising), so that their bits do not depend on who looks when.

1. *Masses never fall* while k is played, in floating point and not just in theory: N(s)
   only grows, d(s) >= 0, and rounding is monotone.
2. *Pairs that cannot fire.* In n steps a pair gains at most n max d over the states
   that can be reached. Computed sums of S + 1 such terms exceed that by a factor of
   less than 1 + 4 (S + 4) eps, `spare`. A pair that stays below its limit even so is
   not near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import BoolArray, FloatArray, Integer, OffsetArray
from simgap.intervals import EPS


class Pairs(NamedTuple):
    """Pairs i < j of models, P in all; below, those that are near."""

    settled: FloatArray  # (P,), mass over Z
    carried: FloatArray  # (P,), over what Z_new holds from before k was chosen
    fresh: FloatArray  # (P,), over Z_new, when the episode of k is over
    limit: FloatArray  # (P,), settled + alpha
    base: FloatArray  # (P,), carried
    scale: FloatArray  # (P,), 1 / (limit - base)
    most: FloatArray  # (P,), greatest d of a state that can be reached
    mass: FloatArray  # (P,), over Z_new, when somebody last looked
    apart: FloatArray  # (S, P), d
    suspects: OffsetArray  # (P,), near pairs that had fired there


@kernel(allocates=True)
def no_pairs(members: int, n_states: int) -> Pairs:
    """Return room for the pairs of M models."""
    count = members * (members - 1) // 2
    return Pairs(
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
        np.zeros((n_states, count)),
        np.zeros(count, np.int64),
    )


@kernel
def find_near(
    pairs: Pairs,
    mean: FloatArray,
    reachable: BoolArray,
    ridge: float,
    left: int,
    everyone: bool,
) -> tuple[int, float]:
    """Gather the pairs that may fire in `left` steps with predictions mean (S, M).

    Returns their number, and the greatest part of its way to the limit that one of them
    can go in a step. With `everyone` all pairs count as near.
    """
    n_states, count = pairs.apart.shape
    spare = 1.0 + 4.0 * (n_states + 4) * EPS
    most = pairs.mass  # of all pairs, for now
    most[:] = 0.0
    for s in range(n_states):
        apart = pairs.apart[s]
        _squares(mean[s], apart)
        if reachable[s]:
            for p in range(count):
                most[p] = apart[p] if apart[p] > most[p] else most[p]
    near, steepest, suspects = 0, 0.0, pairs.suspects
    for p in range(count):
        limit, base = pairs.settled[p] + ridge, pairs.carried[p]
        if everyone or (base + left * most[p]) * spare >= limit:
            suspects[near] = p
            pairs.limit[near] = limit
            pairs.base[near] = base
            pairs.scale[near] = 1.0 / (limit - base)
            pairs.most[near] = most[p]
            steepest = max(steepest, most[p] * pairs.scale[near])
            near += 1
    for q in range(near):
        pairs.mass[q] = pairs.base[q]
    if near < count:
        for s in range(n_states):
            apart = pairs.apart[s]
            for q in range(near):
                apart[q] = apart[suspects[q]]
    return near, steepest


@kernel
def look(pairs: Pairs, near: int, visits: OffsetArray) -> tuple[bool, float]:
    """Return whether a near pair has fired, and how far one of them has come, of 1."""
    mass, base, limit, scale = pairs.mass, pairs.base, pairs.limit, pairs.scale
    for q in range(near):
        mass[q] = base[q]
    for s in range(visits.size):
        if visits[s] > 0:
            count, apart = float(visits[s]), pairs.apart[s]
            for q in range(near):
                mass[q] += count * apart[q]
    fired, farthest = 0, 0.0
    for q in range(near):
        fired += mass[q] >= limit[q]
    for q in range(near):
        farthest = max(farthest, (mass[q] - base[q]) * scale[q])
    return fired > 0, farthest


@kernel
def may_fire(pairs: Pairs, near: int, left: int) -> bool:
    """Return whether a pair, from its mass on, can reach its limit in `left` steps."""
    spare = 1.0 + 4.0 * (pairs.apart.shape[0] + 4) * EPS
    for q in range(near):
        if (pairs.mass[q] + left * pairs.most[q]) * spare >= pairs.limit[q]:
            return True
    return False


@kernel
def find_suspects(pairs: Pairs, near: int) -> int:
    """List the near pairs that had fired when somebody last looked."""
    found = 0
    for q in range(near):
        if pairs.mass[q] >= pairs.limit[q]:
            pairs.suspects[found] = q
            found += 1
    return found


@kernel
def suspect_fired(pairs: Pairs, suspects: int, visits: OffsetArray) -> bool:
    """Return whether one of the suspects has fired already."""
    for at in range(suspects):
        q = pairs.suspects[at]
        mass = pairs.base[q]
        for s in range(visits.size):
            if visits[s] > 0:
                mass += visits[s] * pairs.apart[s, q]
        if mass >= pairs.limit[q]:
            return True
    return False


@kernel
def add_visits(pairs: Pairs, mean: FloatArray, visits: OffsetArray) -> None:
    """Compute the fresh mass of every pair."""
    fresh, squares = pairs.fresh, pairs.mass
    for p in range(fresh.size):
        fresh[p] = pairs.carried[p]
    for s in range(visits.size):
        if visits[s] > 0:
            _squares(mean[s], squares)
            count = float(visits[s])
            for p in range(fresh.size):
                fresh[p] += count * squares[p]


@kernel
def _squares(mean: FloatArray, out: FloatArray) -> None:
    """Write (f_i - f_j)^2 for all i < j."""
    p = 0
    for i in range(mean.size - 1):
        here, others = mean[i], mean[i + 1 :]
        part = out[p : p + others.size]
        for j in range(others.size):
            gap = here - others[j]
            part[j] = gap * gap
        p += others.size


@kernel
def of_pair(values: FloatArray, members: int, i: Integer, j: int) -> float:
    """Return the entry of a pair; a model and itself are 0 apart."""
    if i == j:
        return 0.0
    low, high = min(i, j), max(i, j)
    found: float = values[low * members - low * (low + 1) // 2 + high - low - 1]
    return found
