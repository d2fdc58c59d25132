"""Optimism with likelihood ratios: the same agent twice, and what is claimed of it."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from simgap.base_policies.improved.likelihood_optimism import (
    FORGOTTEN,
    LikelihoodOptimism,
    bhattacharyya_losses,
    likelihood_optimism,
)
from simgap.instances import bandit, riverswim, switch_tree
from simgap.mdp import Details, IndexOrder, SimulatorClass, class_from_arrays
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal, observed_class
from simgap.simulation.runs import Stepwise, log_grid, run_program
from simgap.simulation.worlds import RealModels, real_models
from tests.base_policies.cases import (
    assert_same,
    both_ways,
    prepared,
    random_class,
    run,
)
from tests.base_policies.variants import With, assert_identical, lived

SURE = 1e-6  # chance with which a sampling test may fail


def class_of(seed: int, members: int = 4) -> tuple[SimulatorClass, RewardSignal]:
    """A random class; every third has rewards of its own, every second random starts.

    Rows have zeros, so that some edges are impossible in some models.
    """
    rng = np.random.default_rng(seed)
    own, start = seed % 3 == 1, seed % 2 == 1
    worlds = random_class(rng, members=members, own_rewards=own, random_start=start)
    return worlds, list(RewardSignal)[1 + seed % 2] if own else RewardSignal.UNSEEN


def rivers(members: int = 5) -> SimulatorClass:
    """RS-5 and RS-20: half of the models are better off staying on the left."""
    rates = np.linspace(0.1, 0.6, members).tolist()
    return riverswim(6, rates, left_reward=0.7, uniform=True)


@pytest.mark.parametrize("seed", range(6))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(seed: int) -> None:
    worlds, signal = class_of(seed)
    agent = likelihood_optimism(worlds, 300, signal=signal)
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)
        assert ((fast.eliminated >= 0).sum(axis=1) >= 1).all()


def test_looking_rarely_changes_no_bit() -> None:
    assert_looking_rarely_is_enough(range(12))


def assert_looking_rarely_is_enough(seeds: range) -> None:
    dropped = 0
    for seed in seeds:
        worlds, signal = class_of(seed, members=2 + seed % 4)
        if seed % 4 == 0:
            means = np.random.default_rng(seed).uniform(0.3, 0.7, (6, 2))
            worlds, signal = bandit(means), RewardSignal.UNSEEN
        agent = likelihood_optimism(worlds, 4000, signal=signal)
        real = prepared(agent)
        rare, often = With(agent, {"leave": False}), With(agent, {"lazy": False})
        for one, other in zip(
            run_program(rare, real, runs=4, seed=seed),
            run_program(often, real, runs=4, seed=seed),
            strict=True,
        ):
            assert_identical(one, other)
            assert (one.simulated == 4000).all()
            dropped += int((one.eliminated >= 0).sum())
    assert dropped >= 4 * len(seeds)


def test_log_likelihoods_are_those_of_the_transitions() -> None:
    worlds, _ = class_of(3)
    agent = likelihood_optimism(worlds, 60)
    path = lived(agent, 1, 60, seed=5)
    memory = agent.start(path[0].state)
    expected = np.array([worlds.start_law(m)[path[0].state] for m in range(4)])
    for step in path:
        memory = agent.observe(memory, step)
        s, a, t = step.state, step.action, step.next_state
        expected *= [worlds.transitions.probability(m, s, a, t) for m in range(4)]
    found = np.exp(agent.log_likelihoods(memory.first_state, memory.counts))
    np.testing.assert_allclose(found / found.max(), expected / expected.max(), 1e-9)


def test_an_impossible_step_drops_a_model_at_that_very_step() -> None:
    """In the first model the second arm never wins."""
    worlds = bandit(((0.3, 0.0), (0.3, 0.6)))
    agent = likelihood_optimism(worlds, 5000)
    memory = agent.start(0)
    memory = agent.observe(memory, Step(0, 0, 1, 1))
    assert memory.alive == {1}
    first, second = run(agent, worlds, 5000, runs=50, seed=0, grid=log_grid(5000))
    wins = second.eliminated[:, 0]
    assert (wins >= 1).all() and (wins <= 40).all()
    assert (second.identified == wins).all()
    # the other way round nothing is impossible: ratios 1/0.4 have to add up
    assert (first.eliminated[:, 1] == np.ceil(log(10_000) / -log(0.4))).all()


def test_where_an_episode_begins_is_evidence() -> None:
    P = np.full((2, 2, 2, 2), 0.5)
    R = np.array([[0.0, 0.0], [1.0, 1.0]])
    begins = Details(start=[[1.0, 0.0], [0.0, 1.0]])
    apart = class_from_arrays(P, R, order=IndexOrder.STATE_ACTION, details=begins)
    agent = likelihood_optimism(apart, 100)
    assert agent.start(0).alive == {0} and agent.start(1).alive == {1}
    for m, runs in enumerate(run(agent, apart, 100, runs=4, seed=0)):
        assert (runs.eliminated[:, 1 - m] == 0).all()
        assert (runs.eliminated[:, m] == -1).all()
        assert (runs.identified == 0).all()


def chance_of_dropping(agent: LikelihoodOptimism, limit: float) -> float:
    """Return the exact chance that the first of two one-armed bandits is dropped.

    The likelihoods depend on the pulls and the wins alone.
    """
    chances = agent.observed.chances  # edges: lose to lose, lose to win, ...
    alive, gone = np.ones(1), 0.0
    lose, win = chances[0, :2]
    against = np.log(chances[1, :2]) - np.log(chances[0, :2])
    for n in range(1, agent.horizon + 1):
        step = np.zeros(n + 1)
        step[:-1] += alive * lose
        step[1:] += alive * win
        wins = np.arange(n + 1)
        ratio = wins * against[1] + (n - wins) * against[0]
        out = ratio >= limit
        gone += step[out].sum()
        # the other may be dropped too: then the first one is safe
        alive = np.where(out | (-ratio >= limit), 0.0, step)
    return float(gone)


@pytest.mark.parametrize(("fair", "other"), [(0.5, 0.6), (0.5, 0.9), (0.1, 0.2)])
@pytest.mark.parametrize("horizon", [2, 10, 40])
def test_the_truth_is_dropped_with_probability_at_most_one_in_mh(
    fair: float, other: float, horizon: int
) -> None:
    """Ville's inequality, (M-1)/(MH); a limit of log 1.5 would not keep it."""
    agent = likelihood_optimism(bandit(((fair,), (other,))), horizon)
    assert agent.limit == log(2 * horizon)
    assert chance_of_dropping(agent, agent.limit) <= 1.0 / (2 * horizon)
    if horizon == 40:
        assert chance_of_dropping(agent, log(1.5)) > 1.0 / horizon


