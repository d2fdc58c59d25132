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
stored losses can misstate about the gap of any policy in any model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.losses import discounted_values, fill_losses
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.planning.episodic import checked_horizon, solve_episodic
from simgap.policies.graph import Pattern

EPS = 2.0**-52


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
    root_states: IndexArray  # (K,), states in which episodes can start
    root_weights: FloatArray  # (K, M), nu_m mu_m(s); sums to 1 over everything
    rounding: float  # absolute, of the gap of any policy in any model

    @property
    def n_models(self) -> int:
        return int(self.likelihood.shape[1])

    @property
    def steps(self) -> int:
        """How many different steps the losses have (1 with a discount)."""
        return int(self.losses.shape[0])

    @property
    def informed(self) -> float:
        """Return sum_m nu_m V*_m, what an agent told the model would reach."""
        return float(self.latent.prior @ self.optimal)

    @property
    def worth(self) -> float:
        """Return `informed` less the least that any policy can get: no shift counts."""
        steps = self.steps if self.horizon is not None else 1.0 / (1.0 - self.discount)
        least = steps * float(self.latent.simulators.rewards.min())
        return max(0.0, self.informed - least)


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
    """Return how much memory the losses and optimal values take."""
    simulators = latent.simulators
    steps = 1 if horizon is None else horizon
    per_step = simulators.n_states * len(simulators) * (2 * simulators.n_actions + 3)
    return 8 * (steps * per_step // 2 + simulators.transitions.values.size)


def _finite(latent: LatentMDP, horizon: int) -> LossForm:
    simulators = latent.simulators
    kernel = simulators.transitions
    plan = solve_episodic(simulators, horizon)
    likelihood = np.array(kernel.values.T, order="C")
    losses = np.empty((horizon, kernel.n_states, kernel.n_actions, len(simulators)))
    fill_losses(
        kernel.indptr, kernel.indices, likelihood, _rewards(latent), 1.0,
        plan.values, losses,
    )  # fmt: skip
    reach = float(np.abs(plan.values).max(initial=0.0))
    per_step = (_longest_row(latent) + 4) * EPS * reach
    rounding = float(plan.error.max(initial=0.0)) + horizon * per_step
    return _wrapped(latent, horizon, 1.0, likelihood, losses, plan.start, rounding)


def _discounted(latent: LatentMDP, discount: float) -> LossForm:
    simulators = latent.simulators
    kernel = simulators.transitions
    likelihood = np.array(kernel.values.T, order="C")
    rewards = _rewards(latent)
    values, residual = discounted_values(
        kernel.indptr, kernel.indices, likelihood, rewards, discount
    )
    losses = np.empty((1, kernel.n_states, kernel.n_actions, len(simulators)))
    both = np.stack([values.T, values.T], axis=1)  # (M, 2, S): V before and after
    stacked = owned(np.ascontiguousarray(both))
    fill_losses(
        kernel.indptr, kernel.indices, likelihood, rewards, discount, stacked, losses
    )
    # V is within `residual` of its own backup: a loss may be that much below zero.
    reach = float(np.abs(values).max(initial=0.0))
    per_step = 2.0 * residual + (_longest_row(latent) + 4) * EPS * reach
    rounding = per_step / (1.0 - discount)
    start = simulators.at_start(values.T)
    return _wrapped(latent, None, discount, likelihood, losses, start, rounding)


def _wrapped(
    latent: LatentMDP,
    horizon: int | None,
    discount: float,
    likelihood: FloatArray,
    losses: FloatArray,
    optimal: FloatArray,
    rounding: float,
) -> LossForm:
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
        optimal=owned(np.array(optimal)),
        root_states=owned(roots.astype(np.int32)),
        root_weights=owned(np.ascontiguousarray(weights[roots])),
        rounding=rounding,
    )


def _rewards(latent: LatentMDP) -> FloatArray:
    """Return the rewards as (S, A, M)."""
    simulators = latent.simulators
    shape = (len(simulators), simulators.n_states, simulators.n_actions)
    rewards = np.broadcast_to(simulators.rewards, shape)
    return np.array(np.moveaxis(rewards, 0, 2), order="C")


def _longest_row(latent: LatentMDP) -> int:
    return int(np.diff(latent.simulators.transitions.indptr).max())
