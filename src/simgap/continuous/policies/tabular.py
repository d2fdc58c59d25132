"""simgap's own policies in a simulator: tables, policy graphs, beliefs.

Where the simulator shows the number of a state, that is the state. Where it shows more,
the policy was made on a grid, and what is shown is rounded to a state of the grid. A
step may then be seen that no table allows; the policy goes on as `Agent` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.continuous.interfaces import Batch, Choices, Simulator, Space
from simgap.errors import InvalidArgument
from simgap.policies import (
    Agent,
    GridPlayer,
    MarkovPolicy,
    Policy,
    load_policy_and_grid,
)


class Agents(NamedTuple):
    """One agent for each episode, as it was when this memory was made."""

    agents: tuple[Agent[Any], ...]
    step: int

    @property
    def kept(self) -> bool:
        """Return whether any agent remembers more than the step."""
        return any(each.memory is not None for each in self.agents)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TabularPolicy:
    """A policy of states and actions, for a batch of episodes."""

    name: str
    policy: Policy[Any]
    observation: Space
    action: Space
    player: GridPlayer | None = None  # reads observations, and says what is played

    def reset(self, batch: Batch) -> Agents:
        """Return an agent for each episode, whose random numbers are its own."""
        if self._table is not None:
            return Agents((), 0)
        return Agents(
            tuple(
                Agent(self.policy, seed=int(seed), on_outside="flag")
                for seed in batch.seeds
            ),
            0,
        )

    def act(
        self, observations: FloatArray, memory: Agents
    ) -> tuple[FloatArray, Agents]:
        """Return the actions of all episodes."""
        states = self._states(observations)
        table = self._table
        if table is not None:
            rule = table if table.ndim == 1 else table[self._checked(memory.step)]
            return self._played(rule[states]), Agents((), memory.step + 1)
        agents = tuple(each.copied() for each in memory.agents)
        chosen = np.empty(len(states), np.int64)
        for row, (agent, state) in enumerate(zip(agents, states.tolist(), strict=True)):
            if memory.step == 0:
                agent.reset(state)
            else:
                agent.observe(state)
            chosen[row] = agent.act()
        return self._played(chosen), Agents(agents, memory.step + 1)

    @property
    def _table(self) -> IndexArray | None:
        """Return the actions of a policy that is nothing but a table of them."""
        policy = self.policy
        if isinstance(policy, MarkovPolicy) and policy.certain:
            return policy.table
        return None

    def _checked(self, step: int) -> int:
        self.policy.act(None, step, 0)  # says what is wrong with a step beyond its last
        return step

    def _states(self, observations: FloatArray) -> OffsetArray:
        finite = np.isfinite(observations).all(axis=1, keepdims=True)
        seen = np.where(finite, observations, 0.0)  # others are over: any state will do
        if self.player is None:
            return seen[:, 0].astype(np.int64)
        return self.player.all_seen(list(seen))

    def _played(self, actions: Any) -> FloatArray:
        numbers = np.asarray(actions, np.int64)
        if self.player is not None:
            played = [self.player.played(each) for each in numbers.tolist()]
            return np.array(played, np.float64)
        return numbers.astype(np.float64)


def saved_policy(path: Path, name: str, simulator: Simulator) -> TabularPolicy:
    """Return the policy of a file, for the simulator that it was made for."""
    policy, grid = load_policy_and_grid(path)
    player = None if grid is None else GridPlayer(policy, grid)
    return tabular_policy(policy, name, simulator, player)


def tabular_policy(
    policy: Policy[Any],
    name: str,
    simulator: Simulator,
    player: GridPlayer | None = None,
) -> TabularPolicy:
    """Return a policy of states and actions for a simulator, or say what is missing."""
    seen, acts = simulator.observation, simulator.action
    numbered = isinstance(seen, Choices)
    if not numbered and player is None:
        raise InvalidArgument(
            f"the policy {name} acts on numbered states, and {simulator.name} shows "
            f"{seen.size} numbers",
            hint="policies that simgap oracle --save makes of a class on a grid know "
            "the grid; others are given to Python as GridPlayer(policy, table)",
            code="policy-without-grid",
        )
    sizes: Any = getattr(policy, "pattern", policy)
    states = getattr(sizes, "n_states", None)
    if isinstance(seen, Choices) and states not in (None, seen.n):
        raise InvalidArgument(
            f"the policy {name} knows {states} states, {simulator.name} has {seen.n}",
            hint="it was made for another class; gym: classes keep all states with "
            "states=all",
            code="policy-of-other-states",
        )
    actions = getattr(sizes, "n_actions", None)
    if isinstance(acts, Choices) and actions not in (None, acts.n):
        raise InvalidArgument(
            f"the policy {name} has {actions} actions, {simulator.name} has {acts.n}",
            hint="it was made for another class",
            code="policy-of-other-actions",
        )
    return TabularPolicy(name, policy, seen, acts, None if numbered else player)
