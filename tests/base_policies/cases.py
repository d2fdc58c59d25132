"""Classes and comparisons that the tests of all agents share."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from simgap.mdp import Details, SimulatorClass, class_from_arrays
from simgap.simulation.runs import Program, Runs, Stepwise, log_grid, run_program
from simgap.simulation.worlds import RealModels, real_models


def random_class(
    rng: np.random.Generator,
    *,
    members: int = 3,
    states: int = 4,
    actions: int = 2,
    own_rewards: bool = False,
    random_start: bool = False,
) -> SimulatorClass:
    """Return communicating models: Dirichlet rows, some of them with zeros."""
    P = rng.dirichlet(np.full(states, 0.5), size=(members, states, actions))
    P = np.where(P < 0.05, 0.0, P)
    P[:, :, 0, :] += 0.1 / states  # action 0 goes everywhere
    P /= P.sum(axis=-1, keepdims=True)
    shape = (members, states, actions) if own_rewards else (states, actions)
    R = rng.integers(0, 5, size=shape) / 4.0
    start = rng.dirichlet(np.ones(states), size=members) if random_start else 0
    return class_from_arrays(P, R, details=Details(start=start))


def prepared(agent: Any, simulators: SimulatorClass | None = None) -> RealModels:
    """Return the agent's own class, or another one, ready to be run."""
    real = agent.observed.simulators if simulators is None else simulators
    return real_models(agent.observed, real, agent.horizon)


def both_ways(
    agent: Any, *, runs: int = 3, seed: int = 0, grid: bool = True
) -> list[tuple[Runs, Runs]]:
    """Return the runs of the compiled agent and of the same agent step by step."""
    real = prepared(agent)
    marks = log_grid(agent.horizon) if grid else None
    slow = Stepwise(agent, agent.observed)
    return list(
        zip(
            run_program(agent, real, runs=runs, seed=seed, grid=marks),
            run_program(slow, real, runs=runs, seed=seed, grid=marks),
            strict=True,
        )
    )


def assert_same(fast: Runs, slow: Runs, *, but: tuple[str, ...] = ()) -> None:
    """Fail unless two sets of runs are equal to the last bit, but for some fields."""
    for each in fields(Runs):
        if each.name in ("bound", "slack", "resets", "identified", *but):
            continue  # a policy step by step does not know these
        one, other = getattr(fast, each.name), getattr(slow, each.name)
        np.testing.assert_array_equal(one, other, err_msg=each.name)


def run(
    program: Program, simulators: SimulatorClass, horizon: int, **settings: Any
) -> tuple[Runs, ...]:
    """Return runs of a program in a class."""
    real = real_models(program.observed, simulators, horizon)
    return run_program(program, real, **settings)