def test_the_truth_is_dropped_as_often_as_it_should_be() -> None:
    worlds = bandit(((0.5,), (0.9,)))
    agent, count = likelihood_optimism(worlds, 10), 100_000
    exact = chance_of_dropping(agent, agent.limit)
    assert 0.01 < exact <= 0.05
    runs, _ = run(agent, worlds, 10, runs=count, seed=1)
    found = int(runs.truth_eliminated.sum())
    low, high = binom.interval(1.0 - SURE, count, exact)
    assert low <= found <= high
    assert not low <= 1.2 * exact * count <= high  # the control


def test_slack_is_the_inequality_of_the_proof() -> None:
    """Sum of -log BC over all steps before a rival goes, over 1.5 log(MH)."""
    agent = likelihood_optimism(rivers(), 1500)
    real = prepared(agent)
    for runs in run_program(agent, real, runs=2, seed=0, grid=log_grid(1500)):
        losses = bhattacharyya_losses(agent.observed, runs.model)
        for i in range(2):
            expected = most_told_apart(agent, real, losses, runs.model, i)
            assert runs.slack[i] == pytest.approx(expected, rel=1e-9)


def most_told_apart(
    agent: LikelihoodOptimism, real: RealModels, losses: Any, member: int, number: int
) -> float:
    """Follow one run step by step: what every rival had seen when it was dropped."""
    told, most = np.zeros(len(losses)), 0.0

    class Watched:
        name = "watched"

        def start(self, state: int) -> Any:
            return agent.start(state)

        def act(self, memory: Any, h: int, state: int) -> Any:
            return agent.act(memory, h, state)

        def observe(self, memory: Any, step: Step) -> Any:
            nonlocal most
            after = agent.observe(memory, step)
            told[:] += losses[:, agent.observed.edge(step)]
            alive = sorted(after.alive)
            most = max(most, *told[alive])
            return after

    run_program(
        Stepwise(Watched(), agent.observed), real, runs=1, seed=0, first_run=number,
        models=[member],
    )  # fmt: skip
    return most / (1.5 * agent.limit)


