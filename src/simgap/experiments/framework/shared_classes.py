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


def random_prior(rng: np.random.Generator, simulators: SimulatorClass) -> LatentMDP:
    """Return the class with random weights, none of them zero."""
    weights = rng.dirichlet(np.full(len(simulators), 2.0))
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


def corridor(length: int, members: int) -> SimulatorClass:
    """Return models that differ at the far end of a corridor alone; D is its length.

    Staying at the near end pays 1, all else nothing. At the far end action m leads back
    to the near end with chance 0.8 in model m and with 0.2 in the others, else one step
    short of it: what tells the models apart costs the way.
    """
    states, far = length + 1, length
    kernel = np.zeros((members, states, members, states))
    for state in range(far):
        kernel[:, state, 0, max(state - 1, 0)] = 1.0
        kernel[:, state, 1:, state + 1] = 1.0
    own = np.eye(members, dtype=np.bool_)
    kernel[:, far, :, 0] = np.where(own, 0.8, 0.2)
    kernel[:, far, :, 1] = np.where(own, 0.2, 0.8)
    rewards = np.zeros((states, members))
    rewards[0, 0] = 1.0
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
