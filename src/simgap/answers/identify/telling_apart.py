"""How many steps the best experiment needs to tell two models apart, and where to look.

An experiment is a rule that picks every action from all that was seen, and a guess at
the end. The two models are equally likely beforehand; states are seen, rewards are not.
`experiment_steps` has the mathematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap.answers.identify.experiment_steps import least_steps
from simgap.answers.identify.shared_paths import SharedPaths, shared_paths
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, Certified
from simgap.mdp import SimulatorClass, checked_class

TIE = 1e-12  # rows as good as each other up to this factor: the first one wins
MOST_VISITS = 10**15  # beyond, 1 - BC is a matter of rounding


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
