"""Random classes with nothing in common but their size: every row is drawn anew."""

from __future__ import annotations

import numpy as np

from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays


def random_class(
    rng: np.random.Generator,
    *,
    members: int = 3,
    states: int = 3,
    actions: int = 2,
    uneven: float = 0.5,
) -> SimulatorClass:
    """Return M models with Dirichlet rows and shared rewards in [0, 1].

    Every state follows every pair (s, a), so that all models communicate. The smaller
    `uneven`, the more a row prefers some states.
    """
    kernel = rng.dirichlet(np.full(states, uneven), (members, states, actions))
    kernel = 0.02 / states + 0.98 * kernel
    rewards = rng.random((states, actions))
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def random_prior(
    rng: np.random.Generator, simulators: SimulatorClass, *, even: float = 2.0
) -> LatentMDP:
    """Return the class with random weights, none of them zero."""
    weights = rng.dirichlet(np.full(len(simulators), even))
    return LatentMDP(simulators, 0.01 / len(simulators) + 0.99 * weights)
