"""Policies that track the posterior over models and act greedily on it.

At step h in state s with posterior b the action minimises

    sum_m b_m loss_m(h, s, a) + discount sum_s' tail(h + 1, s', b * likelihood(s'|s,a))

where tail(h, s', w) is the least w . v over the stored vectors v of s' (0 at the end of
the episode, and 0 if nothing is stored). Without vectors this is the greedy posterior
(QMDP) policy. Vectors are kept at some steps only: step h uses those of
`vector_set[h]`. Of equally good actions the lowest is played. With a discount there is
one set of losses, and step h + 1 uses `vector_set[1]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.beliefs.belief_episodes import action_costs
from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from simgap.errors import InvalidArgument
from simgap.policies.checks import (
    check_horizon,
    check_name,
    check_state,
    check_step,
    surely,
)
from simgap.policies.graph import Pattern, check_offsets, check_range
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
class BeliefPolicy:
    """Greedy on the posterior; memory is the posterior, a tuple of M numbers."""

    name: str
    pattern: Pattern
    horizon: int | None  # None: discounted, T = 1
    discount: float  # 1.0 for a finite horizon
    prior: FloatArray  # (M,)
    start_law: FloatArray  # (M, S), of the first state in each model
    likelihood: FloatArray  # (nnz, M), of each successor in each model
    losses: FloatArray  # (T, S, A, M)
    vector_set: IndexArray  # (T + 1,), which set of vectors to use at a step
    vector_offsets: OffsetArray  # (sets * S + 1,), row `set * S + state`
    vectors: FloatArray  # (V, M), gaps of continuations in each model

    def __post_init__(self) -> None:
        for field in ("prior", "start_law", "likelihood", "losses", "vectors"):
            object.__setattr__(self, field, read_only(getattr(self, field)))
        for field, dtype in (("vector_set", np.int32), ("vector_offsets", np.int64)):
            object.__setattr__(self, field, read_only(getattr(self, field), dtype))
        check_name(self.name)
        check_horizon(self.horizon)
        check_tracking(self.pattern, self.prior, self.start_law, self.likelihood)
        check_losses(
            self.losses, self.pattern, self.horizon, self.discount, self.prior.size
        )
        _check_vectors(self)

    def start(self, state: int) -> Posterior:
        """Return the posterior of an episode that begins in `state`."""
        return first_posterior(self.prior, self.start_law, state)

    def act(self, memory: Posterior, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        check_step(h, self.horizon)
        check_state(state, self.pattern.n_states)
        costs = np.empty(self.pattern.n_actions)
        action_costs(
            self.pattern.indptr,
            self.pattern.indices,
            self.likelihood,
            self.losses[0 if self.horizon is None else h],
            self.discount,
            int(self.vector_set[1 if self.horizon is None else h + 1]),
            self.horizon is not None and h + 1 == self.horizon,
            self.vector_offsets,
            self.vectors,
            as_weights(memory, self.prior.size),
            state,
            costs,
        )
        return surely(int(np.argmin(costs)), self.pattern.n_actions)

    def observe(self, memory: Posterior, step: Step) -> Posterior:
        """Return the posterior after a step."""
        return next_posterior(self.pattern, self.likelihood, self.horizon, memory, step)


def check_losses(
    losses: FloatArray,
    pattern: Pattern,
    horizon: int | None,
    discount: float,
    members: int,
) -> None:
    """Raise unless losses belong to the pattern, the horizon and the discount."""
    steps = 1 if horizon is None else horizon
    shape = (steps, pattern.n_states, pattern.n_actions, members)
    if losses.shape != shape:
        raise InvalidArgument(
            f"losses have shape {losses.shape}", hint=f"the policy needs {shape}"
        )
    if not np.isfinite(losses).all():
        raise InvalidArgument(
            "a loss is not a finite number", hint="losses come from loss_form(...)"
        )
    fits = discount == 1.0 if horizon is not None else 0.0 < discount < 1.0
    if not fits:
        raise InvalidArgument(
            f"discount {discount!r} with horizon {horizon!r}",
            hint="a policy has a horizon and discount 1.0, or a discount below 1",
        )


def _check_vectors(policy: BeliefPolicy) -> None:
    n_states, members = policy.pattern.n_states, policy.prior.size
    if policy.vectors.ndim != 2 or policy.vectors.shape[1] != members:
        raise InvalidArgument(
            f"vectors have shape {policy.vectors.shape}",
            hint=f"a vector has one number per model: (V, {members})",
        )
    if not np.isfinite(policy.vectors).all():
        raise InvalidArgument("a vector holds a number that is not finite")
    sets = max(policy.vector_offsets.size - 1, 0) // n_states
    check_offsets(
        policy.vector_offsets, sets * n_states, len(policy.vectors), "vector_offsets"
    )
    check_range(policy.vector_set, 0, max(sets, 1), "vector_set")
    steps = 1 if policy.horizon is None else policy.horizon
    if policy.vector_set.shape != (steps + 1,):
        raise InvalidArgument(
            f"vector_set has shape {policy.vector_set.shape}",
            hint=f"one number per step and one for the end: ({steps + 1},)",
        )
