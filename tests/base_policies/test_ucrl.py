"""UCRL2 and UCRL2B: one agent in two forms, optimism, promises about the real model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log2, sqrt

import numpy as np
import pytest
from scipy.stats import binom

from simgap.arrays import FloatArray
from simgap.base_policies.outsiders.ucrl import (
    UCRL,
    Confidence,
    Learned,
    Ties,
    ucrl2,
    ucrl2b,
)
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass
from simgap.planning import solve_average_reward
from simgap.policies.interface import Step
from simgap.simulation.runs import Runs, Stepwise, run_program
from tests.base_policies.cases import (
    assert_same,
    both_ways,
    prepared,
    random_class,
    run,
)

Make = Callable[..., UCRL]
BOTH: tuple[Make, ...] = (ucrl2, ucrl2b)
RIVER = riverswim(6, 0.4, 0.05, left_reward=0.005, uniform=True)  # gain 0.875


def dense(simulators: SimulatorClass, member: int = 0) -> FloatArray:
    """Return P (S A, S) of one model."""
    kernel = simulators.transitions
    table = np.zeros((kernel.indptr.size - 1, kernel.n_states))
    rows = np.repeat(np.arange(len(table)), np.diff(kernel.indptr))
    table[rows, kernel.indices] = kernel.values[member]
    return table


def lived(
    agent: UCRL, simulators: SimulatorClass, seed: int
) -> tuple[list[Learned], list[Step]]:
    """Return the memories before every step of an episode in the first model."""
    rng, table = np.random.default_rng(seed), dense(simulators)
    state, memory = 0, agent.start(0)
    memories, steps = [], []
    for h in range(agent.horizon):
        memories.append(memory)
        action = int(agent.act(memory, h, state).argmax())
        law = table[state * simulators.n_actions + action]
        after = int(rng.choice(law.size, p=law))
        steps.append(Step(h, state, action, after))
        memory = agent.observe(memory, steps[-1])
        state = after
    return memories, steps


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("seed", range(6))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    make: Make, seed: int
) -> None:
    worlds = random_class(
        np.random.default_rng(seed), actions=2 + seed % 2, random_start=seed % 2 == 1
    )
    agent = make(
        worlds, 500, factor=(1.0, 0.05, 0.3)[seed % 3], ties=list(Ties)[seed % 2]
    )
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)
        assert (fast.switches > 0).all()


@pytest.mark.parametrize("make", BOTH)
def test_where_rewards_differ_it_knows_those_of_the_real_model(
    make: Make,
) -> None:
    worlds = random_class(np.random.default_rng(5), own_rewards=True)
    agent = make(worlds, 300)
    with pytest.raises(InvalidArgument, match="knowing"):
        agent.start(0)
    everywhere = run(agent, worlds, 300, runs=3, seed=1)
    for member in range(3):
        told = agent.knowing(member)
        real = prepared(told)
        slow = Stepwise(told, told.observed)
        (by_steps,) = run_program(slow, real, runs=3, seed=1, models=[member])
        assert_same(everywhere[member], by_steps)
        with pytest.raises(InvalidArgument, match="was given"):
            run(told, worlds, 300, runs=1, seed=1, models=[(member + 1) % 3])


@pytest.mark.parametrize("make", BOTH)
def test_a_plan_is_made_when_a_pair_has_doubled_and_not_before(
    make: Make,
) -> None:
    worlds = random_class(np.random.default_rng(8), members=1)
    agent = make(worlds, 1500, factor=0.1)
    memories, steps = lived(agent, worlds, 4)
    visits, used = np.zeros((2, 4, 2), np.int64)
    for before, now, step in zip(memories, memories[1:], steps, strict=False):
        used[step.state, step.action] += 1
        assert (used <= np.maximum(1, visits)).all()
        after = step.next_state
        pair = after, before.policy[after]
        full = used[pair] == max(1, visits[pair])
        assert (now.plans == before.plans + 1) == full
        assert now.plans > before.plans or now.policy == before.policy
        if full:
            visits, used = visits + used, np.zeros_like(used)
    assert memories[-1].plans <= 8 * log2(8 * 1500 / 8)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("ties", list(Ties))
def test_there_are_at_most_s_a_log_episodes(make: Make, ties: Ties) -> None:
    """Jaksch et al. 2010, proposition 18: S A log2(8 T / (S A)) if T >= S A."""
    for horizon in (12, 100, 10_000, 100_000):
        agent = make(RIVER, horizon, ties=ties)
        (runs,) = run(agent, RIVER, horizon, runs=20, seed=3)
        assert (runs.switches + 1 <= 12 * log2(8 * horizon / 12)).all()


def failures(runs: Runs) -> int:
    return int((runs.slack > 1.0).sum())


@pytest.mark.parametrize("make", BOTH)
def test_the_real_model_is_plausible_as_often_as_promised(make: Make) -> None:
    """Chance of a failure at most delta = 0.05; a fiftieth of the radius breaks it.

    The test is one of the hypothesis "at most delta" at level 1e-6.
    """
    delta, count, horizon = 0.05, 300, 3000
    worlds = random_class(np.random.default_rng(10), members=2)
    agent = make(worlds, horizon, delta=delta)
    broken = replace(agent, factor=0.02)
    for good, bad in zip(
        run(agent, worlds, horizon, runs=count, seed=7),
        run(broken, worlds, horizon, runs=count, seed=7),
        strict=True,
    ):
        assert binom.sf(failures(good) - 1, count, delta) > 1e-6
        assert binom.sf(failures(bad) - 1, count, delta) < 1e-6


@pytest.mark.parametrize("make", BOTH)
def test_a_plan_promises_at_least_the_real_gain_if_the_model_is_plausible(
    make: Make,
) -> None:
    """Both ways: promised gain >= rho* at once, and rewards + bound >= H rho* later."""
    broken = 0
    for seed in range(12):
        worlds = random_class(np.random.default_rng(seed), members=2)
        gains = solve_average_reward(worlds).gain
        for factor in (1.0, 0.1, 0.01):
            agent = make(worlds, 2000, factor=factor)
            for runs, gain in zip(
                run(agent, worlds, 2000, runs=5, seed=seed), gains, strict=True
            ):
                kept = runs.reward + runs.bound >= 2000 * gain - 1e-6
                assert kept[runs.slack <= 1.0].all()
                broken += int((~kept).sum())
    assert broken > 0  # an implausible model does break the promise: the control


@pytest.mark.parametrize(
    ("make", "ends"), [(ucrl2, (2.9e4, 3.6e4)), (ucrl2b, (4e3, 8e3))]
)
def test_regret_on_riverswim_is_that_of_other_implementations(
    make: Make, ends: tuple[float, float]
) -> None:
    """H = 1e5, delta = 0.05: 3.2e4 (300 seeds) to 3.6e4 elsewhere; UCRL2B 6.1e3.

    The mean of 100 runs is known to four standard errors (chance 6e-5).
    """
    agent = make(RIVER, 100_000, delta=0.05)
    (runs,) = run(agent, RIVER, 100_000, runs=100, seed=11)
    error = 4.0 * runs.regret.std() / sqrt(100)
    assert ends[0] < runs.regret.mean() - error
    assert runs.regret.mean() + error < ends[1]
    narrow = replace(agent, factor=0.1)  # the control: less optimism, less regret
    (less,) = run(narrow, RIVER, 100_000, runs=20, seed=11)
    assert less.regret.mean() + 4.0 * less.regret.std() / sqrt(20) < ends[0]


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, value in (
        ("delta", 0.0),
        ("delta", 1.5),
        ("delta", "0.1"),
        ("factor", 0.0),
        ("factor", float("nan")),
        ("most_sweeps", 0),
        ("most_sweeps", True),
    ):
        with pytest.raises(InvalidArgument, match=name):
            ucrl2(RIVER, 100, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        ucrl2b(RIVER, -1)
    agent = ucrl2(RIVER, 10)
    with pytest.raises(InvalidArgument):
        agent.act(agent.start(0), 10, 0)
    assert (agent.name, agent.delta, agent.confidence) == (
        "ucrl2",
        0.1,
        Confidence.BALL,
    )
    assert ucrl2b(RIVER, 10).name == "ucrl2b"
