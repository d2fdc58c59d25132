"""Algorithm 4 for a box of parameters: which of its two infinite forms to play.

Where the kernel is a linear function of the parameters, the models of a box are the
mixtures of those at its corners, and `general_mixture` plays them with a guarantee.
Otherwise the box is covered by cells (`cover_agent`), with rates of change that are
estimated from random pairs: then nothing is guaranteed, and `proved` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.cover import cover_of_family
from simgap.base_policies.infinite.cover_agent import OptimisticCover, optimistic_cover
from simgap.base_policies.infinite.general_mixture import (
    OptimisticMixture,
    optimistic_mixture,
)
from simgap.base_policies.infinite.mixture_class import mixture_of
from simgap.base_policies.infinite.parametric_family import (
    Box,
    Instantiate,
    estimated_smoothness,
    model_at,
)
from simgap.errors import InvalidModel
from simgap.mdp import SimulatorClass, TabularMDP

TRIED = 12  # random models at which linearity is checked
LINEAR = 1e-12  # in every probability
MOST_ENTRIES = 10**7  # of a table of probabilities


@final
@dataclass(frozen=True, slots=True, eq=False)
class ContinuumAgent:
    """Algorithm 4 on an infinite class, and what it rests on."""

    policy: OptimisticMixture | OptimisticCover
    linear: bool  # every model is a mixture of those at the corners
    proved: bool  # whether the policy has a guarantee


def continuum_agent(
    instantiate: Instantiate,
    box: Box,
    corners: SimulatorClass,
    horizon: int,
    *,
    seed: int = 0,
) -> ContinuumAgent:
    """Return Algorithm 4 for all models of a box; `corners` are those at its corners.

    Linearity is checked at the corners and at random models, not proved.
    """
    instantiate = _of_one_size(instantiate, box)
    if linear_in_parameters(instantiate, box, seed=seed):
        policy = optimistic_mixture(mixture_of(corners), horizon, name="general")
        return ContinuumAgent(policy, linear=True, proved=True)
    rates = estimated_smoothness(instantiate, box, seed=seed)
    covered = optimistic_cover(
        cover_of_family(instantiate, box, rates), horizon, name="general"
    )
    return ContinuumAgent(covered, linear=False, proved=False)


def _of_one_size(instantiate: Instantiate, box: Box) -> Instantiate:
    """Return the function that refuses models of other sizes than the first."""
    first = instantiate({name: low for name, (low, _) in box.items()})
    shape = (first.n_states, first.n_actions)
    if first.n_states * first.n_actions * first.n_states > MOST_ENTRIES:
        raise InvalidModel(
            f"models of {shape[0]} states and {shape[1]} actions are too large for an "
            "agent of infinite classes, which keeps whole tables of probabilities",
            hint=f"S A S may be {MOST_ENTRIES:,}; take fewer cells or states",
        )

    def same(theta: Mapping[str, float]) -> TabularMDP:
        model = instantiate(theta)
        if (model.n_states, model.n_actions) != shape:
            raise InvalidModel(
                f"models have {shape[0]} and {model.n_states} states in one continuum",
                hint="states must not depend on the parameters; on a grid, take "
                "coarser cells or a shorter interval",
            )
        return model

    return same


def linear_in_parameters(instantiate: Instantiate, box: Box, *, seed: int = 0) -> bool:
    """Return whether kernels move linearly with the parameters wherever it was tried.

    A linear function of P parameters is known from P + 1 of the corners.
    """
    names = tuple(box)
    low, high = (np.array([box[name][end] for name in names]) for end in (0, 1))

    def kernel(theta: FloatArray) -> FloatArray:
        return model_at(instantiate, names, theta).transitions.array(0)

    origin = kernel(low)
    slopes = [kernel(np.where(np.arange(low.size) == i, high, low)) - origin
              for i in range(low.size)]  # fmt: skip
    rng = np.random.default_rng(seed)
    parts = np.concatenate([rng.random((TRIED, low.size)), np.ones((1, low.size))])
    return all(
        np.abs(kernel(low + part * (high - low)) - origin
               - np.tensordot(part, slopes, axes=1)).max() <= LINEAR
        for part in parts
    )  # fmt: skip
