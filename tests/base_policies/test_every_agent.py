"""What every agent of the catalogue does, whatever it believes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.base_policies.catalogue import POLICIES, build_policy
from simgap.instances import riverswim
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.simulation.runs import Stepwise, run_program
from tests.base_policies.cases import assert_same, both_ways, prepared, random_class
from tests.base_policies.variants import lived

FIXED = {"oracle", "memoryless", "mean-model", "random"}  # policies, not programs
AGENTS = [entry.name for entry in POLICIES if entry.name not in FIXED]
LEARN_NO_CLASS = {"ucrl2", "ucrl2b", "psrl"}
NO_LUCK = ["likelihood", "variance", "elimination", "optimistic", "general"]
RIVERS = riverswim(4, (0.2, 0.4, 0.6))


def built(name: str, horizon: int, worlds: SimulatorClass = RIVERS) -> Any:
    return build_policy(name, LatentMDP.uniform(worlds), horizon)


@pytest.mark.parametrize("horizon", [0, 1, 2, 300])
@pytest.mark.parametrize("name", AGENTS)
def test_an_episode_of_any_length_is_that_of_single_steps(
    name: str, horizon: int
) -> None:
    for fast, slow in both_ways(built(name, horizon), grid=False):
        assert_same(fast, slow)
        if horizon < 3:
            assert (fast.simulated == horizon).all()


@pytest.mark.parametrize("name", AGENTS)
def test_memories_are_values(name: str) -> None:
    worlds = random_class(np.random.default_rng(3))
    memories = []
    for _ in range(2):
        agent = built(name, 40, worlds)
        agent = agent.with_stream(7) if hasattr(agent, "with_stream") else agent
        path = lived(agent, 1, 40, seed=2)
        trail = [agent.start(path[0].state)]
        for step in path:
            trail.append(agent.observe(trail[-1], step))
        memories.append(trail)
    assert memories[0] == memories[1]
    assert [hash(m) for m in memories[0]] == [hash(m) for m in memories[1]]


@pytest.mark.parametrize("name", NO_LUCK)
def test_one_model_is_played_from_the_first_step(name: str) -> None:
    agent = built(name, 3000, riverswim(5, 0.4))
    (runs,) = run_program(agent, prepared(agent), runs=5, seed=0)
    assert (runs.switches == 0).all()
    assert (runs.eliminated == -1).all()
    assert (runs.identified == 0).all()


@pytest.mark.parametrize("name", sorted({*AGENTS} - LEARN_NO_CLASS))
def test_a_real_model_outside_the_class_is_played_to_the_end(name: str) -> None:
    agent = built(name, 300)
    real = prepared(agent, riverswim(4, (0.3, 0.5)))
    slow = Stepwise(agent, agent.observed)
    for one, other in zip(
        run_program(agent, real, runs=4, seed=1, grid=np.array([300])),
        run_program(slow, real, runs=4, seed=1, grid=np.array([300])),
        strict=True,
    ):
        assert_same(one, other)
        assert (one.simulated == 300).all()
        assert np.isnan(one.bound).all()
