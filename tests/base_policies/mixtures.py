"""Mixture classes and a plain simulation that their tests share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.general_mixture import (
    MixtureMemory,
    OptimisticMixture,
)
from simgap.base_policies.infinite.mixture_class import (
    MixtureClass,
    mixture_of,
    mixture_over_ball,
)
from simgap.instances import riverswim
from simgap.mdp import TabularMDP, class_from_arrays
from simgap.planning import solve_average_reward
from simgap.policies import Step

LOSE, WIN = 0, 1


def two_arms() -> tuple[FloatArray, FloatArray]:
    """Return the signed features of theory 4.9 and the rewards of the two states."""
    features = np.zeros((2, 2, 2, 2))
    features[0] = 1.0
    features[1, :, 1, WIN], features[1, :, 1, LOSE] = 1.0, -1.0
    return features, np.array([[0.0, 0.0], [1.0, 1.0]])


def second_arm() -> MixtureClass:
    """Proposition 2 with every mean of the second arm from 0 to 1."""
    features, rewards = two_arms()
    return mixture_over_ball(features, rewards, centre=[0.5, 0.0], radius=0.5)


def rivers(*success: float, left_reward: float = 0.7, states: int = 6) -> MixtureClass:
    """All mixtures of rivers with the same current everywhere: r = 1."""
    worlds = riverswim(states, success, left_reward=left_reward, uniform=True)
    return mixture_of(worlds)


def random_mixture(
    rng: np.random.Generator, *, members: int = 3, states: int = 3, actions: int = 2
) -> MixtureClass:
    """Mixtures of kernels with zeros in places; action 0 goes everywhere."""
    kernels = rng.dirichlet(np.full(states, 0.5), (members, states, actions))
    kernels = np.where(kernels < 0.1, 0.0, kernels)
    kernels[:, :, 0] += 0.05
    kernels /= kernels.sum(axis=-1, keepdims=True)
    rewards = rng.integers(0, 5, (states, actions)) / 4.0
    return mixture_of(class_from_arrays(kernels, rewards))


def random_ball(
    rng: np.random.Generator, *, axes: int = 2, states: int = 3, actions: int = 2
) -> MixtureClass:
    """A ball of kernels around one with positive entries; features are signed."""
    centre = rng.dirichlet(np.full(states, 3.0), (states, actions)) + 0.1
    centre /= centre.sum(axis=-1, keepdims=True)
    moves = rng.normal(size=(axes, states, actions, states))
    moves -= moves.mean(axis=-1, keepdims=True)
    moves *= 0.9 * (centre / np.sqrt((moves**2).sum(axis=0))).min()
    features = np.concatenate([centre[None], moves])
    rewards = rng.integers(0, 5, (states, actions)) / 4.0
    middle = np.append(1.0, np.zeros(axes))
    return mixture_over_ball(features, rewards, centre=middle, radius=1.0)


def grid(mixture: MixtureClass, points: int) -> FloatArray:
    """Return members on a grid of the unit ball's coordinates, (n, r), r <= 2."""
    line = np.linspace(-1.0, 1.0, points)
    mesh = np.meshgrid(*[line] * mixture.dimension, indexing="ij")
    every = np.stack([axis.ravel() for axis in mesh], axis=1)
    metric = np.eye(mixture.dimension)
    near = [mixture.region.nearest(u, metric) for u in every]
    return np.array(near)


@dataclass(frozen=True)
class Run:
    regret: float  # sum of rho* + l* - R - P* l*, no noise
    memory: MixtureMemory
    history: list[Step]
    memories: list[MixtureMemory]  # at the start and after every switch


def run(
    agent: OptimisticMixture, model: TabularMDP, *, seed: int, steps: int | None = None
) -> Run:
    """Play one model for the horizon of the agent, or for fewer steps."""
    rng = np.random.default_rng(seed)
    kernel = model.transitions.array(0)
    plan = solve_average_reward(model)
    bias, gain = plan.bias[0], float(plan.gain[0])
    losses = gain + bias[:, None] - model.rewards - kernel @ bias
    state, memory, regret = 0, agent.start(0), 0.0
    history, memories = [], [memory]
    chances = kernel.cumsum(axis=2)
    for h in range(agent.horizon if steps is None else steps):
        action = int(agent.act(memory, h, state).argmax())
        drawn = np.searchsorted(chances[state, action], rng.random(), side="right")
        after = min(int(drawn), int(np.flatnonzero(kernel[state, action])[-1]))
        step = Step(h, state, action, after)
        regret += float(losses[state, action])
        memory = agent.observe(memory, step)
        history.append(step)
        if memory.data is not memories[-1].data:
            memories.append(memory)
        state = after
    return Run(regret, memory, history, memories)
