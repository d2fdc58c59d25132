"""The same agents made to work harder: a look at every step, every step simulated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from simgap.arrays import AnyArray, OffsetArray
from simgap.policies.interface import Step
from simgap.simulation.observed import ObservedClass, RewardSignal
from simgap.simulation.runs import Runs
from simgap.simulation.worlds import RealModels


@dataclass(frozen=True)
class With:
    """An agent run with other keywords, such as lazy=False or leave=False."""

    agent: Any
    keywords: dict[str, bool]

    @property
    def observed(self) -> ObservedClass:
        return self.agent.observed  # type: ignore[no-any-return]

    @property
    def horizon(self) -> int:
        return self.agent.horizon  # type: ignore[no-any-return]

    def run(
        self, real: RealModels, world: Any, member: int, keys: AnyArray,
        grid: OffsetArray, record: Any,
    ) -> None:  # fmt: skip
        self.agent.run(real, world, member, keys, grid, record, **self.keywords)


def assert_identical(one: Runs, other: Runs) -> None:
    """Fail unless all fields are equal to the last bit."""
    for each in fields(Runs):
        left, right = getattr(one, each.name), getattr(other, each.name)
        np.testing.assert_array_equal(left, right, err_msg=each.name)


def lived(agent: Any, member: int, steps: int, seed: int) -> list[Step]:
    """Return an episode of an agent in a member of its class, drawn by numpy."""
    observed: ObservedClass = agent.observed
    rng = np.random.default_rng(seed)
    law = observed.simulators.start_law(member)
    state = int(rng.choice(law.size, p=law))
    memory = agent.start(state)
    sees = observed.signal is not RewardSignal.UNSEEN
    path = []
    for h in range(steps):
        action = int(rng.choice(observed.simulators.n_actions,
                                p=agent.act(memory, h, state)))  # fmt: skip
        row = state * observed.simulators.n_actions + action
        edges = np.arange(observed.indptr[row], observed.indptr[row + 1])
        edge = int(rng.choice(edges, p=observed.chances[member, edges]))
        reward = float(observed.seen_reward[edge]) if sees else None
        step = Step(h, state, action, int(observed.next_state[edge]), reward)
        memory = agent.observe(memory, step)
        state = step.next_state
        path.append(step)
    return path
