"""Random classes in which no single step tells the models apart (after Garnet).

A row of (s, a) has `branching` random successors, the same in all models. Its law in a
model is (1 - mix) base + mix own, with base and own uniform on the simplex and base
shared by all models: the posterior moves a little with every step and never jumps to
one model. Rewards are shared, zero except in a part `density` of the rows.
"""

from __future__ import annotations

import numpy as np

from simgap.instances.arguments import (
    MOST_MEMBERS,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    check_volume,
    checked_number,
    checked_whole,
)
from simgap.instances.known import Known
from simgap.mdp import Details, SimulatorClass, class_from_edges


def garnet_mixture(
    states: int = 20,
    actions: int = 4,
    branching: int = 3,
    members: int = 10,
    *,
    mix: float = 0.7,
    density: float = 0.3,
    seed: int = 0,
) -> SimulatorClass:
    """Return a random class with shared supports and shared rewards."""
    _check(states, actions, branching, members, mix=mix, density=density, seed=seed)
    rng = np.random.default_rng(seed)
    supports = np.empty((states * actions, branching), np.int64)
    values = np.empty((members, states * actions, branching))
    flat = np.ones(branching)
    for row in range(states * actions):
        supports[row] = rng.choice(states, branching, replace=False)
        base = rng.dirichlet(flat)
        for member in range(members):
            values[member, row] = (1.0 - mix) * base + mix * rng.dirichlet(flat)
    values /= values.sum(axis=2, keepdims=True)
    rewards = rng.random((states, actions))
    rewards *= rng.random((states, actions)) < density
    model, row_of, slot = np.indices(values.shape).reshape(3, -1)
    after = supports[row_of, slot]
    return class_from_edges(
        np.column_stack([model, row_of // actions, row_of % actions, after]),
        values.ravel(),
        rewards,
        shape=(members, states, actions),
        details=Details(notes=(f"seed {seed}; not every draw communicates",)),
    )


def garnet_mixture_known(
    states: int = 20,
    actions: int = 4,
    branching: int = 3,
    members: int = 10,
    *,
    mix: float = 0.7,
    density: float = 0.3,
    seed: int = 0,
) -> Known:
    """Return nothing: a random class has no closed forms, and here no separation."""
    _check(states, actions, branching, members, mix=mix, density=density, seed=seed)
    return Known()


def _check(
    states: int,
    actions: int,
    branching: int,
    members: int,
    *,
    mix: float,
    density: float,
    seed: int,
) -> None:
    checked_whole("states", states)
    checked_whole("actions", actions, most=10_000)
    checked_whole("branching", branching, most=states)
    checked_whole("members", members, most=MOST_MEMBERS)
    checked_whole("seed", seed, least=0, most=2**63 - 1)
    checked_number("mix", mix, POSITIVE_PROBABILITY)
    checked_number("density", density, PROBABILITY)
    check_volume("garnet_mixture", members * states * actions * branching)
