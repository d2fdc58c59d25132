"""Getting to the pair (s0, a0): whose way is followed, and for how long (Algorithm 2).

The models of the travel set take turns, in the order of their numbers. Each leads for a
number of steps in which its fastest way would arrive with probability 1/2 or more if it
were the real model: T is a whole number, so P(T > floor(2 D)) <= D / (floor(2 D) + 1)
< 1/2, and the same holds for the model's own expected time from where it takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import floor
from typing import final

import numpy as np

from simgap.arrays import IndexArray, OffsetArray, owned
from simgap.mdp import SimulatorClass
from simgap.planning import diameter, travel_times

LONGEST = 2**31 - 1  # steps: more than any horizon


class TravelSet(Enum):
    """Who leads the way. The text has all models, its proof the survivors (E16)."""

    REMAINING = "the candidates that are left"
    ALL = "all models"


class TravelBudget(Enum):
    """For how many steps a model leads."""

    DIAMETER = "floor(2 D), D the diameter of the class"
    TIME = "floor(2 t), t the model's own expected time from where it takes over"


@final
@dataclass(frozen=True, slots=True, eq=False)
class TravelPlan:
    """The fastest ways of every model to the T states where models are compared."""

    targets: OffsetArray  # (T,), states
    place: OffsetArray  # (S,), of a state among the targets, or -1
    policy: IndexArray  # (T, M, S)
    diameter: float  # of the class, an upper end; NaN unless the budget is made of it
    steady: int  # steps for which a model leads; 0 if it depends on where
    steps: IndexArray  # (T, M, S) steps from where it takes over, or (0, 0, 0)

    def lead(self, member: int, state: int, target: int) -> int:
        """Return for how many steps a model leads from a state to a target."""
        if self.steady > 0:
            return self.steady
        return int(self.steps[self.place[target], member, state])


def travel_plan(
    simulators: SimulatorClass, rows: IndexArray, budget: TravelBudget
) -> TravelPlan:
    """Return the ways of every model to the states of some rows s A + a."""
    targets = np.unique(rows.astype(np.int64) // simulators.n_actions)
    place = np.full(simulators.n_states, -1, np.int64)
    place[targets] = np.arange(targets.size)
    shape = (targets.size, len(simulators), simulators.n_states)
    timed = budget is TravelBudget.TIME
    policy = np.zeros(shape, np.int32)
    steps = np.zeros(shape if timed else (0, 0, 0), np.int32)
    for at, target in enumerate(targets):
        times = travel_times(simulators, int(target))
        policy[at] = times.policy
        if timed:
            steps[at] = np.minimum(np.floor(2.0 * times.upper), LONGEST)
    widest = float("nan") if timed else diameter(simulators).upper
    return TravelPlan(
        targets=owned(targets),
        place=owned(place),
        policy=owned(policy),
        diameter=widest,
        steady=0 if timed else max(1, min(floor(2.0 * widest), LONGEST)),
        steps=owned(steps),
    )
