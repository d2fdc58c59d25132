"""The gap of any policy: exact values, sampled ones, and one against the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.improved.posterior_sampling import posterior_sampling
from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap import (
    Exact,
    MonteCarlo,
    average_gap,
    gaps,
    regret,
    sim_to_real_gap,
    worst_gap,
)
from simgap.intervals import Certified, Estimate
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import domain_randomization_oracle
from simgap.planning import solve_average_reward
from simgap.policies.interface import Policy
from simgap.policies.markov import MarkovPolicy
from simgap.simulation.observed import RewardSignal
from tests.base_policies.cases import random_class

LEVEL = 1e-4  # of the test of normality: it fails once in ten thousand honest suites


def middle(gap: Certified) -> float:
    assert gap.lower is not None and gap.upper is not None
    return 0.5 * (gap.lower + gap.upper)


def cases(seed: int, longest: int = 8) -> tuple[SimulatorClass, Policy[Any], int]:
    """Return a small class, a policy of some kind, and a horizon."""
    rng = np.random.default_rng(seed)
    worlds = random_class(
        rng, members=2, states=3, own_rewards=seed % 5 == 4, random_start=seed % 3 == 1
    )
    horizon = int(rng.integers(3, longest + 1))
    kind = seed % 4
    if kind == 0:
        table = rng.dirichlet(np.ones(2), size=(horizon, 3))
        return worlds, MarkovPolicy("mixed", 2, table), horizon
    if kind == 1:
        plan = domain_randomization_oracle(LatentMDP.uniform(worlds), horizon=horizon)
        return worlds, plan.policy, horizon
    if kind == 2:
        return worlds, likelihood_optimism(worlds, horizon), horizon
    threshold = Threshold.VARIANCE if seed % 8 == 3 else Threshold.SHARP
    agent = optimistic_exploration(worlds, horizon, threshold=threshold)
    return worlds, agent, horizon


def z_scores(
    worlds: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    exact: tuple[Certified, ...],
    seed: int,
) -> list[float]:
    """Return (estimate - exact) / standard error of every model with any chance."""
    evaluator = MonteCarlo(episodes=2000, seed=seed)
    found = gaps(worlds, policy, horizon, evaluator=evaluator)
    scores = []
    for each, truth in zip(found, exact, strict=True):
        error, gap = each.standard_error, middle(truth)
        assert error is not None
        if error < 1e-9:  # nothing that differs was met: the interval must say so
            assert each.guaranteed is not None
            low, high = each.guaranteed.ends
            assert low - 1e-12 <= gap <= high + 1e-12
        else:
            scores.append((each.estimate - gap) / error)
    return scores


def test_sampling_agrees_with_exact_evaluation_over_200_cases() -> None:
    """z-scores are standard normal (Kolmogorov-Smirnov); a wrong policy is caught."""
    right: list[float] = []
    wrong: list[float] = []
    for seed in range(170):
        worlds, policy, horizon = cases(seed)
        exact = gaps(worlds, policy, horizon)
        right += z_scores(worlds, policy, horizon, exact, seed)
        if isinstance(policy, MarkovPolicy):  # the control: actions exchanged
            other = MarkovPolicy("other", 2, policy.table[..., ::-1].copy())
            wrong += z_scores(worlds, other, horizon, exact, seed)
    assert len(right) >= 200
    assert stats.kstest(right, "norm").pvalue > LEVEL
    assert stats.kstest(wrong, "norm").pvalue < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_exact_gaps_are_values_of_all_histories(seed: int) -> None:
    worlds, policy, horizon = cases(seed, longest=4)
    for member, gap in enumerate(gaps(worlds, policy, horizon)):
        wanted = _by_hand(worlds, member, policy, horizon)
        assert gap.lower is not None and gap.upper is not None
        assert gap.lower - 1e-12 <= wanted <= gap.upper + 1e-12
        assert gap.upper - gap.lower <= 1e-10


def _by_hand(
    worlds: SimulatorClass, member: int, policy: Policy[Any], horizon: int
) -> float:
    """Return V* - V by plain recursion over histories, memories not merged."""
    from simgap.planning import optimal_values
    from simgap.policies.interface import Step

    model = worlds[member]
    rewards = worlds.rewards[member if len(worlds.rewards) > 1 else 0]

    def value(memory: Any, h: int, state: int) -> float:
        if h == horizon:
            return 0.0
        total = 0.0
        for action, chance in enumerate(policy.act(memory, h, state)):
            if chance == 0.0:
                continue
            after = float(rewards[state, action])
            targets, chances = model.transitions.row(0, state, action)
            for into, p in zip(targets, chances, strict=True):
                if p > 0.0:
                    then = policy.observe(memory, Step(h, state, action, int(into)))
                    after += p * value(then, h + 1, int(into))
            total += chance * after
        return total

    law = worlds.start_law(member)
    own = sum(law[s] * value(policy.start(s), 0, s) for s in range(3) if law[s] > 0.0)
    return float(optimal_values(worlds, horizon).start[member] - own)


def test_gap_and_regret_differ_by_what_starts_ahead() -> None:
    worlds = random_class(np.random.default_rng(0))
    agent = likelihood_optimism(worlds, 6)
    plan = solve_average_reward(worlds)
    from simgap.planning import optimal_values

    best = optimal_values(worlds, 6).start
    for m in range(3):
        gap = sim_to_real_gap(worlds[m], agent, 6)
        lost = regret(worlds[m], agent, 6)
        assert isinstance(lost, Certified)
        ahead = best[m] - 6 * plan.gain[m]
        assert middle(lost) == pytest.approx(middle(gap) - ahead, abs=1e-9)
        sampled = regret(
            worlds[m], agent, 6, evaluator=MonteCarlo(episodes=4000, seed=m)
        )
        assert isinstance(sampled, Estimate)
        assert sampled.standard_error is not None
        off = abs(sampled.estimate - middle(lost))
        assert off <= 5.0 * sampled.standard_error + 1e-9


def test_average_and_worst_are_those_of_the_models() -> None:
    worlds = random_class(np.random.default_rng(4))
    latent = LatentMDP(worlds, np.array([0.2, 0.3, 0.5]))
    agent = likelihood_optimism(worlds, 5)
    each = [middle(gap) for gap in gaps(worlds, agent, 5)]
    average, worst = average_gap(latent, agent, 5), worst_gap(worlds, agent, 5)
    assert isinstance(average, Certified) and isinstance(worst, Certified)
    assert middle(average) == pytest.approx(np.dot(latent.prior, each), abs=1e-12)
    assert middle(worst) == pytest.approx(max(each), abs=1e-12)
    order = np.argsort(each)  # the worst model cannot be real
    prior = np.where(np.arange(3) == order[-1], 0.0, 0.5)
    second = worst_gap(LatentMDP(worlds, prior), agent, 5)
    assert isinstance(second, Certified)
    assert middle(second) == pytest.approx(each[order[-2]], abs=1e-12)
    evaluator = MonteCarlo(episodes=3000, seed=1)
    sampled = worst_gap(worlds, agent, 5, evaluator=evaluator)
    mean = average_gap(latent, agent, 5, evaluator=evaluator)
    assert isinstance(sampled, Estimate) and isinstance(mean, Estimate)
    assert sampled.lower <= max(each) <= sampled.upper
    assert mean.lower <= middle(average) <= mean.upper


def test_the_oracle_loses_least_on_average() -> None:
    """Lemma 1's first step: no policy has a smaller average gap."""
    for seed in range(6):
        worlds = random_class(np.random.default_rng(seed), members=2, states=3)
        latent = LatentMDP.uniform(worlds)
        plan = domain_randomization_oracle(latent, horizon=6)
        best = average_gap(latent, plan.policy, 6)
        agents = (likelihood_optimism(worlds, 6), optimistic_exploration(worlds, 6))
        for agent in agents:
            other = average_gap(latent, agent, 6)
            assert best.lower is not None and other.upper is not None
            assert best.lower <= other.upper


