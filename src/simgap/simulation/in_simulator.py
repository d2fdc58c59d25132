"""One policy in the table and in the simulator that the table stands for.

Its return over H steps, averaged over the prior, is known for the table. In the
simulator itself it is sampled: states are rounded to the grid before every action, and
where the simulator shows what no table allows the agent goes on as `Agent` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.intervals import Interval
from simgap.mdp import Discretisation, Rounding
from simgap.policies import Agent, MarkovPolicy, Policy
from simgap.records.audit import InSimulator
from simgap.simulation.simulated_returns import Play, simulated_returns
from simgap.statistics import Part, estimated_mean

WORK = 50_000  # steps of agents that are run one by one: some seconds
MOST, LEAST = 200, 10  # episodes of a model


def episodes_to_run(horizon: int, models: int) -> int | None:
    """Return how many episodes of each model are affordable; None: too few."""
    fit = WORK // max(1, horizon * models)
    return None if fit < LEAST else min(MOST, fit)


def in_simulator(
    table: Discretisation,
    prior: FloatArray,
    policy: Policy[Any],
    horizon: int,
    known: Interval,
    *,
    episodes: int,
    seed: int = 0,
    confidence: float = 0.95,
    rounding: Rounding = Rounding.NEAREST,
) -> InSimulator:
    """Return what a policy earns in the simulator, beside `known`, its table's value.

    `episodes` are those of every model with weight.
    """
    physics = table.physics
    likely = np.flatnonzero(prior > 0.0)
    returns, fallbacks = [], 0
    for member in likely.tolist():
        stream = np.random.default_rng([seed, member])
        starts = physics.starts(stream.random((episodes, len(physics.start))))
        agents: list[Agent[Any]] = []
        if not isinstance(policy, MarkovPolicy):
            seeds = stream.integers(0, 2**62, episodes).tolist()
            agents = [Agent(policy, seed=each, on_outside="flag") for each in seeds]
        play = policy if isinstance(policy, MarkovPolicy) else _played_by(agents)
        returns.append(
            simulated_returns(table, member, play, starts, horizon, rounding, stream)
        )
        fallbacks += sum(agent.fallbacks for agent in agents)
    low, high = (horizon * end for end in physics.reward_range)
    return InSimulator(
        policy=policy.name,
        table=known,
        simulator=estimated_mean(
            [
                Part(found, low, high, float(prior[member]))
                for member, found in zip(likely, returns, strict=True)
            ],
            confidence,
            method="in the simulator",
            least=low,
            greatest=high,
        ),
        episodes=episodes * likely.size,
        fallbacks=fallbacks / max(1, episodes * likely.size * horizon),
    )


def _played_by(agents: Sequence[Agent[Any]]) -> Play:
    """Return what agents, one for each episode, play in the states they see."""

    def play(h: int, seen: OffsetArray) -> OffsetArray:
        for agent, state in zip(agents, seen.tolist(), strict=True):
            agent.observe(state) if h else agent.reset(state)
        return np.array([agent.act() for agent in agents])

    return play
