"""What an agent is: memory goes in, memory comes out, nothing else is kept.

A policy is a frozen record. What it remembers of an episode is a value that the caller
carries: a posterior, a node of a policy graph, the last few steps, or nothing (None).
Memories are hashable, so that histories the agent cannot tell apart can be merged.

Steps are counted from 0: `act(memory, 0, state)` is the first action of an episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar, final

from simgap.arrays import FloatArray

Memory = TypeVar("Memory")


@final
@dataclass(frozen=True, slots=True)
class Step:
    """What the agent has just lived through: step h of the episode."""

    h: int  # steps taken before this one
    state: int
    action: int
    next_state: int
    reward: float | None = None  # if the agent sees rewards


class Policy(Protocol[Memory]):
    """A history-dependent policy with explicit memory."""

    @property
    def name(self) -> str:
        """What a table calls this policy."""
        ...

    def start(self, state: int) -> Memory:
        """Return what is remembered when the episode begins in `state`."""
        ...

    def act(self, memory: Memory, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        ...

    def observe(self, memory: Memory, step: Step) -> Memory:
        """Return what is remembered after a step.

        Raises `OutsideClass` if no model of the class allows what was seen.
        """
        ...