def test_sampling_goes_on_until_the_interval_is_narrow_enough() -> None:
    worlds = random_class(np.random.default_rng(2))
    agent = likelihood_optimism(worlds, 50)
    wanted = MonteCarlo(episodes=100, seed=0, half_width=0.05)
    for gap in gaps(worlds, agent, 50, evaluator=wanted):
        assert (gap.upper - gap.lower) / 2.0 <= 0.05
    tight = MonteCarlo(episodes=100, seed=0, half_width=1e-7, most_episodes=200)
    with pytest.raises(NotSolved, match="half-width") as caught:
        gaps(worlds, agent, 50, evaluator=tight)
    assert caught.value.result is not None


def test_intervals_hold_the_exact_gap_at_the_stated_rate() -> None:
    """80 % intervals on 100 cases: at least 80 % less five standard deviations."""
    inside, count = 0, 0
    for seed in range(0, 100, 2):
        worlds, policy, horizon = cases(seed)
        exact = [middle(gap) for gap in gaps(worlds, policy, horizon)]
        evaluator = MonteCarlo(episodes=60, seed=seed, confidence=0.8)
        for gap, truth in zip(
            gaps(worlds, policy, horizon, evaluator=evaluator), exact, strict=True
        ):
            inside += gap.lower - 1e-9 <= truth <= gap.upper + 1e-9
            count += 1
    assert count == 100
    assert inside / count >= 0.8 - 5.0 * np.sqrt(0.8 * 0.2 / count)


def test_agents_that_see_rewards_are_evaluated_exactly_too() -> None:
    worlds = random_class(
        np.random.default_rng(6), members=2, states=3, own_rewards=True
    )
    for signal in (RewardSignal.SEEN, RewardSignal.RANDOM):
        agent = likelihood_optimism(worlds, 5, signal=signal)
        exact = gaps(worlds, agent, 5)
        sampled = gaps(worlds, agent, 5, evaluator=MonteCarlo(episodes=4000, seed=0))
        for one, other in zip(exact, sampled, strict=True):
            assert other.standard_error is not None
            off = abs(other.estimate - middle(one))
            assert off <= 5.0 * other.standard_error + 1e-9


def test_what_cannot_be_evaluated_is_refused_with_a_way_out() -> None:
    worlds = random_class(np.random.default_rng(1))
    with pytest.raises(InvalidArgument, match="draws random numbers"):
        gaps(worlds, posterior_sampling(worlds, 5), 5)
    with pytest.raises(NotSolved, match="remembers more"):
        gaps(worlds, likelihood_optimism(worlds, 40), 40, evaluator=Exact(max_nodes=9))
    with pytest.raises(InvalidArgument, match="made for 5 steps"):
        gaps(
            worlds,
            likelihood_optimism(worlds, 5),
            9,
            evaluator=MonteCarlo(episodes=10),
        )
    with pytest.raises(InvalidArgument, match="not one model"):
        sim_to_real_gap(worlds, likelihood_optimism(worlds, 5), 5)  # type: ignore[call-overload]
    for wrong in ({"episodes": 1}, {"confidence": 1.0}, {"half_width": 0.0}):
        with pytest.raises(InvalidArgument):
            MonteCarlo(**wrong)