def test_the_inequality_fails_with_probability_at_most_two_in_h() -> None:
    """At H = 20 it may fail in a tenth of the runs; a fifth of it fails in most."""
    worlds, horizon, count = bandit(((0.5, 0.4), (0.3, 0.7))), 20, 20_000
    agent = likelihood_optimism(worlds, horizon)
    for runs in run(agent, worlds, horizon, runs=count, seed=0):
        failed = int((runs.slack > 1.0).sum())
        assert failed <= binom.ppf(1.0 - SURE, count, 2.0 / horizon)
        scaled_down = int((runs.slack > 0.05).sum())
        assert scaled_down > binom.ppf(1.0 - SURE, count, 2.0 / horizon)


def test_losses_of_rows_are_minus_log_bhattacharyya() -> None:
    worlds, _ = class_of(2)
    observed = observed_class(worlds)
    found = bhattacharyya_losses(observed, 1)
    for k in range(4):
        for e in range(observed.n_edges):
            row = int(observed.row[e])
            s, a = divmod(row, 2)
            p, q = worlds[k].transitions.array(0)[s, a], worlds[1].transitions.array(0)
            overlap = np.sqrt(p * q[s, a]).sum()
            expected = -np.log(overlap) if overlap > 0.0 else np.inf
            assert found[k, e] == pytest.approx(expected, abs=1e-12)
    assert (found[1] == 0.0).all() and (found >= 0.0).all()


def test_a_real_model_outside_the_class_is_survived() -> None:
    """What no survivor allows brings back who does; what nobody allows is forgotten."""
    worlds = bandit(((0.0, 1.0), (1.0, 0.0)))
    outside = bandit(((0.5, 0.35),))
    agent = likelihood_optimism(worlds, 200)
    real = real_models(agent.observed, outside, 200)
    grid = log_grid(200)
    slow = Stepwise(agent, agent.observed)
    (fast,) = run_program(agent, real, runs=5, seed=0, grid=grid)
    (same,) = run_program(slow, real, runs=5, seed=0, grid=grid)
    assert_same(fast, same)
    assert (fast.resets >= 1).all()
    assert np.isnan(fast.slack).all()
    (often,) = run_program(With(agent, {"lazy": False}), real, runs=5, seed=0)
    np.testing.assert_array_equal(often.resets, fast.resets)
    memory = agent.start(0)
    memory = agent.observe(memory, Step(0, 0, 1, 0))
    assert memory.alive == {1} and memory.resets == 0
    memory = agent.observe(memory, Step(1, 0, 0, 0))
    assert memory.alive == {0, 1} and memory.resets == 1
    assert memory.first_state == FORGOTTEN and sum(memory.counts) == 0


@pytest.mark.parametrize(
    ("worlds", "expected"),
    [
        (rivers(5), 121.0),
        (rivers(20), 531.0),
        (switch_tree(4, 2, 0.1, 8, delta=0.2), 886.0),
    ],
    ids=["RS-5", "RS-20", "JAO-8"],
)
def test_measured_regret_at_a_million_steps(
    worlds: SimulatorClass, expected: float
) -> None:
    """Regret of the worst member measured by an independent prototype."""
    agent = likelihood_optimism(worlds, 1_000_000)
    found = run(agent, worlds, 1_000_000, runs=100, seed=0)
    worst = max(float(runs.regret.mean()) for runs in found)
    assert worst == pytest.approx(expected, rel=0.15)
