"""Classes that several claims are measured on: rivers, switches and random ones.

Models of a random class have nothing in common but their size: every row is drawn anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simgap.instances import bandit, riverswim, switch_tree
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays


def rivers(members: int = 5) -> SimulatorClass:
    """Return rivers of six states, from a slow current to a fast one."""
    currents = tuple(np.linspace(0.1, 0.6, members).tolist())
    return riverswim(6, currents, left_reward=0.7, uniform=True)


def eight_switches() -> SimulatorClass:
    """Return a tree of four switches with two pulls each, one model per pull."""
    return switch_tree(4, 2, 0.1, 8, delta=0.2)


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


def random_problems(
    rng: np.random.Generator, count: int, *, members: int = 3
) -> Iterator[tuple[str, LatentMDP]]:
    """Yield bandits of four models and classes of `members`, with random weights."""
    for number in range(count):
        if number % 2:
            name, simulators = "class", random_class(rng, members=members)
        else:
            name, simulators = "bandit", bandit(rng.uniform(0.05, 0.95, (4, 3)))
        yield f"random {name} {number}", random_prior(rng, simulators)
