"""Policies that remember the last few steps: a table over windows.

A window of j (state, action) pairs, oldest first, is number

    sum_{i < j} (SA)^i  +  the pairs s A + a read as digits of a number in base SA

so that shorter windows (the first steps of an episode) come before longer ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, read_only
from simgap.errors import InvalidArgument
from simgap.policies.checks import (
    check_horizon,
    check_lived,
    check_name,
    check_state,
    check_step,
    surely,
)
from simgap.policies.interface import Step

Window = tuple[tuple[int, int], ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class WindowPolicy:
    """An action for each of the last `length` steps; memory is the window itself.

    Every window has an action: those of a baseline have one also for windows that no
    model allows, the one that loses least on average over the prior.
    """

    name: str
    n_states: int
    n_actions: int
    length: int  # pairs remembered, at most
    horizon: int | None  # None: the same at every step
    actions: IndexArray  # (H or 1, windows, S), see number_of_windows

    def __post_init__(self) -> None:
        check_name(self.name)
        check_horizon(self.horizon)
        windows = number_of_windows(self.n_states, self.n_actions, self.length)
        steps = 1 if self.horizon is None else self.horizon
        given = np.asarray(self.actions)
        if given.shape != (steps, windows, self.n_states):
            raise InvalidArgument(
                f"a table of shape {given.shape} for windows of {self.length} steps",
                hint=f"it has shape ({steps}, {windows}, {self.n_states})",
            )
        if given.dtype.kind not in "iu" or (
            given.size and (given.min() < 0 or given.max() >= self.n_actions)
        ):
            raise InvalidArgument(
                "the table holds something that is not an action",
                hint=f"actions are numbered 0 to {self.n_actions - 1}",
            )
        object.__setattr__(self, "actions", read_only(self.actions, np.int32))

    def start(self, state: int) -> Window:
        """Return the empty window."""
        check_state(state, self.n_states)
        return ()

    def act(self, memory: Window, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        check_step(h, self.horizon)
        check_state(state, self.n_states)
        step = 0 if self.horizon is None else h
        action = self.actions[step, self.number(memory), state]
        return surely(int(action), self.n_actions)

    def observe(self, memory: Window, step: Step) -> Window:
        """Return the window moved on by one step."""
        check_lived(step, self.horizon, self.n_states, self.n_actions)
        longer = (*memory, (int(step.state), int(step.action)))
        return longer[max(0, len(longer) - self.length) :]

    def number(self, memory: Window) -> int:
        """Return which window of the table a memory is."""
        if len(memory) > self.length:
            raise InvalidArgument(
                f"a window of {len(memory)} steps, the policy has {self.length}",
                hint="memories come from start() and observe() of the same policy",
            )
        pairs = self.n_states * self.n_actions
        number = 0
        for state, action in memory:
            check_lived(Step(0, state, action, 0), None, self.n_states, self.n_actions)
            number = number * pairs + 1 + state * self.n_actions + action
        return number


def number_of_windows(n_states: int, n_actions: int, length: int) -> int:
    """Return how many windows of at most `length` pairs there are."""
    if n_states < 1 or n_actions < 1 or length < 0:
        raise InvalidArgument(
            f"windows of {length} steps over {n_states} states and {n_actions} actions",
            hint="there is at least one state and one action, and length >= 0",
        )
    if length * np.log2(n_states * n_actions + 1) > 62:
        raise InvalidArgument(
            f"windows of {length} steps are too many for a table",
            hint="remember fewer steps",
        )
    return sum((n_states * n_actions) ** i for i in range(length + 1))
