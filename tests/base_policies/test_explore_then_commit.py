"""Explore-then-commit: random steps, one decision, and the rest as its expectation."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.improved.explore_then_commit import (
    UNDECIDED,
    explore_then_commit,
)
from simgap.errors import InvalidArgument
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, run_program
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import (
    assert_same,
    both_ways,
    prepared,
    random_class,
)
from tests.base_policies.variants import With, lived

SIGMAS = 4.9


def rivers() -> SimulatorClass:
    return riverswim(6, (0.1, 0.3, 0.6), left_reward=0.7, uniform=True)


@pytest.mark.parametrize(
    ("seed", "explored"), [(0, None), (1, 0), (2, 200), (3, 5), (4, 1), (5, 30)]
)
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    seed: int, explored: int | None
) -> None:
    rng = np.random.default_rng(seed)
    own, start = seed % 3 == 1, seed % 2 == 1
    worlds = random_class(rng, members=4, own_rewards=own, random_start=start)
    signal = list(RewardSignal)[1 + seed % 2] if own else RewardSignal.UNSEEN
    agent = explore_then_commit(worlds, 200, explored=explored, signal=signal)
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)
        assert (fast.identified == agent.explored).all()
        assert (((fast.eliminated >= 0).sum(axis=1)) == 3).all()


@pytest.mark.parametrize(
    ("horizon", "steps"), [(0, 0), (1, 1), (8, 4), (9, 5), (1000, 100), (10**6, 10**4)]
)
def test_it_explores_for_two_thirds_of_the_exponent(horizon: int, steps: int) -> None:
    assert explore_then_commit(rivers(), horizon).explored == steps


def test_it_commits_to_the_likeliest_model() -> None:
    worlds = random_class(np.random.default_rng(8), members=5, random_start=True)
    agent = explore_then_commit(worlds, 60, explored=25)
    for seed in range(20):
        path = lived(agent, seed % 5, 30, seed)
        memory = agent.start(path[0].state)
        likelihood = np.array([worlds.start_law(m)[path[0].state] for m in range(5)])
        for step in path[:25]:
            assert memory.model == UNDECIDED
            memory = agent.observe(memory, step)
            s, a, t = step.state, step.action, step.next_state
            likelihood *= [worlds.transitions.probability(m, s, a, t) for m in range(5)]
        assert memory.model == likelihood.argmax()
        assert agent.observe(memory, path[25]) == memory


def test_leaving_the_rest_to_its_expectation_keeps_the_mean() -> None:
    agent = explore_then_commit(rivers(), 6000)
    real, whole = prepared(agent), With(agent, {"leave": False})
    for left, full in zip(
        run_program(agent, real, runs=400, seed=1),
        run_program(whole, real, runs=400, seed=1),
        strict=True,
    ):
        assert (left.simulated == agent.explored).all()
        np.testing.assert_array_equal(left.eliminated, full.eliminated)
        for field in ("gap", "regret", "reward"):
            apart = getattr(left, field) - getattr(full, field)
            error = apart.std(ddof=1) / np.sqrt(apart.size)
            assert abs(apart.mean()) <= SIGMAS * error + 1e-8


def test_what_no_model_allows_is_flagged() -> None:
    worlds = bandit(((0.0, 1.0), (1.0, 0.0)))
    agent = explore_then_commit(worlds, 100, explored=40)
    real = real_models(agent.observed, bandit(((0.5, 0.5),)), 100)
    (fast,) = run_program(agent, real, runs=5, seed=0)
    (slow,) = run_program(Stepwise(agent, agent.observed), real, runs=5, seed=0)
    assert_same(fast, slow)
    assert (fast.resets == 1).all()
    memory = explore_then_commit(worlds, 100, explored=2).start(0)
    agent = explore_then_commit(worlds, 100, explored=2)
    memory = agent.observe(memory, Step(0, 0, 0, 0))
    memory = agent.observe(memory, Step(1, 0, 0, 1))
    assert memory.resets == 1 and memory.model == agent.known.order[0]


@pytest.mark.parametrize("explored", [-1, 11, 2.5, True])
def test_steps_that_cannot_be_explored_are_refused(explored: int) -> None:
    with pytest.raises(InvalidArgument, match=r"explored is .* of 10 steps"):
        explore_then_commit(rivers(), 10, explored=explored)
