"""Which cells of a cover the data leave: Algorithm 4's set with beta for the radius.

Sample t is a step (s, a, s') with a bias l of width w over the successors of (s, a):
f_b = P_b l / w for the centre of cell b and y = l(s') / w. With f* for the real model,
the noise y - f* has mean 0 and width 1. For one cell b with Z_b = sum (f_b - f*)^2 and
L(b) = sum (f_b - y)^2, Ville's inequality gives, at all times at once,

    L(b) - L* >= Z_b / 2 - log(1/p)   and   L(b) - L* <= 3 Z_b + log(1/p) / 4,

each with probability 1 - p. (Both are exp(2 c sum (f_b - f*) noise - c^2 Z_b / 2), for
c = 1 and c = -4.) The first is needed of every cell that may become the fit, the second
only of those that hold the real parameter, one at each depth. Depth j of a tree with
r roots has r 2^j cells; with p in proportion to 1 / ((j+1)(j+2)) in each half of 1/H,

    price(b) = log(2 H r 2^j (j+1)(j+2)),   own(b) = log(2 H (j+1)(j+2))

make all of these hold with probability 1 - 1/H, for the whole tree and not only for the
cells that are ever looked at: refining on the data costs nothing more.

Misspecification. The cell g of the real parameter has |f_g - f*| <= radius_g / 2, hence
Z_g <= A_g = n radius_g^2 / 4 after n samples. The fit has L(fit) <= L(g), hence
|f_fit - f*|^2_Z <= 6 A_g + own(g) / 2 + 2 price(fit), and g is in

    { b: |f_b - f_fit|^2_Z <= beta_b },
    sqrt(beta_b) = sqrt(A_b) + sqrt(6 A_b + own(b) / 2 + 2 price(fit)).

For radius 0 this is the finite class's beta up to constants. The same two inequalities
keep g among the cells with L(b) - L(fit) <= 3 A_b + own(b) / 4 + price(fit), a test
that leaves fewer of the others; cells have to pass both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.base_policies.infinite.cover import Cell

Counts = tuple[tuple[int, ...], ...]
TOLD = 1e-6  # of the spread of rewards: biases that vary less tell nothing


@final
@dataclass(frozen=True, slots=True)
class Played:
    """One episode of the algorithm: what was played, and what came of it."""

    policy: tuple[int, ...]  # (S,)
    bias: tuple[float, ...]  # (S,)
    counts: Counts  # (S, S), steps s -> s'


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Samples grouped by episode and state, where predictions are the same."""

    policy: OffsetArray  # (E, S)
    lifted: FloatArray  # (E, S, S), l(s') / w less its least; 0 where nothing is told
    visits: FloatArray  # (E, S)
    means: FloatArray  # (E, S), of lifted(s') over the visits

    def predictions(self, cells: Sequence[Cell]) -> FloatArray:
        """Return P_b l / w of every cell in every group, (N, E S)."""
        kernels = np.stack([cell.kernel for cell in cells])
        states = np.arange(kernels.shape[1])
        out = [
            np.einsum("nst,st->ns", kernels[:, states, policy], lifted)
            for policy, lifted in zip(self.policy, self.lifted, strict=True)
        ]
        if not out:
            return np.zeros((len(cells), 0))
        return np.concatenate(out, axis=1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plausible:
    """What the data say of each cell."""

    fit: int
    alive: BoolArray  # (N,)
    distance: FloatArray  # (N,), |f_b - f_fit|^2 over Z
    limit: FloatArray  # (N,), beta
    excess: FloatArray  # (N,), L(b) - L(fit)
    excess_limit: FloatArray  # (N,)


def evidence(
    played: Sequence[Played], support: BoolArray, *, least_width: float
) -> Evidence:
    """Return the samples of some episodes; `support` is where models may go."""
    n_states = support.shape[0]
    states = np.arange(n_states)
    policies, lifts, visits, means = [], [], [], []
    for each in played:
        policy, bias = np.array(each.policy), np.array(each.bias)
        open_to = support[states, policy]
        least = np.where(open_to, bias, np.inf).min(axis=1)
        width = np.where(open_to, bias, -np.inf).max(axis=1) - least
        told = width > least_width
        lifted = np.where(open_to, bias - least[:, None], 0.0)
        lifted *= (told / np.where(told, width, 1.0))[:, None]
        counts = np.array(each.counts, np.float64)
        seen = counts.sum(axis=1)
        policies.append(policy)
        lifts.append(lifted)
        visits.append(seen)
        means.append((counts * lifted).sum(axis=1) / np.maximum(seen, 1.0))
    count = len(played)
    return Evidence(
        policy=np.array(policies, np.int64).reshape(count, n_states),
        lifted=np.array(lifts).reshape(count, n_states, n_states),
        visits=np.array(visits).reshape(count, n_states),
        means=np.array(means).reshape(count, n_states),
    )


def plausible(
    cells: Sequence[Cell],
    predicted: FloatArray,
    data: Evidence,
    *,
    horizon: int,
    roots: int,
) -> Plausible:
    """Return the fit and the cells that are left, from predictions (N, E S)."""
    visits, means = data.visits.reshape(-1), data.means.reshape(-1)
    losses = ((predicted - means) ** 2 * visits).sum(axis=1)
    fit = int(losses.argmin())
    distance = ((predicted - predicted[fit]) ** 2 * visits).sum(axis=1)
    radius = np.array([cell.radius for cell in cells])
    own = np.array([own_price(cell.depth, horizon) for cell in cells])
    off = visits.sum() * radius**2 / 4.0
    chance = price(cells[fit].depth, horizon, roots)
    limit = (np.sqrt(off) + np.sqrt(6.0 * off + 0.5 * own + 2.0 * chance)) ** 2
    excess, excess_limit = losses - losses[fit], 3.0 * off + 0.25 * own + chance
    alive = (distance <= limit) & (excess <= excess_limit)
    return Plausible(fit, alive, distance, limit, excess, excess_limit)


def price(depth: int, horizon: int, roots: int) -> float:
    """Return log(1/p) for one of all cells at a depth."""
    return own_price(depth, horizon) + depth * log(2.0) + log(roots)


def own_price(depth: int, horizon: int) -> float:
    """Return log(1/p) for the cell at a depth that holds the real parameter."""
    return log(2.0 * horizon) + log((depth + 1.0) * (depth + 2.0))
