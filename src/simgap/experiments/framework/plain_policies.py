"""Policies that stand beside the oracle: plans for one model, and chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simgap.base_policies.fixed import uniformly_random
from simgap.mdp import SimulatorClass
from simgap.planning import solve_episodic
from simgap.policies import MarkovPolicy, Policy


def plain_policies(simulators: SimulatorClass, horizon: int) -> Iterator[Policy[Any]]:
    """Yield the policy that acts at random, and the best plan of every model."""
    yield uniformly_random(simulators)
    for plan in solve_episodic(simulators, horizon).policy:
        yield MarkovPolicy("plan", simulators.n_actions, plan)


def random_tables(
    rng: np.random.Generator, simulators: SimulatorClass, horizon: int, count: int
) -> Iterator[Policy[Any]]:
    """Yield policies without memory whose actions are drawn, per step and state."""
    for _ in range(count):
        shape = horizon, simulators.n_states
        table = rng.integers(0, simulators.n_actions, shape).astype(np.int32)
        yield MarkovPolicy("table", simulators.n_actions, table)
