"""Classes that Algorithm 4 tells apart quickly, and episodes of it step by step."""

from __future__ import annotations

import numpy as np

from simgap.base_policies.paper.general_optimistic import Data, GeneralOptimistic
from simgap.instances import bandit
from simgap.mdp import SimulatorClass
from simgap.policies.interface import Step

COINS = ((0.4,), (0.6,), (0.8,), (0.2,))


def opposites() -> SimulatorClass:
    """Return two models in which arm 0 or arm 1 surely wins and the other loses."""
    return bandit(((1.0, 0.0), (0.0, 1.0)))


def far_apart(rng: np.random.Generator, members: int) -> SimulatorClass:
    """Return bandits that a score tells apart within a few steps."""
    return bandit(rng.uniform(0.02, 0.98, (members, 3)))


def memories(agent: GeneralOptimistic, steps: list[Step]) -> list[Data]:
    """Return what the agent remembers after every step of an episode."""
    memory, found = agent.start(steps[0].state), []
    for step in steps:
        memory = agent.observe(memory, step)
        found.append(memory)
    return found
