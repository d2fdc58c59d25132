"""Classes and programs that the tests of Algorithm 1 share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simgap._kernels.walking.walk import Record, World
from simgap.arrays import AnyArray, OffsetArray
from simgap.base_policies.paper.elimination import Elimination
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.simulation.observed import ObservedClass
from simgap.simulation.worlds import RealModels

FIVE_RATES = (0.1, 0.225, 0.35, 0.475, 0.6)  # of five rivers, 0.25 apart in L1


def coins(*means: float) -> SimulatorClass:
    """Return one-state models whose only action pays 1 with these chances."""
    rewards = np.array(means).reshape(-1, 1, 1)
    return class_from_arrays(np.ones((len(means), 1, 1, 1)), rewards)


@dataclass(frozen=True)
class Eager:
    """The compiled agent with a look at every step, or without the exact tail."""

    agent: Elimination
    lazy: bool = False
    tail: bool = True

    @property
    def observed(self) -> ObservedClass:
        return self.agent.observed

    def run(
        self,
        real: RealModels,
        world: World,
        member: int,
        keys: AnyArray,
        grid: OffsetArray,
        record: Record,
    ) -> None:
        self.agent.run(
            real, world, member, keys, grid, record, lazy=self.lazy, tail=self.tail
        )


def crossroads() -> SimulatorClass:
    """Return lines of five states whose two actions are swapped in half the models.

    A model that has them the wrong way round leads into the wrong end and stays there,
    so turns run out and the next one leads.
    """
    P = np.zeros((4, 5, 2, 5))
    for m, slip in enumerate((0.1, 0.25, 0.1, 0.25)):
        for s in range(5):
            for a in range(2):
                right = (a == 0) == (m < 2)
                there, back = (s + 1, s - 1) if right else (s - 1, s + 1)
                P[m, s, a, min(max(there, 0), 4)] += 1.0 - slip
                P[m, s, a, min(max(back, 0), 4)] += slip
    R = np.zeros((5, 2))
    R[0, 0], R[4] = 0.3, 1.0
    return class_from_arrays(P, R)
