"""What every model predicts where Algorithm 4 may look (theory 2.10).

While model k is played, data come from rows (s, pi_k(s)) and are about the bias l_k:
f_m(s, pi_k(s), l_k) for all k, s and m is all that the algorithm ever compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import final

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.base_policies.knowledge import ClassKnowledge
from simgap.errors import InvalidArgument
from simgap.simulation import RewardSignal

MOST_ENTRIES = 2**27  # one gigabyte


@final
@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """f_m at every point that can be visited, and what is observed there."""

    known: ClassKnowledge
    mean: FloatArray  # (M, S, M), f_m(s, pi_k(s), l_k) by k, s, m
    outcome: FloatArray  # (M, E), y: l_k(s'), plus the reward if it is seen
    count: int  # |F|: functions that differ somewhere on S x A x biases
    reward_width: float  # how far apart the rewards that are seen can be
    width: float  # Dl: the greatest span of a bias, and of rewards

    def cover(self, epsilon: float) -> int:
        """Return the size of a cover of F in the sup norm, at least N(F, eps)."""
        members = len(self.mean)
        apart = np.zeros((members, members))
        for values in _all_values(self.known, self.outcome):
            for column in np.unique(values, axis=1).T:
                np.maximum(apart, np.abs(column[:, None] - column), out=apart)
        near, left, size = apart <= epsilon, np.ones(members, np.bool_), 0
        while left.any():
            left &= ~near[int((near & left).sum(axis=1).argmax())]
            size += 1
        return size


def predictions(known: ClassKnowledge) -> Predictions:
    """Return what the models of a class predict.

    Functions count as one if all their values are equal to the last bit: rounding can
    only make |F|, and with it the radius of Algorithm 4, larger.
    """
    members, n_states = known.policy.shape
    if members**2 * n_states > MOST_ENTRIES:
        raise InvalidArgument(
            f"{members} models and {n_states} states have {members**2 * n_states} "
            f"predictions, at most {MOST_ENTRIES} are kept",
            hint="take fewer models: predictions are models x biases x states",
        )
    observed = known.observed
    outcome = known.bias[:, observed.next_state]
    spread = 0.0
    if observed.signal is not RewardSignal.UNSEEN:
        outcome = outcome + observed.seen_reward
        spread = float(np.ptp(observed.seen_reward))
    mean = np.empty((members, n_states, members))
    signatures = [blake2b() for _ in range(members)]
    here = np.arange(n_states) * known.simulators.n_actions
    for k, values in enumerate(_all_values(known, outcome)):
        mean[k] = values[:, here + known.policy[k]].T
        for signature, row in zip(signatures, values, strict=True):
            signature.update(row.tobytes())
    return Predictions(
        known=known,
        mean=owned(mean),
        outcome=owned(np.ascontiguousarray(outcome)),
        count=len({signature.digest() for signature in signatures}),
        reward_width=spread,
        width=float(known.average.bias_span.max()) + spread,
    )


def _all_values(known: ClassKnowledge, outcome: FloatArray) -> Iterator[FloatArray]:
    """Yield f_m(s, a, l_k) as (M, S A), for one k after the other."""
    observed = known.observed
    for of_bias in outcome:
        weighed = observed.chances * of_bias
        yield np.add.reduceat(weighed, observed.indptr[:-1], axis=1)
