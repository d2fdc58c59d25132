"""How many steps the best experiment needs to tell two models apart.

An experiment is a rule that picks every action from all that was seen, and a guess at
the end. The two models are equally likely beforehand; states are seen, rewards are not.
For n steps let

    BC_n = sum over paths of sqrt(P_i(path) P_j(path)),

the Bhattacharyya coefficient of what is seen. The chances of the actions are factors of
both P_i and P_j, so BC_n is linear in them and a sum of products along the path. Hence
the least BC_n over all rules, also those that remember and mix, obeys

    B_0 = 1,   B_n(s) = min_a sum_s' sqrt(p_i(s'|s,a) p_j(s'|s,a)) B_{n-1}(s'),
    BC_n = sum_s sqrt(mu_i(s) mu_j(s)) B_n(s),

and a rule that looks at the state and the steps left attains it. The error of the best
guess is (1 - TV) / 2, and 1 - BC <= TV <= sqrt(1 - BC^2). So

    every experiment of n steps   errs at least (1 - sqrt(1 - BC_n^2)) / 2,
    the one that attains BC_n     errs at most  BC_n / 2,

and the least n that allows an error e lies between the first n with BC_n <= 2 sqrt(e
(1 - e)) and the first with BC_n <= 2 e. (BC_n never rises with n.)

Long experiments. Let T be the recursion. It is monotone, and T(cB) = c T(B). So if
c B_m <= B_2m <= C B_m everywhere, then c^k B_t <= B_{t + km} <= C^k B_t for t >= m, and
steps that were not computed are enclosed by those from m to 2m.

Never. 1 - B_n is the greatest chance to reach, in n steps, the end of a path of weight
sqrt(p_i p_j) where one row's weights sum to less than 1. Its limit is the greatest
chance to ever get there. It is bounded from above by following the recursion upwards
from B = 1 where nothing can be learned any more and B = 0 elsewhere, after silent loops
are made one place each (`shared_paths`): then no path stays for ever elsewhere.

Rounding. All terms are at least 0, so an error of a sweep is a factor close to 1.
Every number is enlarged by as much, on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt
from typing import final

import numpy as np

from simgap._kernels.affinity import least_affinity
from simgap.answers.shared_paths import (
    SharedPaths,
    shared_paths,
    silent_places,
    without_waiting,
)
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.mdp import SimulatorClass
from simgap.records import Certified

EPS = float(np.finfo(np.float64).eps)
TIE = 1e-12  # rows as good as each other up to this factor: the first one wins
MOST_WORK = 2 * 10**9  # products of two numbers, a few seconds
MOST_VISITS = 10**15  # beyond, 1 - BC is a matter of rounding
FIRST = 16  # sweeps before the first look ahead
SHARP = 1e-3  # relative; ends known better than this are left alone ...
LONG = 4096  # ... after so many sweeps


@final
@dataclass(frozen=True, slots=True)
class TellingApart:
    """How fast two models can be told apart, and where to look."""

    first: int
    second: int
    error: float  # chance of a wrong guess that is allowed
    steps: Certified  # whole numbers; inf: never
    state: int | None  # where one visit tells most, of the places both models reach;
    action: int | None  # None: no place that both reach tells anything
    distance: float  # || p_i - p_j ||_1 there
    affinity: float  # BC = sum sqrt(p_i p_j) there
    visits: int | None  # to that place alone: the least n with BC^n <= 2 error;
    # None: there is no such place, or more than MOST_VISITS are needed


def telling_apart(
    simulators: SimulatorClass,
    first: int,
    second: int,
    *,
    error: float = 0.05,
    most_steps: int = 10**6,
) -> TellingApart:
    """Return a bracket of the steps after which a guess errs with chance `error`.

    At most `most_steps` are followed one by one, fewer in large models; later ones are
    enclosed. A bracket whose upper end is inf and whose lower end is not leaves open
    whether the models are ever told apart so well.
    """
    i, j = simulators.member(first), simulators.member(second)
    _check(error, most_steps)
    paths = shared_paths(simulators, i, j)
    place = _where(simulators, paths, i, j)
    state, action = (
        (None, None) if place is None else divmod(place.row, simulators.n_actions)
    )
    return TellingApart(
        first=i,
        second=j,
        error=error,
        steps=_steps(paths, error, most_steps),
        state=state,
        action=action,
        distance=0.0 if place is None else place.distance,
        affinity=1.0 if place is None else place.affinity,
        visits=None if place is None else _visits(place, error),
    )


@final
@dataclass(frozen=True, slots=True)
class _Place:
    """A row (s, a) and how far apart two models are there."""

    row: int
    distance: float
    hellinger: float  # 1 - BC, with all its digits
    affinity: float


def _where(
    simulators: SimulatorClass, paths: SharedPaths, i: int, j: int
) -> _Place | None:
    """Return the row of greatest Hellinger distance among those both models reach."""
    kernel = simulators.transitions
    telling = paths.row[~paths.silent]
    if telling.size == 0:
        return None
    p, q = kernel.values[i], kernel.values[j]
    roots = np.sqrt(p) + np.sqrt(q)
    apart = (p - q) / np.where(roots > 0.0, roots, 1.0)
    half = np.add.reduceat(0.5 * apart**2, kernel.indptr[:-1])[telling]
    best = int(telling[np.argmax(half * (1.0 + TIE) >= half.max())])
    there = slice(kernel.indptr[best], kernel.indptr[best + 1])
    return _Place(
        row=best,
        distance=min(2.0, float(np.abs(p[there] - q[there]).sum())),
        hellinger=min(1.0, float(0.5 * (apart[there] ** 2).sum())),
        affinity=min(1.0, float((np.sqrt(p[there]) * np.sqrt(q[there])).sum())),
    )


def _visits(place: _Place, error: float) -> int | None:
    """Return the least n with BC^n <= 2 error: at that place alone it errs no more."""
    if place.affinity <= 2.0 * error:
        return 1
    near = place.hellinger < 0.5
    exponent = -np.log1p(-place.hellinger) if near else -log(place.affinity)
    wanted = log(1.0 / (2.0 * error))
    if wanted > exponent * MOST_VISITS:
        return None
    return ceil(wanted / float(exponent) * (1.0 - 8 * EPS))


def _steps(paths: SharedPaths, error: float, most_steps: int) -> Certified:
    """Return the bracket of the least number of steps that allow the error."""
    possible, sure = 2.0 * sqrt(error * (1.0 - error)), 2.0 * error
    begin = float(paths.start.sum())
    search = _Search(paths, begin, possible * (1.0 + 4 * EPS), sure * (1.0 - 4 * EPS))
    if paths.n_places == 0 or begin * (1.0 + search.slip) <= sure:
        return Certified(0, 0)
    never = silent_places(paths)
    if never.all():
        return Certified(inf if begin * (1.0 - search.slip) > possible else 0, inf)
    limit = _Limit(paths) if never.any() else None
    most = min(
        most_steps, max(FIRST, MOST_WORK // (paths.shared.size + paths.row.size))
    )
    while not search.done:
        count = min(max(FIRST, search.swept), most - search.swept)
        if count <= 0:
            break
        search.sweep(count)
        if limit is not None and not search.done:
            least = limit.sweep(count)
            if least > search.possible:
                return Certified(inf, inf)
            if least > search.sure:
                search.upper, search.upper_exact = inf, True
    return Certified(search.lower, search.upper)


@final
class _Search:
    """BC_n for n = 0, 1, ... until both ends are found; bounds hold at any time."""

    def __init__(
        self, paths: SharedPaths, begin: float, possible: float, sure: float
    ) -> None:
        self.paths = paths
        self.possible, self.sure = possible, sure
        self.slip = _slip(paths)
        self.values = np.ones(paths.n_places)
        self.series = np.array([begin])
        self.lower: float = 0
        self.upper: float = inf
        self.lower_exact = self.upper_exact = False

    @property
    def swept(self) -> int:
        return self.series.size - 1

    @property
    def done(self) -> bool:
        return self.lower_exact and self.upper_exact

    def sweep(self, count: int) -> None:
        """Compute `count` more steps and look ahead from there."""
        before = self.values.copy()
        enough = self.sure * exp(-(self.swept + count + 2) * self.slip)
        new = np.empty(count)
        swept = _swept(self.paths, self.values, new, enough)
        self.series = np.concatenate([self.series, new[:swept]])
        self._seen()
        if not self.done and swept == count and count > 1:
            self._ahead(before, count)

    def _seen(self) -> None:
        """Take the ends from the steps that were computed."""
        wrong = np.exp(np.arange(1, self.series.size + 1) * self.slip)
        if not self.lower_exact:
            low = np.flatnonzero(self.series / wrong <= self.possible)
            self.lower = max(self.lower, float(self.series.size))
            if low.size:
                self.lower, self.lower_exact = int(low[0]), True
        if not self.upper_exact:
            high = np.flatnonzero(self.series * wrong <= self.sure)
            if high.size:
                self.upper, self.upper_exact = int(high[0]), True

    def _ahead(self, before: FloatArray, count: int) -> None:
        """Enclose later steps: those of the last `count`, times powers of a factor."""
        alive = before > 0.0
        if not alive.any():
            return
        ratio = self.values[alive] / before[alive]
        wrong = exp((count + 2) * self.slip)
        least, most = float(ratio.min()) / wrong, float(ratio.max()) * wrong
        first = self.series.size - count
        recent = self.series[first:]
        all_wrong = exp(self.series.size * self.slip)
        least_low = _passage(recent / all_wrong, least, self.possible, first, low=True)
        most_low = _passage(recent * all_wrong, most, self.possible, first, low=False)
        least_high = _passage(recent / all_wrong, least, self.sure, first, low=True)
        most_high = _passage(recent * all_wrong, most, self.sure, first, low=False)
        if not self.lower_exact:
            self.lower = max(self.lower, least_low)
            self.lower_exact = self._close(least_low, most_low)
        if not self.upper_exact:
            self.upper = min(self.upper, most_high)
            self.upper_exact = self._close(least_high, most_high)

    def _close(self, low: float, high: float) -> bool:
        if high == inf:
            return False
        return low == high or (self.swept >= LONG and high - low <= SHARP * low)


@final
class _Limit:
    """Lower bounds of BC_n for all n at once, rising towards its limit."""

    def __init__(self, paths: SharedPaths) -> None:
        self._paths = without_waiting(paths)
        self._values = silent_places(self._paths).astype(np.float64)
        self._slip = _slip(paths)
        self._swept = 0

    def sweep(self, count: int) -> float:
        """Follow the recursion further; return the bound reached."""
        found = np.empty(count)
        self._swept += _swept(self._paths, self._values, found, -1.0)
        return float(found[-1]) * exp(-(self._swept + 1) * self._slip)


def _slip(paths: SharedPaths) -> float:
    """Return what a sweep, or the mean over the first state, may be off, relatively.

    A sum of L products has L + 3 roundings; laws of L numbers sum to 1 up to 4 L eps.
    """
    return (5 * paths.terms + 8) * EPS


def _swept(
    paths: SharedPaths, values: FloatArray, series: FloatArray, enough: float
) -> int:
    return int(
        least_affinity(
            paths.groups,
            paths.indptr,
            paths.indices,
            paths.shared,
            paths.start,
            enough,
            values,
            series,
        )
    )


def _passage(
    recent: FloatArray, factor: float, level: float, first: int, *, low: bool
) -> float:
    """Return the first step n at which recent[r] factor^k is at most `level`.

    Here n = first + r + k len(recent) with k >= 1. `low` says on which side rounding
    may err.
    """
    if factor >= 1.0:
        return inf
    if factor <= 0.0:
        return float(first + recent.size)
    with np.errstate(divide="ignore"):
        powers = np.log(level / recent) / log(factor)
    powers = np.ceil(powers * (1.0 + (-TIE if low else TIE)))
    steps = first + np.arange(recent.size) + np.maximum(powers, 1.0) * recent.size
    return int(steps.min())


def _check(error: float, most_steps: int) -> None:
    if not 0.0 < error < 0.5:
        raise InvalidArgument(
            f"the error is {error!r}",
            hint="it is the chance of a wrong guess: above 0, below 0.5 (a coin's)",
        )
    if (
        isinstance(most_steps, bool)
        or not isinstance(most_steps, int)
        or most_steps < 1
    ):
        raise InvalidArgument(
            f"most_steps is {most_steps!r}", hint="a whole number from 1"
        )
