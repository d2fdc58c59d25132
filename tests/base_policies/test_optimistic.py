"""Algorithm 3: the readable policy and the compiled one are the same agent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from simgap.arrays import FloatArray
from simgap.base_policies.paper.optimistic import (
    OptimisticExploration,
    Threshold,
    optimistic_exploration,
)
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, run_program
from tests.base_policies.cases import (
    assert_same,
    both_ways,
    prepared,
    random_class,
    run,
)
from tests.base_policies.variants import With, assert_identical

SURE = 1e-6  # chance with which a sampling test may fail
ROW_32 = {50: 1.36514e-4, 200: 2.2117e-5, 1000: 1.9938e-6}


def random_bandits(rng: np.random.Generator, members: int = 4) -> SimulatorClass:
    """Models far enough apart to be told apart within hundreds of steps."""
    return bandit(rng.uniform(0.05, 0.95, (members, 2)))


def coin(horizon: int, **settings: object) -> OptimisticExploration:
    """Algorithm 3 on a class of one fair coin: rho = 1/2, sp = 1."""
    return optimistic_exploration(bandit(((0.5,),)), horizon, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", list(Threshold))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    kind: Threshold, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    worlds = random_class(
        rng, members=3, own_rewards=seed % 3 == 1, random_start=seed % 2 == 1
    )
    signal = RewardSignal.UNSEEN if seed % 3 != 1 else list(RewardSignal)[seed % 2 + 1]
    agent = optimistic_exploration(
        worlds, 400, threshold=kind, one_sided=seed >= 3, signal=signal
    )
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)


@pytest.mark.parametrize("kind", list(Threshold))
def test_they_are_equal_when_models_are_eliminated(kind: Threshold) -> None:
    dropped = 0
    for seed in range(3):
        worlds = random_bandits(np.random.default_rng(seed))
        agent = optimistic_exploration(worlds, 500, threshold=kind)
        for fast, slow in both_ways(agent, seed=seed):
            assert_same(fast, slow)
            dropped += int((fast.eliminated >= 0).sum())
    assert dropped >= 5


@pytest.mark.parametrize("kind", list(Threshold))
def test_looking_rarely_changes_no_bit(kind: Threshold) -> None:
    assert_looking_rarely_is_enough(kind, range(12))


def assert_looking_rarely_is_enough(kind: Threshold, seeds: range) -> None:
    dropped = 0
    for seed in seeds:
        rng = np.random.default_rng(100 + seed)
        own = seed % 4 == 3
        worlds = random_bandits(rng)
        if seed % 2:
            worlds = random_class(rng, members=4, own_rewards=own)
        signal = list(RewardSignal)[1 + seed // 4 % 2] if own else RewardSignal.UNSEEN
        agent = optimistic_exploration(
            worlds, 3000, threshold=kind, one_sided=seed % 5 == 0, signal=signal
        )
        real, often = prepared(agent), With(agent, {"lazy": False})
        rare = run_program(agent, real, runs=3, seed=seed)
        for one, other in zip(
            rare, run_program(often, real, runs=3, seed=seed), strict=True
        ):
            assert_identical(one, other)
            dropped += int((one.eliminated >= 0).sum())
    assert dropped >= 2 * len(seeds)


@pytest.mark.parametrize("kind", list(Threshold))
def test_every_path_obeys_the_inequality_of_theory_4_6(kind: Threshold) -> None:
    """Theory 4.6, on raw rewards."""
    most, dropped = 0.0, 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        own, start = seed % 5 == 4, seed % 3 == 0
        worlds = random_bandits(rng)
        if seed % 2 == 0 or own:
            worlds = random_class(rng, members=4, own_rewards=own, random_start=start)
        signal = list(RewardSignal)[1 + seed % 2] if own else RewardSignal.UNSEEN
        agent = optimistic_exploration(worlds, 2000, threshold=kind, signal=signal)
        real = prepared(agent)
        for runs in run_program(agent, real, runs=10, seed=seed):
            survived = ~runs.truth_eliminated
            assert np.isnan(runs.bound[~survived]).all()
            lost = runs.horizon * real.gain[runs.model] - runs.reward[survived]
            assert (lost <= runs.bound[survived]).all()
            np.testing.assert_allclose(runs.slack[survived],
                                       lost / runs.bound[survived])  # fmt: skip
            most = max(most, float(runs.slack[survived].max()))
            dropped += int((runs.eliminated >= 0).sum())
    assert dropped >= 30
    assert most > 0.4  # the control: four tenths of the bound would not do


@pytest.mark.parametrize("kind", list(Threshold))
@pytest.mark.parametrize("signal", list(RewardSignal))
def test_the_bound_of_a_path_is_the_sum_over_its_episodes(
    kind: Threshold, signal: RewardSignal
) -> None:
    """thr_k(n_k - e_k) + e_k (greatest step) + sp_k, the last episode cut by H."""
    rng = np.random.default_rng(7)
    worlds = random_bandits(rng)
    if signal is not RewardSignal.UNSEEN:
        worlds = random_class(rng, members=4, own_rewards=True)
    agent = optimistic_exploration(worlds, 700, threshold=kind, signal=signal)
    several = 0
    for fast, slow in both_ways(agent, runs=2):
        assert_same(fast, slow)
        several += int((fast.switches > 0).sum())
        for i in range(2):
            expected = bound_of_a_path(agent, fast.model, i)
            if not fast.truth_eliminated[i]:
                assert fast.bound[i] == pytest.approx(expected, rel=1e-12)
    assert several > 0 or kind is Threshold.PAPER


def bound_of_a_path(agent: OptimisticExploration, member: int, number: int) -> float:
    """Follow one run step by step and add up the bound in the words of theory 4.6."""
    watch = Watched(agent)
    real = prepared(agent)
    run_program(
        Stepwise(watch, agent.observed), real, runs=1, seed=0, first_run=number,
        models=[member],
    )  # fmt: skip
    total, levels = 0.0, agent.levels
    for before, after in zip(watch.seen, [*watch.seen[1:], None], strict=True):
        k = before.current
        fired = after is not None and sum(after.counts) == 0
        if fired or after is None:  # the end of an episode
            total += agent.limit(k, before.counts) + float(agent.known.width[k])
            total += float(levels.most_step[k]) if fired else 0.0
    return total


class Watched:
    """Algorithm 3 with a list of everything it remembered."""

    def __init__(self, agent: OptimisticExploration) -> None:
        self.agent, self.seen, self.name = agent, [], "watched"  # type: ignore[var-annotated]

    def start(self, state: int) -> object:
        self.seen.append(self.agent.start(state))
        return self.seen[-1]

    def act(self, memory: object, h: int, state: int) -> FloatArray:
        return self.agent.act(memory, h, state)  # type: ignore[arg-type]

    def observe(self, memory: object, step: Step) -> object:
        self.seen.append(self.agent.observe(memory, step))  # type: ignore[arg-type]
        return self.seen[-1]


def chance_of_elimination(agent: OptimisticExploration, scale: float = 1.0) -> float:
    """Return the exact chance that a fair coin is eliminated within the horizon.

    The statistic of n steps is n/2 - wins, whatever the order of the wins.
    """
    alive, gone = np.ones(1), 0.0  # by wins
    width = agent.levels.paid.shape[1]
    for n in range(1, agent.horizon + 1):
        step = np.zeros(n + 1)
        step[:-1] += alive / 2.0
        step[1:] += alive / 2.0
        statistic = n / 2.0 - np.arange(n + 1)
        limit = scale * agent.limit(0, (n,) + (0,) * (width - 1))
        out = np.abs(statistic) > limit
        gone += step[out].sum()
        alive = np.where(out, 0.0, step)
    return float(gone)


@pytest.mark.parametrize("horizon", sorted(ROW_32))
def test_row_32_a_fair_coin_is_eliminated_with_this_probability(horizon: int) -> None:
    """Theory row 32, exactly; and Theorem 6 asks for no more than 1/H."""
    exact = chance_of_elimination(coin(horizon))
    assert exact == pytest.approx(ROW_32[horizon], rel=5e-5)
    assert exact <= 1.0 / horizon


def test_row_32_by_simulation() -> None:
    """50 steps: the number of eliminations among many is that of the exact chance."""
    count = 300_000
    (runs,) = run(coin(50), bandit(((0.5,),)), 50, runs=count, seed=3)
    found = int(runs.truth_eliminated.sum())

    def plausible(chance: float) -> bool:
        low, high = binom.interval(1.0 - SURE, count, chance)
        return bool(low <= found <= high)

    assert plausible(ROW_32[50])
    assert not plausible(2.5 * ROW_32[50])  # controls
    assert not plausible(ROW_32[50] / 4.0)
    assert (runs.resets[runs.truth_eliminated] >= 1).all()  # nobody was left


@pytest.mark.parametrize("kind", list(Threshold))
@pytest.mark.parametrize("horizon", [1, 2, 5, 10, 30, 100])
def test_the_truth_is_eliminated_with_probability_at_most_one_in_h(
    kind: Threshold, horizon: int
) -> None:
    two_sided = chance_of_elimination(coin(horizon, threshold=kind))
    assert two_sided <= 1.0 / horizon
    if horizon >= 10:  # the control: half the threshold is not enough
        scale = {Threshold.SHARP: 0.5, Threshold.PAPER: 0.15, Threshold.VARIANCE: 0.3}
        assert chance_of_elimination(coin(horizon, threshold=kind),
                                     scale[kind]) > 1.0 / horizon  # fmt: skip


def test_row_33_the_printed_threshold_eliminates_a_coin_at_the_first_step() -> None:
    """Errata E17."""
    agent = coin(100, literal=True)
    (runs,) = run(agent, bandit(((0.5,),)), 100, runs=200, seed=0)
    assert (runs.eliminated == 1).all()
    assert (runs.resets >= 1).all()
    assert np.isnan(runs.bound).all()  # nothing is claimed


def test_row_34_the_printed_threshold_empties_the_class_in_four_steps() -> None:
    """Errata E17: zero at the first step, so that any random step contradicts."""
    rivers = riverswim(6, (0.35, 0.25, 0.45, 0.30))
    agent = optimistic_exploration(rivers, 500, literal=True)
    for fast, slow in both_ways(agent):
        assert_same(fast, slow, but=("eliminated",))  # a reset hides the last one
        assert (fast.eliminated.max(axis=1) == 4).all()
        assert (fast.resets >= 1).all()
    repaired = optimistic_exploration(rivers, 500)
    for runs in run(repaired, rivers, 500, runs=20, seed=0):
        assert (runs.resets == 0).all()


@pytest.mark.parametrize("kind", list(Threshold))
def test_a_bias_without_span_is_not_contradicted_by_rounding(kind: Threshold) -> None:
    """All rewards are 0.1: sp = 0, the threshold is 0 and sums of 0.1 are rounded."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=(2, 3, 2))
    worlds = class_from_arrays(P, np.full((3, 2), 0.1))
    agent = optimistic_exploration(worlds, 200_000, threshold=kind)
    if kind is not Threshold.PAPER:
        assert (agent.levels.width <= 1e-12).all()
    for runs in run(agent, worlds, 200_000, runs=3, seed=0):
        assert (runs.eliminated == -1).all()
        assert (200_000 * 0.1 - runs.reward <= runs.bound).all()


