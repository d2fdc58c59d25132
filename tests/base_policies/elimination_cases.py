"""Classes and programs that the tests of Algorithm 1 share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simgap._kernels.walk import Record, World
from simgap.arrays import AnyArray, OffsetArray
from simgap.base_policies.elimination import Elimination
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
