"""Posterior sampling over a class: draws, episodes, and the posterior itself."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import binom

from simgap._kernels.agents.posterior_sampling import drawn_model
from simgap.base_policies.improved.posterior_sampling import (
    FORGOTTEN,
    EpisodeRule,
    PosteriorSampling,
    posterior_sampling,
)
from simgap.errors import InvalidArgument
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, run_program
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import assert_same, both_ways, random_class
from tests.base_policies.variants import lived

SURE = 1e-6  # chance with which a sampling test may fail


def rivers(members: int = 5) -> SimulatorClass:
    rates = np.linspace(0.1, 0.6, members).tolist()
    return riverswim(6, rates, left_reward=0.7, uniform=True)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rule", list(EpisodeRule))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    rule: EpisodeRule, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    own, start = seed % 3 == 1, seed % 2 == 1
    worlds = random_class(rng, members=4, own_rewards=own, random_start=start)
    signal = list(RewardSignal)[1 + seed % 2] if own else RewardSignal.UNSEEN
    prior = rng.dirichlet(np.ones(4)) if seed % 2 else None
    agent = posterior_sampling(worlds, 300, prior=prior, rule=rule, signal=signal)
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)


def test_row_35_the_mean_of_one_over_the_posterior_of_the_truth_does_not_change() -> (
    None
):
    """Theory row 35: it is 1/prior after any number of steps, here by all histories.

    The agent plays what it draws; its luck is one number per draw, so that all its
    histories are followed with the actions of one luck.
    """
    rng = np.random.default_rng(4)
    P = rng.dirichlet(np.ones(3) * 2.0, size=(3, 3, 2))  # full support
    worlds = class_from_arrays(P, rng.random((3, 2)))
    prior = (0.2, 0.3, 0.5)
    agent = posterior_sampling(worlds, 5, prior=prior).with_stream(99)
    means, probability = np.zeros(3), np.zeros(3)
    for path in product(range(3), repeat=5):
        chance, memory, state = np.ones(3), agent.start(0), 0
        for h, after in enumerate(path):
            action = int(agent.act(memory, h, state).argmax())
            chance *= P[:, state, action, after]
            memory = agent.observe(memory, Step(h, state, action, after))
            state = after
        means += chance / agent.posterior(memory)
        probability += chance
    np.testing.assert_allclose(probability, 1.0, rtol=1e-12)
    np.testing.assert_allclose(means, (5.0, 10.0 / 3.0, 2.0), rtol=1e-10)


def test_the_posterior_is_bayes_rule() -> None:
    worlds = random_class(np.random.default_rng(3), members=4, random_start=True)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    agent = posterior_sampling(worlds, 80, prior=prior)
    path = lived(agent, 2, 80, seed=1)
    memory = agent.start(path[0].state)
    weights = prior * [worlds.start_law(m)[path[0].state] for m in range(4)]
    for step in path:
        memory = agent.observe(memory, step)
        s, a, t = step.state, step.action, step.next_state
        weights *= [worlds.transitions.probability(m, s, a, t) for m in range(4)]
        weights /= weights.sum()
        np.testing.assert_allclose(agent.posterior(memory), weights, atol=1e-12)


def test_a_model_is_drawn_as_often_as_it_is_likely() -> None:
    count, prior = 20_000, (0.15, 0.0, 0.6, 0.25)
    worlds = bandit(((0.9, 0.1), (0.1, 0.9), (0.3, 0.4), (0.5, 0.6)))
    agent = posterior_sampling(worlds, 1, prior=prior)
    drawn = [agent.with_stream(key).start(0).current for key in range(count)]
    found = np.bincount(drawn, minlength=4)
    assert found[1] == 0
    for m in (0, 2, 3):
        low, high = binom.interval(1.0 - SURE, count, prior[m])
        assert low <= found[m] <= high
        assert not low <= count * prior[m] * 1.15 <= high  # the control


@pytest.mark.parametrize("seed", range(20))
def test_draws_follow_the_quantiles_of_the_posterior(seed: int) -> None:
    """A twin of the kernel: where a quantile falls in the cumulated weights."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(-1000.0, 10.0, size=7)
    logs[rng.random(7) < 0.3] = -np.inf
    if np.isinf(logs).all():
        assert drawn_model(logs, 0.5) == -1
        return
    weights = np.exp(logs - logs.max())
    passed = np.cumsum(weights) / weights.sum()
    for quantile in (0.0, *rng.random(50), 1.0 - 2.0**-53):
        found = int(drawn_model(logs, quantile))
        if np.abs(passed - quantile).min() > 1e-12:
            assert found == int(np.searchsorted(passed, quantile, side="right"))
        assert weights[found] > 0.0


def episodes(agent: PosteriorSampling, member: int, steps: int) -> list[int]:
    """Return the lengths of the episodes in one history, the last one left out."""
    path = lived(agent, member, steps, seed=0)
    memory, begins = agent.start(path[0].state), [0]
    visits: dict[tuple[int, int], int] = {}
    since = dict(visits)
    for step in path:
        number, pair = memory.number, (step.state, step.action)
        visits[pair] = visits.get(pair, 0) + 1
        memory = agent.observe(memory, step)
        length = step.h + 1 - begins[-1]
        within = visits[pair] - since.get(pair, 0)
        doubled = within >= max(1, since.get(pair, 0))
        previous = begins[-1] - begins[-2] if len(begins) > 1 else 0
        capped = agent.rule is EpisodeRule.CAPPED and length == previous + 1
        assert (memory.number > number) == (doubled or capped)
        if memory.number > number:
            begins.append(step.h + 1)
            since = dict(visits)
    return np.diff(begins).tolist()


def test_episodes_end_when_visits_double_or_by_length() -> None:
    capped = episodes(posterior_sampling(rivers(), 3000), 4, 3000)
    free = posterior_sampling(rivers(), 3000, rule=EpisodeRule.DOUBLING)
    doubling = episodes(free, 4, 3000)
    assert capped[0] == doubling[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(capped))
    assert max(doubling) > 200 and max(capped) < 100
    # at most sqrt(2 m H) of them, m - 1 = P (1 + log2(H / P)), P = 12 pairs
    assert len(capped) <= np.sqrt(2.0 * (1.0 + 12 * (1.0 + np.log2(250.0))) * 3000)


def test_what_no_model_allows_is_forgotten() -> None:
    worlds = bandit(((0.0, 1.0), (1.0, 0.0)))
    agent = posterior_sampling(worlds, 200)
    real = real_models(agent.observed, bandit(((0.5, 0.35),)), 200)
    (fast,) = run_program(agent, real, runs=5, seed=0)
    (slow,) = run_program(Stepwise(agent, agent.observed), real, runs=5, seed=0)
    assert_same(fast, slow)
    assert (fast.resets >= 1).all()
    arm = {0: 1, 1: 0}  # the sure arm of the model that is drawn
    memory = agent.start(0)
    first = memory.current
    memory = agent.observe(memory, Step(0, 0, arm[first], 0))  # which fails
    assert memory.current == 1 - first and memory.alive == {1 - first}
    memory = agent.observe(memory, Step(1, 0, arm[memory.current], 0))
    assert memory.alive == {0, 1} and memory.first_state == FORGOTTEN
    assert memory.resets == 1


@pytest.mark.parametrize(
    "prior", [(0.5, 0.5), (0.5, 0.6, 0.1, 0, 0), (-0.5, 1.5, 0, 0, 0), [np.nan] * 5]
)
def test_a_prior_that_is_none_is_refused(prior: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgument, match=r"a prior .* over 5 models"):
        posterior_sampling(rivers(), 10, prior=prior)
