"""What every policy of a short memory must lose on average: pairs of models, combined.

A pair of models with weights r and 1 - r has a bound c on r gap_i + (1 - r) gap_j that
no policy of that memory is below (`coupled_pair`). If pairs times l_p use up no more
than the prior of any model, the average gap is at least sum_p l_p c_p. The best l are a
linear program; its prices say which pair, or which other weights of one, would help.
What is returned does not trust the program: l is scaled down until it is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray
from simgap.intervals import EPS
from simgap.oracle.baselines.coupled_pair import (
    MOST_PLACES,
    CoupledPair,
    ModelTable,
    coupled_pair,
    model_table,
)
from simgap.oracle.loss_form import LossForm

LEAST_COLUMNS = 4  # of a budget: what takes more is cut short
SETTLED = 2e-3  # of the bound: what another column has to promise
COMPARED = 2e7  # losses that are looked at to choose pairs
WORK_OF_A_PAIR = 4e4  # what Python adds, in multiplications
WORK_OF_A_PROGRAM = 2e6
MOST_POINTS = 256  # steps and states at which two models are compared


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
