"""How many steps the best experiment needs to tell two models apart, and where to look.

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
(1 - e)) and the first with BC_n <= 2 e. (BC_n never rises with n.) Whether n = 0 is
enough is known exactly: the first state alone errs sum_s min(mu_i(s), mu_j(s)) / 2.

Long experiments. Let T be the recursion. It is monotone, and T(cB) = c T(B). So if
c B_m <= B_2m <= C B_m everywhere, then c^k B_t <= B_{t + km} <= C^k B_t for t >= m, and
steps that were not computed are enclosed by those from m to 2m.

Traps. Where a place that tells nothing any more is in reach, C is 1. Then the upper end
also comes from rules that keep away from such places for good (`never_silenced`): their
least BC_n is not below the least one of all.

Never. If there are no such rules BC_n has a limit above 0. Read 1 - B_n as the greatest
chance that a path ends within n steps, where a row whose weights sum to less than 1
ends it with the rest: the limit is the chance that it ends at all. B_n is bounded from
below, for all n, by following the recursion upwards from B = 1 where nothing can be
learned any more and B = 0 elsewhere, after silent loops are made one place each
(`without_waiting`): then no path stays for ever elsewhere, and the bound is sharp.

Rounding. All terms are at least 0, so an error of a sweep is a factor close to 1.
Every number is enlarged by as much, on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, inf, log, sqrt
from typing import final

import numpy as np

from simgap._kernels.solving.affinity import least_affinity
from simgap._kernels.time_limit import pieces
from simgap.answers.identify.shared_paths import (
    SharedPaths,
    never_silenced,
    shared_paths,
    silent_places,
    without_waiting,
)
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, Certified
from simgap.mdp import SimulatorClass, checked_class

TIE = 1e-12  # rows as good as each other up to this factor: the first one wins
MOST_VISITS = 10**15  # beyond, 1 - BC is a matter of rounding
QUOTIENT_TIE = 1e-12  # relative; what logarithms and their quotient may be off
MOST_WORK = 2 * 10**9  # products of two numbers, a few seconds
FIRST = 16  # sweeps before the first look ahead
SHARP = 1e-3  # relative; ends that are known or move by less are left alone ...
KEEN = 2 * 10**6  # ... after so many products


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
    checked_class(simulators)
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
        steps=least_steps(paths, error, most_steps),
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
    squares = np.add.reduceat(apart**2, kernel.indptr[:-1])[telling]
    best = int(telling[np.argmax(squares * (1.0 + TIE) >= squares.max())])
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


def least_steps(paths: SharedPaths, error: float, most_steps: int) -> Certified:
    """Return the bracket of the least number of steps that allow the error."""
    possible = 2.0 * sqrt(error * (1.0 - error)) * (1.0 + 4 * EPS)
    sure = 2.0 * error * (1.0 - 4 * EPS)
    if paths.overlap <= 2 * Fraction(error):  # the first state tells enough
        return Certified(0, 0)
    never = silent_places(paths)
    if never.all():  # and nothing else tells anything
        return Certified(inf, inf)
    best = _Course(paths)
    lasting = never_silenced(paths) if never.any() else None
    limit = _Limit(paths) if never.any() and lasting is None else None
    course = best if lasting is None else _Course(lasting)
    found = _race(best, course, limit, (possible, sure), most_steps)
    return Certified(max(1, found.ends[0]), found.upper)


def _race(
    best: _Course,
    lasting: _Course,
    limit: _Limit | None,
    levels: tuple[float, float],
    most_steps: int,
) -> Certified:
    """Compute more and more steps until both ends are known, or known well."""
    possible, sure = levels
    low, high, size = _Passage(possible), _Passage(sure), best.size
    most = min(most_steps, max(FIRST, MOST_WORK // size))
    while best.swept < most:
        count = min(max(FIRST, best.swept), most - best.swept)
        for course in (best,) if lasting is best else (best, lasting):
            course.sweep(count, sure)
        settled = [end.narrow(best, lasting) for end in (low, high)]
        if limit is not None and low.earliest < low.latest:
            least = limit.sweep(count)
            if least > possible:
                return Certified(inf, inf)
            if least > sure:
                high.earliest = high.latest = inf
        if best.over or all(end.earliest == end.latest for end in (low, high)):
            break
        if best.swept * size >= KEEN and all(settled):
            break
    return Certified(low.earliest, high.latest)


@final
class _Passage:
    """Bounds of the first n with BC_n at most a level; they only get closer."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.earliest: float = 0
        self.latest: float = inf

    def narrow(self, best: _Course, lasting: _Course) -> bool:
        """Use what was computed; return whether that is of no more use, or enough.

        A course that is not the best one bounds the passage of the best from above.
        """
        before = self.earliest, self.latest
        self.earliest = max(self.earliest, best.earliest(self.level))
        for course in (best, lasting):
            self.latest = min(self.latest, course.latest(self.level))
        if self.latest == inf:
            return False
        close = self.latest - self.earliest <= SHARP * self.latest
        moved = max(self.earliest - before[0], before[1] - self.latest)
        return close or moved <= SHARP * self.earliest


