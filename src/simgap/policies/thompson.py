"""Thompson sampling: play the plan of a model drawn from the posterior.

A model is drawn anew at every step. (One draw for the whole episode is a mixture of
policies and not a policy with a memory that observations determine.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, read_only
from simgap.policies.belief import check_losses
from simgap.policies.checks import check_horizon, check_name, check_state, check_step
from simgap.policies.graph import Pattern
from simgap.policies.interface import Step
from simgap.policies.posterior import (
    Posterior,
    as_weights,
    check_tracking,
    first_posterior,
    next_posterior,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ThompsonPolicy:
    """An action as likely as the models whose plan it is; memory is the posterior.

    The plan of a model is the lowest action with the least loss in it.
    """

    name: str
    pattern: Pattern
    horizon: int | None  # None: discounted, T = 1
    discount: float  # 1.0 for a finite horizon
    prior: FloatArray  # (M,)
    start_law: FloatArray  # (M, S), of the first state in each model
    likelihood: FloatArray  # (nnz, M), of each successor in each model
    losses: FloatArray  # (T, S, A, M)

    def __post_init__(self) -> None:
        for field in ("prior", "start_law", "likelihood", "losses"):
            object.__setattr__(self, field, read_only(getattr(self, field)))
        check_name(self.name)
        check_horizon(self.horizon)
        check_tracking(self.pattern, self.prior, self.start_law, self.likelihood)
        check_losses(
            self.losses, self.pattern, self.horizon, self.discount, self.prior.size
        )

    def start(self, state: int) -> Posterior:
        """Return the posterior of an episode that begins in `state`."""
        return first_posterior(self.prior, self.start_law, state)

    def act(self, memory: Posterior, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        check_step(h, self.horizon)
        check_state(state, self.pattern.n_states)
        weights = as_weights(memory, self.prior.size)
        losses = self.losses[0 if self.horizon is None else h, state]
        drawn = np.bincount(
            losses.argmin(axis=0), weights, minlength=self.pattern.n_actions
        )
        return np.asarray(drawn / drawn.sum())

    def observe(self, memory: Posterior, step: Step) -> Posterior:
        """Return the posterior after a step."""
        return next_posterior(self.pattern, self.likelihood, self.horizon, memory, step)
