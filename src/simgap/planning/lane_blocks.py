"""Sixteen models side by side, in the layout that the wide kernels read."""

from __future__ import annotations

from collections.abc import Iterator

from simgap._kernels.solving import LANES
from simgap.arrays import FloatArray, aligned
from simgap.mdp import SimulatorClass

WIDE_FROM = 3  # models from which 16 lanes pay, empty ones included


def blocks(members: int) -> Iterator[range]:
    """Yield the models in runs of at most 16."""
    for first in range(0, members, LANES):
        yield range(first, min(first + LANES, members))


def side_by_side(every: SimulatorClass, block: range) -> tuple[FloatArray, FloatArray]:
    """Return kernels (nnz, 16) and rewards (S A, 16); unused lanes are zero."""
    kernel = every.transitions
    values = aligned((kernel.nonzeros, LANES))
    values[:, : len(block)] = kernel.values[block.start : block.stop].T
    rewards = aligned((kernel.n_states * kernel.n_actions, LANES))
    for lane, member in enumerate(block):
        rewards[:, lane] = rewards_of(every, member)
    return values, rewards


def rewards_of(every: SimulatorClass, member: int) -> FloatArray:
    """Return the rewards of one model by row s * A + a, (S A,)."""
    rewards: FloatArray = every.rewards[0 if every.shared_rewards else member]
    return rewards.reshape(-1)
