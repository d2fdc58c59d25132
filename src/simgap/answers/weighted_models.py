"""The models that the prior gives weight: those that training ever meets.

Assumptions and theorems are about them. A model without weight may still be the real
one; then nothing is promised, but what the planned policy loses there is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, digest, owned
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import part_of_class


@final
@dataclass(frozen=True, slots=True, eq=False)
class WeightedModels:
    """The part of a class that has prior weight."""

    simulators: SimulatorClass
    prior: FloatArray  # (K,), positive
    index: OffsetArray  # (K,), where each model stands in the whole class

    @property
    def names(self) -> tuple[str, ...]:
        return self.simulators.model_names


def weighted_models(latent: LatentMDP) -> WeightedModels:
    """Return the models with prior weight; the pattern of the kernels is shared."""
    every, kept = latent.simulators, np.flatnonzero(latent.prior > 0.0)
    if kept.size == len(every):
        return WeightedModels(every, latent.prior, owned(kept))
    part = part_of_class(every, kept)
    return WeightedModels(part, owned(latent.prior[kept]), owned(kept))


def equal_kernels(
    simulators: SimulatorClass, states: BoolArray
) -> tuple[tuple[int, ...], ...]:
    """Return the groups of members that move alike in some states (S,), all of them."""
    seen = _entries(simulators, states)
    return _groups([digest(row[seen] + 0.0) for row in simulators.transitions.values])


def equal_models(
    simulators: SimulatorClass, states: BoolArray
) -> tuple[tuple[int, ...], ...]:
    """Return the groups of members that move and pay alike in some states (S,)."""
    seen, rewards = _entries(simulators, states), simulators.rewards
    keys = []
    for at, row in enumerate(simulators.transitions.values):
        own = rewards[at if len(rewards) > 1 else 0]
        keys.append(digest(row[seen] + 0.0, own[states] + 0.0))
    return _groups(keys)


def _entries(simulators: SimulatorClass, states: BoolArray) -> BoolArray:
    """Return which entries of the kernels belong to some states, (nnz,)."""
    kernel = simulators.transitions
    of_rows = np.repeat(states, kernel.n_actions)
    return np.repeat(of_rows, np.diff(kernel.indptr))


def _groups(keys: list[str]) -> tuple[tuple[int, ...], ...]:
    found: dict[str, list[int]] = {}
    for at, key in enumerate(keys):
        found.setdefault(key, []).append(at)
    return tuple(tuple(group) for group in found.values())