def test_a_reward_that_cannot_be_is_a_contradiction_at_once() -> None:
    """Theory 7.2: one model promises 1 a step with sp = 0, the other pays 0.2."""
    P = np.full((2, 3, 2, 3), 1.0 / 3.0)
    R = np.full((2, 3, 2), 0.5)
    R[0, :, 1], R[1, :, 1] = 1.0, 0.2
    worlds = class_from_arrays(P, R)
    agent = optimistic_exploration(worlds, 1000, signal=RewardSignal.SEEN)
    assert agent.start(0).current == 0
    first, second = run(agent, worlds, 1000, runs=10, seed=0)
    assert (first.eliminated == -1).all()
    assert (second.eliminated == [1, -1]).all()
    assert (500.0 - second.reward <= second.bound).all()
    assert (500.0 - second.reward > 0.2).all()  # the step that gave it away


def test_nothing_is_claimed_where_no_theorem_speaks() -> None:
    rng = np.random.default_rng(2)
    own = random_class(rng, members=3, own_rewards=True)
    unseen = optimistic_exploration(own, 300)
    for runs in run(unseen, own, 300, runs=3, seed=0):
        assert np.isnan(runs.bound).all() and np.isnan(runs.slack).all()
    worlds = bandit(((0.3, 0.6), (0.6, 0.3)))
    agent = optimistic_exploration(worlds, 300)
    for runs in run(agent, bandit(((0.5, 0.5),)), 300, runs=3, seed=0):
        assert np.isnan(runs.bound).all()


def test_a_real_model_outside_the_class_resets_and_goes_on() -> None:
    """Both models promise 0.9 and more; the real one keeps neither promise."""
    worlds = bandit(((0.9, 0.1), (0.1, 0.95)))
    agent = optimistic_exploration(worlds, 2000)
    (runs,) = run(agent, bandit(((0.2, 0.2),)), 2000, runs=5, seed=0)
    assert (runs.resets >= 2).all()
    assert (runs.switches >= 4).all()
    assert (runs.simulated == 2000).all()


def test_the_regret_of_row_40_on_rivers() -> None:
    """Theory row 40: regret 5 to 9 at H = 500 (checked by its mean)."""
    rivers = riverswim(6, (0.35, 0.25, 0.45, 0.30))
    agent = optimistic_exploration(rivers, 500)
    for runs in run(agent, rivers, 500, runs=400, seed=0):
        assert 4.5 <= runs.regret.mean() <= 9.5
