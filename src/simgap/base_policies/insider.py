"""What agents share that know the class: its plans, what they see, who is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from simgap.arrays import FloatArray
from simgap.base_policies.knowledge import ClassKnowledge
from simgap.simulation import ObservedClass


class Candidate(Protocol):
    """What an agent remembers that plays one model of several at a time."""

    @property
    def current(self) -> int:
        """The model that is played."""
        ...

    @property
    def alive(self) -> frozenset[int]:
        """The models that may still be real."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Insider:
    """An agent that knows the class: it adds `start`, `act`, `observe` and `run`."""

    name: ClassVar[str]
    known: ClassKnowledge
    horizon: int

    @property
    def observed(self) -> ObservedClass:
        return self.known.observed

    def everyone(self) -> frozenset[int]:
        """Return all models of the class."""
        return frozenset(range(len(self.known.simulators)))


@dataclass(frozen=True, slots=True, eq=False)
class Follower(Insider):
    """An insider that plays the plan of one candidate at a time."""

    def act(self, memory: Candidate, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        return self.known.action_law(memory.current, h, state, horizon=self.horizon)

    def survivors(self, memory: Candidate) -> frozenset[int]:
        """Return the models that are not eliminated."""
        return memory.alive
