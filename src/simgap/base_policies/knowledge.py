"""What every base policy works out about its class before the episode begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.agents.known_class import Plans
from simgap._kernels.walking.endings import Tails
from simgap.arrays import FloatArray, IndexArray, read_only
from simgap.mdp import SimulatorClass
from simgap.planning import AverageRewardPlan, solve_average_reward
from simgap.policies import check_state, check_step, surely
from simgap.simulation import ObservedClass, RealModels, RewardSignal, observed_class


@final
@dataclass(frozen=True, slots=True, eq=False)
class ClassKnowledge:
    """Gain, bias and a policy greedy for the bias of every model (errata E3)."""

    observed: ObservedClass
    average: AverageRewardPlan
    order: IndexArray  # (M,), by falling gain; equal gains by index

    @property
    def simulators(self) -> SimulatorClass:
        return self.observed.simulators

    @property
    def gain(self) -> FloatArray:
        return self.average.gain

    @property
    def bias(self) -> FloatArray:
        return self.average.bias

    @property
    def policy(self) -> IndexArray:
        return self.average.policy

    @property
    def width(self) -> FloatArray:
        """How far one step can move l(s') plus a reward that is drawn, (M,)."""
        drawn = 1.0 if self.observed.signal is RewardSignal.RANDOM else 0.0
        return np.asarray(self.average.bias_span + drawn)

    @property
    def residual(self) -> FloatArray:
        return self.average.residual

    def action_law(
        self, member: int, h: int, state: int, *, horizon: int
    ) -> FloatArray:
        """Return the action of one model's policy as probabilities, (A,)."""
        check_step(h, horizon)
        check_state(state, self.simulators.n_states)
        return surely(int(self.policy[member, state]), self.simulators.n_actions)

    def plans(self) -> Plans:
        """Return the policies of all models for a compiled agent."""
        _, place = np.unique(self.policy, axis=0, return_inverse=True)
        tail_of = place.reshape(-1).astype(np.int64)
        return Plans(np.array(self.order), np.array(self.policy), tail_of)

    def tails(self, real: RealModels, member: int, *, wanted: bool) -> Tails:
        """Return what these policies do in 2^j steps of a real model of the class.

        There are no tails if they are not wanted, outside the class (`member` is -1)
        and where they cost too much.
        """
        found = None
        if wanted and member >= 0:
            found = real.tails(member, np.unique(self.policy, axis=0))
        return found or Tails(np.zeros((0, 0, 0, 0)), np.zeros((0, 0, 0)))


Known = SimulatorClass | ClassKnowledge


def class_knowledge(
    simulators: Known, signal: RewardSignal = RewardSignal.UNSEEN
) -> ClassKnowledge:
    """Return what agents know of a class; what is known already is returned as it is.

    A class with a model that is not communicating is refused: it has no gain.
    """
    if isinstance(simulators, ClassKnowledge):
        return simulators
    average = solve_average_reward(simulators)
    return ClassKnowledge(
        observed_class(simulators, signal),
        average,
        read_only(_order(average), np.int32),
    )


def _order(average: AverageRewardPlan) -> IndexArray:
    """Return models by falling gain; gains whose brackets touch count as equal."""
    left = list(np.argsort(-average.gain, kind="stable"))
    order: list[int] = []
    while left:
        best = left[0]
        tied = [m for m in left if average.gain_upper[m] >= average.gain_lower[best]]
        order.append(min(tied))
        left.remove(order[-1])
    return np.array(order, np.int32)
