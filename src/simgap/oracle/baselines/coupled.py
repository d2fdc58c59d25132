"""What every policy of a short memory must lose on average: pairs of models, combined.

A pair of models with weights r and 1 - r has a bound c on r gap_i + (1 - r) gap_j that
no policy of that memory is below (see below). If pairs times l_p use up no more
than the prior of any model, the average gap is at least sum_p l_p c_p. The best l are a
linear program; its prices say which pair, or which other weights of one, would help.
What is returned does not trust the program: l is scaled down until it is allowed.

The bound of a pair. Put one copy of a policy in model i and one in model j. Let C_h(d,
d') be the least that both lose together from step h on, weighted, if their places have
the laws d and d'. For a fixed policy that is linear in (d, d'), so C_h is concave, and
for every coupling g of d and d'

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

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs.coupled_copies import (
    carried,
    couple,
    couple_backward,
    places_met,
)
from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.intervals import EPS
from simgap.oracle.loss_form import LossForm

LEAST_COLUMNS = 4  # of a budget: what takes more is cut short
SETTLED = 2e-3  # of the bound: what another column has to promise
COMPARED = 2e7  # losses that are looked at to choose pairs
WORK_OF_A_PAIR = 4e4  # what Python adds, in multiplications
WORK_OF_A_PROGRAM = 2e6
MOST_POINTS = 256  # steps and states at which two models are compared
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


def least_by_coupling(form: LossForm, window: int, work: float) -> float:
    """Return a lower bound of the average gap of every policy with a window.

    It is one for the losses as they are stored. `work` is in multiplications.
    """
    prior = form.latent.prior
    places = (window + 1) * form.pattern.n_states**2
    if (prior > 0.0).sum() < 2 or form.steps == 0 or places > MOST_PLACES:
        return 0.0
    search = _Search(form, window, work)
    for i, j in _promising(form):
        if search.spent > 0.5 * work:
            break
        search.add(i, j, float(prior[i] / (prior[i] + prior[j])))
    bound, prices = search.combined()
    while search.spent < work:
        wanted = search.wanted(prices, SETTLED * bound)
        if not wanted:
            break
        for i, j, weight in wanted:
            search.add(i, j, weight)
        bound, prices = search.combined()
    return bound


@final
@dataclass(slots=True, eq=False)
class _Search:
    """Bounds found so far, and the work done for them."""

    form: LossForm
    window: int
    work: float
    spent: float = 0.0
    tables: dict[int, ModelTable] = field(default_factory=dict)
    pairs: dict[tuple[int, int], CoupledPair] = field(default_factory=dict)
    found: dict[tuple[int, int], dict[float, float]] = field(default_factory=dict)

    def add(self, i: int, j: int, weight: float) -> None:
        """Bound weight gap_i + (1 - weight) gap_j."""
        check_time()
        for model in (i, j):
            if model not in self.tables:
                self.tables[model] = model_table(self.form, model)
        if (i, j) not in self.pairs:
            self.pairs[i, j] = coupled_pair(
                self.form, self.tables[i], self.tables[j], self.window,
                self.work / LEAST_COLUMNS,
            )  # fmt: skip
            self.found[i, j] = {0.0: 0.0, 1.0: 0.0}
        pair = self.pairs[i, j]
        self.found[i, j][weight] = pair.bound(weight)
        self.spent += pair.work + WORK_OF_A_PAIR

    def combined(self) -> tuple[float, FloatArray]:
        """Return the bound of all pairs together, and a price for every model."""
        from scipy.optimize import linprog

        prior = self.form.latent.prior
        columns = [
            (i, j, weight, value)
            for (i, j), points in self.found.items()
            for weight, value in points.items()
            if value > 0.0
        ]
        prices = np.zeros(prior.size)
        if not columns:
            return 0.0, prices
        first, second = (np.array([each[at] for each in columns]) for at in (0, 1))
        weights = np.array([each[2] for each in columns])
        values = np.array([each[3] for each in columns])
        # in parts of what a pair can be used at most, so that small priors count, too
        most = np.minimum(prior[first] / weights, prior[second] / (1.0 - weights))
        used = np.zeros((prior.size, len(columns)))
        at = np.arange(len(columns))
        used[first, at] = weights * most / prior[first]
        used[second, at] = (1.0 - weights) * most / prior[second]
        worth = values * most
        self.spent += WORK_OF_A_PROGRAM
        solved = linprog(-worth / worth.max(), A_ub=used, b_ub=np.ones(prior.size))
        if solved.x is None:
            return 0.0, prices
        times = np.maximum(solved.x, 0.0)
        over = np.maximum(1.0, used @ times)
        allowed = times / np.maximum(over[first], over[second])
        off = 2.0 * (len(columns) + 12) * EPS
        likely = prior > 0.0
        marginals = -np.asarray(solved.ineqlin.marginals) * worth.max()
        prices[likely] = marginals[likely] / prior[likely]
        return float(worth @ allowed) * (1.0 - off), prices

    def wanted(self, prices: FloatArray, least: float) -> list[tuple[int, int, float]]:
        """Return for each pair the weight that promises most, if that is enough.

        Bounds of a pair are nearly concave in the weight: between two that are known,
        the lines through the next ones on both sides meet above.
        """
        found = []
        prior = self.form.latent.prior
        for (i, j), points in self.found.items():
            best, at = least, -1.0
            for weight, above in _peaks(sorted(points.items())):
                times = min(prior[i] / weight, prior[j] / (1.0 - weight))
                price = weight * prices[i] + (1.0 - weight) * prices[j]
                if times * (above - price) > best:
                    best, at = times * (above - price), weight
            if at > 0.0:
                found.append((best, i, j, at))
        return [(i, j, at) for _, i, j, at in sorted(found, reverse=True)[:4]]


def _peaks(points: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield a weight between any two known ones, and what it can reach if concave."""
    for at in range(len(points) - 1):
        (a, low), (b, high) = points[at], points[at + 1]
        if b - a < 1e-3 or max(low, high) <= 0.0:
            continue
        before = None if at == 0 else points[at - 1]
        after = None if at + 2 == len(points) else points[at + 2]
        if before is None or after is None:
            yield 0.5 * (a + b), max(low, high)
            continue
        rise = (low - before[1]) / (a - before[0])
        fall = (after[1] - high) / (after[0] - b)
        if rise <= fall:  # straight: nothing is gained between them
            continue
        meet = (high - low + rise * a - fall * b) / (rise - fall)
        meet = min(max(meet, 0.9 * a + 0.1 * b), 0.1 * a + 0.9 * b)
        yield meet, min(low + rise * (meet - a), high + fall * (meet - b))


