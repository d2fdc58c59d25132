"""A latent MDP as losses: what each action costs in each model.

With loss_m(h,s,a) = V*_{m,h}(s) - Q*_{m,h}(s,a) >= 0 the average gap of the oracle is

    G_h(s,w) = min_a { sum_m w_m loss_m(h,s,a) + sum_s' G_{h+1}(s', w * P(s'|s,a)) }

over weights w = prior times likelihood, not normalised: G is concave, homogeneous, and
zero where one model has all the weight. W* = sum_m nu_m V*_m - G, and for every policy
gap(pi, m) = E_m[sum_h loss_m(h, s_h, a_h)], exactly. All solvers work in this form, so
their errors are relative to the gap and not to the value.

Rounding. With the V computed here in place of V*, the identity holds exactly for the
losses V_h - (R + P V_{h+1}); storing them rounds each by at most (b + 4) u |V|, and V
itself is within `error` of V*. `rounding` is the sum of both over an episode: what the
stored losses can misstate about the gap of any policy in any model. Rows, laws and a
prior that do not sum to 1 exactly change the chance of a path, relatively, by at most
`defect` at each of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import final

import numpy as np

from simgap._kernels.solving.losses import backward_losses, discounted_values
from simgap._kernels.time_limit import pieces
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import (
    EPS,
    Certified,
    around,
    defect,
    weighted_sum,
)
from simgap.mdp import LatentMDP
from simgap.planning import (
    check_table_of_values,
    checked_horizon,
    start_defect,
    start_rounding,
    values_with_error,
)
from simgap.policies import Pattern

AT_ONCE = 2**18  # losses in a piece


@final
@dataclass(frozen=True, slots=True, eq=False)
class LossForm:
    """(U, nu) over H steps or with a discount, ready for the solvers."""

    latent: LatentMDP
    horizon: int | None  # None: infinite horizon with a discount
    discount: float  # 1.0 with a finite horizon
    pattern: Pattern
    likelihood: FloatArray  # (nnz, M), model index innermost
    losses: FloatArray  # (T, S, A, M) with T = H, or 1 with a discount
    optimal: FloatArray  # (M,), V* at the start of each model
    optimal_error: FloatArray  # (M,), of it
    root_states: IndexArray  # (K,), states in which episodes can start
    root_weights: FloatArray  # (K, M), nu_m mu_m(s); sums to 1 over everything
    rounding: float  # absolute, of the gap of any policy in any model
    defect: float  # relative, of the chance of a step, a first state or a model

    @property
    def n_models(self) -> int:
        return int(self.likelihood.shape[1])

    @property
    def steps(self) -> int:
        """How many different steps the losses have (1 with a discount)."""
        return int(self.losses.shape[0])

    @property
    def nothing_hidden(self) -> bool:
        """Whether one model alone can be real: its plan loses nothing."""
        return int((self.latent.prior > 0.0).sum()) == 1

    @property
    def relative_rounding(self) -> float:
        """Return what sums of losses over all steps can round, relatively.

        A backup sums terms that are not negative, at most (M + 1) b + M of them.
        """
        steps = self.horizon
        if steps is None:
            steps = min(ceil(60.0 / (1.0 - self.discount)), 10**9)
        longest = int(np.diff(self.pattern.indptr).max())
        each = ((self.n_models + 1) * longest + self.n_models + 8) * EPS + self.defect
        return (steps + 2) * each

    def around(self, gap: float) -> Certified:
        """Return the ends of a gap that was summed up from the stored losses."""
        error = self.rounding + self.relative_rounding * abs(gap)
        return Certified.around(gap, error).not_negative()

    def rounding_of(self, gaps: FloatArray) -> float:
        """Bound the rounding error of each gap, of V*, of its mean and of each value.

        `gaps` (M,) were summed up from the stored losses, values are V* less gaps.
        """
        reach = float(np.abs(self.optimal).max())
        of_mean = ((self.n_models + 4) * EPS + 2.0 * self.defect) * reach
        most = float(np.nanmax(gaps, initial=0.0))
        of_gaps = self.rounding + (self.relative_rounding + 2.0 * EPS) * most
        return of_gaps + float(self.optimal_error.max()) + of_mean

    def some_steps(self) -> Iterator[FloatArray]:
        """Yield the losses of a few steps at a time, so that copies stay small."""
        steps = max(1, len(self.losses))
        many = max(1, AT_ONCE * steps // max(1, self.losses.size))
        for first in range(0, steps, many):
            yield self.losses[first : first + many]

    @property
    def informed(self) -> float:
        """Return sum_m nu_m V*_m, the mean value of an agent that knows the model."""
        return float(self.latent.prior @ self.optimal)

    @property
    def worth(self) -> float:
        """Return `informed` less the least that any policy can get: no shift counts."""
        steps = self.steps if self.horizon is not None else 1.0 / (1.0 - self.discount)
        least = steps * float(self.latent.simulators.rewards.min())
        return max(0.0, self.informed - least)

    @property
    def optimal_ends(self) -> FloatArray:
        """Return numbers that enclose V* at the start of each model, (M, 2)."""
        return around(self.optimal, self.optimal_error)

    @property
    def informed_ends(self) -> Certified:
        """Return numbers that enclose sum_m nu_m V*_m."""
        low, high = self.optimal_ends.T
        prior = self.latent.prior.tolist()
        off = defect(prior) * float(np.abs(self.optimal).max())
        return weighted_sum(prior, low.tolist(), high.tolist()).wider(2.0 * off)


def loss_form(
    latent: LatentMDP, *, horizon: int | None = None, discount: float | None = None
) -> LossForm:
    """Return the losses of a latent MDP for a horizon or a discount, one of the two."""
    if (horizon is None) == (discount is None):
        raise InvalidArgument(
            "an oracle needs a horizon or a discount, one of them",
            hint="give horizon=200 or discount=0.99",
        )
    if horizon is not None:
        return _finite(latent, checked_horizon(horizon))
    return _discounted(latent, checked_discount(discount))


def checked_discount(discount: float | None) -> float:
    """Return a discount as a float between 0 and 1 - 1e-9, or raise."""
    if (
        isinstance(discount, bool)
        or not isinstance(discount, int | float | np.floating)
        or not 0.0 < float(discount) <= 1.0 - 1e-9
    ):
        raise InvalidArgument(
            f"discount {discount!r} is out of range", hint="give 0 < discount < 1"
        )
    return float(discount)


def bytes_of_losses(latent: LatentMDP, horizon: int | None) -> int:
    """Return how much memory the losses and chances of all models take."""
    simulators = latent.simulators
    steps = 1 if horizon is None else horizon
    per_step = simulators.n_states * simulators.n_actions * len(simulators)
    return 8 * (steps * per_step + simulators.transitions.values.size)


def _finite(latent: LatentMDP, horizon: int) -> LossForm:
    simulators = latent.simulators
    kernel = simulators.transitions
    check_table_of_values(simulators, horizon)
    likelihood = np.array(kernel.values.T, order="C")
    arrays = kernel.indptr, kernel.indices, likelihood, _rewards(latent), 1.0
    losses = np.empty((horizon, kernel.n_states, kernel.n_actions, len(simulators)))
    values = np.zeros((kernel.n_states, len(simulators)))
    reach = 0.0
    for done in pieces(horizon, likelihood.size):
        steps = horizon - done.stop, horizon - done.start
        reach = max(reach, backward_losses(*arrays, *steps, values, losses))
    first = values_with_error(simulators, values.T, horizon)
    per_step = ((_longest_row(latent) + 4) * EPS + _row_defect(latent)) * reach
    rounding = float(first.error.max()) + horizon * per_step
    known = first.start, first.error
    return _wrapped(latent, horizon, 1.0, likelihood, losses, known, rounding)


def _discounted(latent: LatentMDP, discount: float) -> LossForm:
    simulators = latent.simulators
    kernel = simulators.transitions
    likelihood = np.array(kernel.values.T, order="C")
    rewards = _rewards(latent)
    values, residual = discounted_values(
        kernel.indptr, kernel.indices, likelihood, rewards, discount
    )
    losses = np.empty((1, kernel.n_states, kernel.n_actions, len(simulators)))
    # V is within `residual` of its own backup, which the losses are counted from.
    backward_losses(
        kernel.indptr, kernel.indices, likelihood, rewards, discount, 0, 1,
        values.copy(), losses,
    )  # fmt: skip
    reach = float(np.abs(values).max())
    off = ((_longest_row(latent) + 4) * EPS + _row_defect(latent)) * reach
    error = (residual + off) / (1.0 - discount) + start_rounding(simulators) * reach
    rounding = (residual + off) / (1.0 - discount) + error
    known = simulators.at_start(values.T), np.full(len(simulators), error)
    return _wrapped(latent, None, discount, likelihood, losses, known, rounding)


def _wrapped(
    latent: LatentMDP,
    horizon: int | None,
    discount: float,
    likelihood: FloatArray,
    losses: FloatArray,
    known: tuple[FloatArray, FloatArray],
    rounding: float,
) -> LossForm:
    """Return the form; `known` is V* at the start and its error."""
    simulators, kernel = latent.simulators, latent.simulators.transitions
    laws = np.stack([simulators.start_law(m) for m in range(len(simulators))])
    weights = (latent.prior[:, None] * laws).T  # (S, M)
    roots = np.flatnonzero(weights.any(axis=1))
    indptr: OffsetArray = kernel.indptr
    return LossForm(
        latent=latent,
        horizon=horizon,
        discount=discount,
        pattern=Pattern(kernel.n_states, kernel.n_actions, indptr, kernel.indices),
        likelihood=owned(likelihood),
        losses=owned(losses),
        optimal=owned(np.array(known[0])),
        optimal_error=owned(np.array(known[1])),
        root_states=owned(roots.astype(np.int32)),
        root_weights=owned(np.ascontiguousarray(weights[roots])),
        rounding=rounding,
        defect=max(
            _row_defect(latent),
            defect(latent.prior.tolist()),
            start_defect(simulators),
        ),
    )


def _rewards(latent: LatentMDP) -> FloatArray:
    """Return the rewards as (S, A, M)."""
    simulators = latent.simulators
    shape = (len(simulators), simulators.n_states, simulators.n_actions)
    rewards = np.broadcast_to(simulators.rewards, shape)
    return np.array(np.moveaxis(rewards, 0, 2), order="C")


def _row_defect(latent: LatentMDP) -> float:
    return float(latent.simulators.transitions.row_defects.max())


def _longest_row(latent: LatentMDP) -> int:
    return latent.simulators.transitions.longest_row
