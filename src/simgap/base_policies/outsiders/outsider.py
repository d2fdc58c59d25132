"""What a learner that does not know the class U does know: states, actions, rewards.

Rewards are known, as in the paper, where all models share them: the learners of this
room that do not know U learn transitions alone. Where rewards differ between models, a
learner knows those of the model it is put in: its compiled form reads them off the
model, and as a policy it is made for one model by `knowing`.

It knows nothing about transitions, not even which are possible. The edges of the class
serve as numbers for what can be observed in simulation; an edge that was never seen is
treated like any other state.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Protocol, Self, final

import numpy as np

from simgap._kernels.solving.extended_values import Chart
from simgap._kernels.walking.walk import World
from simgap.arrays import FloatArray, read_only
from simgap.base_policies.knowledge import ClassKnowledge, Known
from simgap.errors import InvalidArgument, NotSolved
from simgap.mdp import SimulatorClass
from simgap.policies import Step, check_state, check_step, surely
from simgap.simulation import ObservedClass, observed_class

MOST_SWEEPS = 100_000


@final
@dataclass(frozen=True, slots=True, eq=False)
class Outsider:
    """Rewards, and numbers for what may be observed."""

    observed: ObservedClass
    rewards: FloatArray  # (1, S, A), or (M, S, A) where models differ

    def __post_init__(self) -> None:
        object.__setattr__(self, "rewards", read_only(self.rewards))

    @property
    def simulators(self) -> SimulatorClass:
        return self.observed.simulators

    def knowing(self, member: int) -> Outsider:
        """Return what is given in one model of the class."""
        at = self.simulators.member(member)
        rewards = self.simulators.rewards
        return Outsider(self.observed, rewards[[at if len(rewards) > 1 else 0]])

    def known_rewards(self) -> FloatArray:
        """Return R(s, a) by row, (S A,); rewards must not differ between models."""
        if len(self.rewards) > 1:
            raise InvalidArgument(
                "rewards differ between models, and the learner knows the real ones",
                hint="agent.knowing(member) is the policy for one real model",
            )
        return np.array(self.rewards[0].reshape(-1))

    def rewards_in(self, world: World) -> FloatArray:
        """Return what a model pays by row, (S A,), which the learner knows."""
        paid: FloatArray = world.reward[world.indptr[:-1]]
        if len(self.rewards) == 1 and (paid != self.rewards.reshape(-1)).any():
            row = int(np.flatnonzero(paid != self.rewards.reshape(-1))[0])
            given = float(self.rewards.reshape(-1)[row])
            raise InvalidArgument(
                f"in state {row // self.simulators.n_actions}, action "
                f"{row % self.simulators.n_actions}, the real model pays "
                f"{float(paid[row])}, the learner was given {given}",
                hint="make it for the class of the real model, or knowing that model",
            )
        return paid

    def counted(
        self, counts: tuple[int, ...], quota: tuple[int, ...], step: Step
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return counts (E,) and what is left of the quotas (S,) after a step."""
        edge = self.observed.edge(step)
        return (
            tuple(n + (e == edge) for e, n in enumerate(counts)),
            tuple(n - (s == step.state) for s, n in enumerate(quota)),
        )

    def chart(self) -> Chart:
        """Return the edges by row and by the state they lead to."""
        following = self.observed.next_state
        arrivals = np.bincount(following, minlength=self.simulators.n_states)
        return Chart(
            indptr=np.array(self.observed.indptr),
            row=self.observed.row.astype(np.int64),
            into=np.concatenate([[0], np.cumsum(arrivals)]).astype(np.int64),
            arriving=np.argsort(following, kind="stable").astype(np.int64),
        )


class Planned(Protocol):
    """What a learner remembers of the plan that it plays."""

    @property
    def policy(self) -> tuple[int, ...]:
        """Its actions, (S,)."""
        ...

    @property
    def plans(self) -> int:
        """How many were made so far."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """A learner that does not know U: it adds `name`, `start`, `observe` and `run`."""

    given: Outsider
    horizon: int
    most_sweeps: int  # of one plan

    @property
    def observed(self) -> ObservedClass:
        return self.given.observed

    def knowing(self, member: int) -> Self:
        """Return the learner that knows the rewards of one model."""
        return replace(self, given=self.given.knowing(member))

    def act(self, memory: Planned, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        check_step(h, self.horizon)
        check_state(state, self.given.simulators.n_states)
        return surely(memory.policy[state], self.given.simulators.n_actions)

    def survivors(self, memory: Planned) -> frozenset[int]:
        """Return all models: a learner that does not know U eliminates none."""
        return frozenset(range(len(self.given.simulators)))

    def playing(self, memory: Planned) -> Hashable:
        """Return the number of the plan that is played."""
        return memory.plans

    def not_planned(self, what: str, done: int, bracket: FloatArray) -> NotSolved:
        """Return the error of a plan whose gain is not known well enough."""
        low, high = float(bracket[0]), float(bracket[1])
        return NotSolved(
            f"{what} after {done} steps has a gain in [{low!r}, {high!r}] after "
            f"{self.most_sweeps} sweeps, which is too wide",
            hint="allow more sweeps by most_sweeps",
            result=(low, high),
        )


def checked_sweeps(most_sweeps: int) -> int:
    """Return how many sweeps a plan may take, which must be a whole number."""
    if not isinstance(most_sweeps, int) or most_sweeps < 1 or most_sweeps is True:
        raise InvalidArgument(
            f"most_sweeps {most_sweeps!r} is out of range",
            hint="give a whole number of sweeps, at least 1",
        )
    return most_sweeps


def outsider(simulators: Known) -> Outsider:
    """Return what a learner that does not know the class is given."""
    if isinstance(simulators, ClassKnowledge):
        simulators = simulators.simulators
    return Outsider(observed_class(simulators), simulators.rewards)