def _promising(form: LossForm) -> list[tuple[int, int]]:
    """Return pairs of models, those first that disagree most, each model in turn.

    Two models disagree where no action is good in both: the least of their losses
    together, weighted by the prior, summed over some steps and states.
    """
    prior, n_actions = form.latent.prior, form.pattern.n_actions
    likely = np.flatnonzero(prior > 0.0)
    flat = form.losses.reshape(-1, n_actions, prior.size)
    many = int(np.clip(COMPARED / (likely.size**2 * n_actions), 4, MOST_POINTS))
    points = np.unique(np.linspace(0, len(flat) - 1, many).round().astype(np.int64))
    some = flat[points][:, :, likely] * prior[likely]  # (points, A, likely)
    ranked = []
    for i in range(likely.size):
        both = (some[:, :, i, None] + some[:, :, i + 1 :]).min(axis=1).sum(axis=0)
        ranked += [(-float(d), i, i + 1 + at) for at, d in enumerate(both)]
    ranked.sort()
    order, used = [], np.zeros(likely.size, np.int64)
    for turn in range(1, likely.size):
        left = []
        for each in ranked:
            if max(used[each[1]], used[each[2]]) < turn:
                order.append((int(likely[each[1]]), int(likely[each[2]])))
                used[each[1]] += 1
                used[each[2]] += 1
            else:
                left.append(each)
        ranked = left
        if len(order) > MOST_POINTS or not ranked:
            break
    return order
