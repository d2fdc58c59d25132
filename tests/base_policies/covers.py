"""Families and runs that the tests of covers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simgap.base_policies.infinite.cover import FamilyCover, cover_of_family
from simgap.base_policies.infinite.cover_agent import CoverMemory, OptimisticCover
from simgap.base_policies.infinite.parametric_family import Smoothness
from simgap.instances import bandit, riverswim
from simgap.mdp import TabularMDP
from simgap.planning import solve_average_reward
from simgap.policies import Step
from tests.reference.cover import Sample


def arm(theta: Mapping[str, float]) -> TabularMDP:
    """The second of two arms has an unknown mean; the first has 1/2."""
    return bandit(np.array([[0.5, theta["mean"]]]))[0]


def river(theta: Mapping[str, float]) -> TabularMDP:
    """Four states; success and down are unknown, left pays .6."""
    worlds = riverswim(
        4, theta["success"], theta["down"], left_reward=0.6, uniform=True
    )
    return worlds[0]


def bent(theta: Mapping[str, float]) -> TabularMDP:
    """A mean that is no linear function of its parameter: sin(x)^2, rate 2."""
    return arm({"mean": float(np.sin(theta["x"]) ** 2)})


def arms(*, same_support: bool = True) -> FamilyCover:
    box, rates = {"mean": (0.01, 0.99)}, Smoothness({"mean": 2.0}, proved=True)
    return cover_of_family(arm, box, rates, same_support=same_support)


def rivers() -> FamilyCover:
    box = {"success": (0.1, 0.6), "down": (0.02, 0.2)}
    rates = Smoothness({"success": 2.0, "down": 2.0}, proved=True)
    return cover_of_family(river, box, rates, same_support=True)


def bends() -> FamilyCover:
    """One parameter whose two halves mirror each other: the class is not convex."""
    rates = Smoothness({"x": 2.0}, proved=True)
    return cover_of_family(bent, {"x": (0.3, 2.9)}, rates, same_support=True)


@dataclass(frozen=True)
class Run:
    regret: float
    memory: CoverMemory
    history: list[Sample]
    memories: list[CoverMemory]  # at the start and after every switch


def run(
    agent: OptimisticCover, model: TabularMDP, *, seed: int, steps: int | None = None
) -> Run:
    """Play one model for the horizon of the agent, or for fewer steps."""
    rng = np.random.default_rng(seed)
    kernel = model.transitions.array(0)
    plan = solve_average_reward(model)
    bias, gain = plan.bias[0], float(plan.gain[0])
    lost = gain + bias[:, None] - model.rewards - kernel @ bias
    chances = kernel.cumsum(axis=2)
    state, memory, regret = 0, agent.start(0), 0.0
    history, memories = [], [memory]
    for h in range(agent.horizon if steps is None else steps):
        action = int(agent.act(memory, h, state).argmax())
        drawn = np.searchsorted(chances[state, action], rng.random(), side="right")
        after = min(int(drawn), int(np.flatnonzero(kernel[state, action])[-1]))
        step = Step(h, state, action, after)
        regret += float(lost[state, action])
        history.append(Sample(step, memory.data.cell.bias))
        memory = agent.observe(memory, step)
        if memory.data is not memories[-1].data:
            memories.append(memory)
        state = after
    return Run(regret, memory, history, memories)