@final
class _Course:
    """BC_n for n = 0, 1, ..., as far as computed, and bounds of what comes later."""

    def __init__(self, paths: SharedPaths) -> None:
        self._paths, self._slip = paths, _slip(paths)
        self._values = np.ones(paths.n_places)
        self._series = np.array([float(paths.start.sum())])
        self._factors: tuple[float, float] | None = None  # of the last `_recent` steps
        self._recent = 0
        self.over = False  # BC_n has got to what was enough

    @property
    def swept(self) -> int:
        return self._series.size - 1

    @property
    def size(self) -> int:
        """Return how many numbers a sweep looks at."""
        return int(self._paths.shared.size + self._paths.row.size)

    def sweep(self, count: int, enough: float) -> None:
        """Compute `count` more steps, or fewer if BC_n gets to `enough`."""
        before = self._values.copy()
        safely = enough * exp(-(self.swept + count + 2) * self._slip)
        new = np.empty(count)
        swept = _swept(self._paths, self._values, new, safely)
        self.over = bool(new[swept - 1] <= safely)
        self._series = np.concatenate([self._series, new[:swept]])
        alive = before > 0.0
        if swept == count > 1 and alive.any():
            ratio = self._values[alive] / before[alive]
            wrong = exp((count + 2) * self._slip)
            self._factors = float(ratio.min()) / wrong, float(ratio.max()) * wrong
            self._recent = count

    def earliest(self, level: float) -> float:
        """Return a lower bound of the first n with BC_n <= level."""
        below = self._series / self._wrong() <= level
        if below.any():
            return int(np.argmax(below))
        if self._factors is None:
            return self.swept + 1
        recent = self._series[-self._recent :] / exp(self._series.size * self._slip)
        ahead = _passage(recent, self._factors[0], level, low=True)
        return max(self.swept + 1, ahead + self.swept + 1 - self._recent)

    def latest(self, level: float) -> float:
        """Return an upper bound of the first n with BC_n <= level, maybe inf."""
        below = self._series * self._wrong() <= level
        if below.any():
            return int(np.argmax(below))
        if self._factors is None:
            return inf
        recent = self._series[-self._recent :] * exp(self._series.size * self._slip)
        ahead = _passage(recent, self._factors[1], level, low=False)
        return ahead + self.swept + 1 - self._recent

    def _wrong(self) -> FloatArray:
        """Return the factors by which the steps computed may be off."""
        wrong: FloatArray = np.exp(np.arange(1, self._series.size + 1) * self._slip)
        return wrong


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
    done = 0
    for some in pieces(series.size, paths.shared.size):
        done += least_affinity(
            paths.groups,
            paths.indptr,
            paths.indices,
            paths.shared,
            paths.start,
            enough,
            values,
            series[some],
        )
        if done < some.stop or series[done - 1] <= enough:
            break
    return done


def _passage(recent: FloatArray, factor: float, level: float, *, low: bool) -> float:
    """Return the first r + k len(recent) with recent[r] factor^k <= level and k >= 1.

    `low` says on which side rounding may err.
    """
    if factor >= 1.0:
        return inf if not low else recent.size
    if factor <= 0.0:
        return recent.size
    powers = np.log(level / recent) / log(factor)
    powers = np.ceil(powers * (1.0 + (-QUOTIENT_TIE if low else QUOTIENT_TIE)))
    steps = np.arange(recent.size) + np.maximum(powers, 1.0) * recent.size
    return int(steps.min())
