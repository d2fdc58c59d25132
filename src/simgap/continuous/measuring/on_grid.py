"""What a policy of a simulator earns in the table that stands for it on a grid.

The policy is shown what the simulator would show in the state of a node, and its action
is moved to the nearest one that the table has. So it plays in the very world whose
optimum is certified, and what it loses there is its own doing. What it gets more or
less in the simulator itself is the doing of the grid: noise of up to half a cell a
step, and actions that are steps apart.

A policy that remembers nothing and draws nothing is a table of actions, whose value is
computed; any other one is run, episode by episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Batch, BroughtPolicy, Space
from simgap.continuous.measuring.episodes import run_episodes
from simgap.continuous.measuring.means import Level, at_point
from simgap.continuous.measuring.sampled import Sampled
from simgap.continuous.policies.actions import to_actions
from simgap.continuous.policies.remembering import holds_memory
from simgap.continuous.policies.tabular import TabularPolicy
from simgap.continuous.simulators.tabular_door import tabular_simulator
from simgap.instances import CONTROLS
from simgap.intervals import Certified, Interval
from simgap.mdp import Discretisation
from simgap.planning import policy_values


@final
@dataclass(frozen=True, slots=True, eq=False)
class OnGrid:
    """A policy of a simulator as one of states and actions of its table."""

    inner: BroughtPolicy
    table: Discretisation
    action: Space  # of the simulator
    told: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return its own name."""
        return self.inner.name

    def reset(self, batch: Batch) -> Any:
        """Return what it remembers when episodes begin."""
        theta = {name: np.full(batch.size, each) for name, each in self.told.items()}
        return self.inner.reset(Batch(batch.seeds, theta))

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        """Return the numbers of actions, (B, 1) states -> (B,)."""
        states = observations[:, 0].astype(np.int64)
        raw, memory = self.inner.act(self._seen(states), memory)
        given, _ = to_actions(np.nan_to_num(raw), self.action)
        known, levels = CONTROLS[self.table.physics.name], self.table.physics.actions
        played = np.array([known.played(each) for each in levels.tolist()])
        given, played = (
            given.reshape(len(states), 1, -1),
            played.reshape(levels.size, -1),
        )
        apart = np.abs(given - played).sum(axis=-1)
        return apart.argmin(axis=1).astype(np.float64), memory

    def _seen(self, states: OffsetArray) -> FloatArray:
        """Return what the simulator shows at the nodes of states.

        The end of episodes is none; nothing that is done there counts.
        """
        node_of = np.zeros(self.table.simulators.n_states, np.int64)
        there = self.table.state_of_node >= 0
        node_of[self.table.state_of_node[there]] = np.flatnonzero(there)
        points = self.table.grid.points[node_of[states]]
        return CONTROLS[self.table.physics.name].shown(points)


def earned_on_grid(
    policy: OnGrid, *, horizon: int, seeds: OffsetArray, confidence: float = 0.95
) -> Interval:
    """Return what a policy earns in `horizon` steps from the start of the table."""
    model = policy.table.simulators
    states = np.arange(model.n_states, dtype=np.float64)[:, None]
    if (actions := _table(policy, states)) is not None:
        low, high = policy_values(model, actions, horizon).start_ends[0]
        return Certified(float(low), float(high))
    simulator = tabular_simulator(model)
    worlds = simulator.instantiate({simulator.parameters[0].name: np.zeros(seeds.size)})
    found = run_episodes(worlds, policy, simulator.action, horizon, Batch(seeds))
    bounds = simulator.return_bounds(horizon)
    return at_point(Sampled(found.returns[None], (), bounds), 0, Level(confidence))


def _table(policy: OnGrid, states: FloatArray) -> AnyArray | None:
    """Return the actions of a policy that is a table of them; None if it is more."""
    if isinstance(policy.inner, TabularPolicy):  # may depend on the step
        return None
    size = len(states)
    first, after = policy.act(states, policy.reset(Batch(np.arange(size))))
    if holds_memory(after):
        return None
    again, _ = policy.act(states, policy.reset(Batch(np.arange(size) + size)))
    return first.astype(np.int64) if np.array_equal(first, again) else None
