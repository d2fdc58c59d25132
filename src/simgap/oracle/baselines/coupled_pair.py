"""Two models and what every policy of a short memory loses in both, at least.

Put one copy of a policy in model i and one in model j. Let C_h(d, d') be the least that
both lose together from step h on, weighted, if their places have the laws d and d'. For
a fixed policy that is linear in (d, d'), so C_h is concave, and for every coupling g of
d and d'

    C_h(d, d') >= sum_st g(s, t) C_h(s, t).

Where both copies have seen the same, they act alike: that is the recursion of
`_kernels.coupled`. Its value at the start, where first states are coupled too, is

    at most  weight gap_i(pi) + (1 - weight) gap_j(pi)

for every policy pi of that memory, random or not, stationary or not (theory 5.7).
Losses are not negative, so that a recursion over the first steps alone is a bound as
well.

Rounding. Terms are sums and products of numbers that are not negative: relative errors
add up. In a coupling of two rows of n entries together a mass is the result of at most
9 n roundings, the sum of at most n + 25 terms adds as many, the rest of a step less
than 8. What stored losses, and rows that do not sum to 1, misstate is for who asks:
`LossForm.rounding` and `LossForm.defect`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs import carried, couple, couple_backward, places_met
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.intervals import EPS
from simgap.oracle.loss_form import LossForm

MOST_PLACES = 4_000_000  # (k + 1) S^2
MOST_STARTS = 10_000  # pairs of first states; of more, only equal ones are followed
FAINT = 1e-3  # of a discounted loss: what the steps weigh that are not followed
TINY = 1e-290  # more than all products together lose below the least normal number


@final
@dataclass(frozen=True, slots=True, eq=False)
class ModelTable:
    """One model as arrays for the kernel, without what has probability zero."""

    begin: OffsetArray  # (S A + 1,), of the rows
    state: IndexArray  # (E,), where a move leads
    chance: FloatArray  # (E,)
    losses: FloatArray  # (T, S, A)
    start: FloatArray  # (S,)

    @property
    def arrays(self) -> tuple[OffsetArray, IndexArray, FloatArray, FloatArray]:
        return self.begin, self.state, self.chance, self.losses

    @property
    def longest(self) -> int:
        return int(np.diff(self.begin).max())


def model_table(form: LossForm, model: int) -> ModelTable:
    """Return one model of a problem."""
    chance, indptr = form.likelihood[:, model], form.pattern.indptr
    kept = np.flatnonzero(chance > 0.0)
    return ModelTable(
        begin=np.searchsorted(kept, indptr).astype(np.int64),
        state=np.ascontiguousarray(form.pattern.indices[kept]),
        chance=np.ascontiguousarray(chance[kept]),
        losses=np.ascontiguousarray(form.losses[..., model]),
        start=form.latent.simulators.start_law(model),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class CoupledPair:
    """Two copies of an agent, and every place they can be in together."""

    first: ModelTable
    second: ModelTable
    window: int
    discount: float
    places: IndexArray  # (Q, 3): how many transitions agree, and the two states
    ends: OffsetArray  # (D,), how many places are met in h steps, of D followed
    work: float  # multiplications of one bound

    def bound(self, weight: float) -> float:
        """Return what every policy loses, weighted, at least."""
        one, two = self.first, self.second
        shape = (self.window + 1, one.start.size, one.start.size)
        sums = [np.add.reduceat(each.chance, each.begin[:-1]) for each in (one, two)]
        found = couple_backward(
            self.places, self.ends, self.window, *one.arrays, *two.arrays, weight,
            1.0 - weight, self.discount, max(1.0, *(each.max() for each in sums)),
            np.zeros(shape), np.zeros(shape),
        )  # fmt: skip
        into, onto, free = _first_states(one, two)
        alike = into[:, None] == onto[None, :]
        at = np.ix_(into, onto)
        apart = found[0][at] if free else 0.0
        cost = np.where(alike, found[self.window][at], apart)
        mass = np.zeros(cost.shape)
        left, right = np.array(one.start[into]), np.array(two.start[onto])
        couple(into, onto, cost, into.size, onto.size, left, right, mass)
        value = float(carried(cost, into.size, onto.size, mass))
        step, start = one.longest + two.longest, into.size + onto.size
        off = (self.ends.size * (10 * step + 33) + 10 * start + 33) * EPS
        return max(0.0, value * (1.0 - off) - TINY)


def coupled_pair(
    form: LossForm, one: ModelTable, two: ModelTable, window: int, work: float
) -> CoupledPair:
    """Return two models coupled over as many steps as `work` allows for one bound."""
    n_states, n_actions = form.pattern.n_states, form.pattern.n_actions
    steps = form.steps
    if form.horizon is None:
        steps = ceil(log(FAINT) / log(form.discount))
    each = _work_of_a_place(one, two, n_actions)
    shape = (window + 1, n_states, n_states)
    into, onto, free = _first_states(one, two)
    first = [
        (window if s == t else 0, s, t)
        for s in into.tolist()
        for t in (onto.tolist() if free else [s])
    ]
    room = int(min(n_states * (n_states + window), work / each))
    ends = np.zeros(min(steps, int(work / each)), np.int64)
    places, known = np.zeros((max(room, len(first)), 3), np.int32), 0
    if len(first) <= room and ends.size:
        places[: len(first)] = first
        met = np.zeros(shape, bool)
        met[tuple(places[: len(first)].T)] = True
        known = places_met(
            n_actions, window, one.begin, one.state, two.begin, two.state, met, places,
            len(first), ends,
        )  # fmt: skip
    total = np.cumsum(ends[:known]) * each
    ends = ends[: int(np.searchsorted(total, work, side="right"))]
    spent = float(ends.sum()) * each
    places = places[: ends[-1] if ends.size else 0]
    return CoupledPair(one, two, window, form.discount, places, ends, spent)


def _first_states(
    one: ModelTable, two: ModelTable
) -> tuple[IndexArray, IndexArray, bool]:
    """Return the first states of both copies, and whether all pairs are followed."""
    into, onto = (np.flatnonzero(each.start).astype(np.int32) for each in (one, two))
    if into.size * onto.size <= MOST_STARTS:
        return into, onto, True
    both = np.intersect1d(into, onto).astype(np.int32)
    return both, both, False


def _work_of_a_place(one: ModelTable, two: ModelTable, n_actions: int) -> float:
    """Return multiplications, as measured: couplings are more than sums."""
    lengths = [each.state.size / (each.begin.size - 1) for each in (one, two)]
    cells = lengths[0] * lengths[1]
    return n_actions**2 * (10.0 + cells * (0.8 + sum(lengths) / 32.0))
