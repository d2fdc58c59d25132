"""PSRL: one agent in two forms, draws with the right law, certified plans."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, log2, sqrt

import numpy as np
import pytest
from scipy.stats import beta, kstest

from simgap._kernels.agents.psrl import (
    draw_model,
    empty_draw,
    gamma_variate,
    log_gamma_variate,
    plan_drawn,
)
from simgap.arrays import FloatArray
from simgap.base_policies.outsiders.psrl import PSRL, Drawn, Schedule, psrl
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass
from simgap.policies.interface import Step
from simgap.simulation.runs import Stepwise, run_program
from tests.base_policies.cases import (
    assert_same,
    both_ways,
    prepared,
    random_class,
    run,
)
from tests.reference import gamma as twin
from tests.reference.average_reward import gain_by_linear_program

RIVER = riverswim(6, 0.4, 0.05, left_reward=0.005, uniform=True)
KEY = 0x9D3F00C8F1A2B477  # above 2^63 on purpose


def draws(counts: list[int], weight: float, number: int, key: int = KEY) -> FloatArray:
    """Return draws (number, S) of a row with these counts, one after another."""
    states = len(counts)
    indptr, following = np.array([0, states]), np.arange(states, dtype=np.int32)
    draw, counter = empty_draw(1, states), 0
    found = np.empty((number, states))
    for i in range(number):
        counter = draw_model(
            np.uint64(key),
            counter,
            indptr,
            following,
            np.array(counts, np.int64),
            weight,
            draw,
        )
        found[i] = draw.model[:, 0]
    return found


@pytest.mark.parametrize("schedule", list(Schedule))
@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    schedule: Schedule, seed: int
) -> None:
    worlds = random_class(
        np.random.default_rng(seed), actions=2 + seed % 2, random_start=seed % 2 == 1
    )
    agent = psrl(worlds, 500, weight=(1.0, 0.25, 2.5)[seed % 3], schedule=schedule)
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)
        assert (fast.switches > 0).all()


def test_where_rewards_differ_it_knows_those_of_the_real_model() -> None:
    worlds = random_class(np.random.default_rng(5), own_rewards=True)
    agent = psrl(worlds, 300)
    with pytest.raises(InvalidArgument, match="knowing"):
        agent.with_stream(1).start(0)
    everywhere = run(agent, worlds, 300, runs=3, seed=1)
    for member in range(3):
        told = agent.knowing(member)
        slow = Stepwise(told, told.observed)
        (by_steps,) = run_program(slow, prepared(told), runs=3, seed=1, models=[member])
        assert_same(everywhere[member], by_steps)


def test_variates_are_those_of_the_twin() -> None:
    for shape in (0.02, 0.3, 0.999, 1.0, 1.001, 1.5, 7.25, 40_000.0):
        luck, counter = twin.uniforms(KEY), 0
        for _ in range(200):
            value, counter = log_gamma_variate(np.uint64(KEY), counter, shape)
            # a large shape cancels in the logarithm: its error is absolute
            assert value == pytest.approx(twin.log_gamma(luck, shape), rel=1e-12)
    luck, counter = twin.uniforms(KEY), 0
    for shape in (1.0, 3.0, 2.5, 1.0):
        value, counter = gamma_variate(np.uint64(KEY), counter, shape)
        assert value == pytest.approx(exp(twin.log_gamma(luck, shape)), rel=1e-12)
    for weight in (1.0, 0.25):
        luck = twin.uniforms(KEY)
        shapes = [weight + n for n in (3, 0, 0, 9)]
        for row in draws([3, 0, 0, 9], weight, 50):
            np.testing.assert_allclose(row, twin.dirichlet(luck, shapes), rtol=1e-11)


@pytest.mark.parametrize("weight", [1.0, 0.25, 0.02, 3.0])
def test_draws_have_mean_variance_and_law_of_the_posterior(weight: float) -> None:
    """Each entry of a Dirichlet is a beta variate; level 1e-6 for each test.

    Mean: normal interval with the true variance (4.9 deviations). Variance: its own
    interval from the fourth moment. Law: Kolmogorov-Smirnov. Control: another shape.
    """
    counts, number = [0, 0, 4, 30], 4000
    found = draws(counts, weight, number)
    assert np.abs(found.sum(axis=1) - 1.0).max() <= 1e-15 * 8
    shapes = weight + np.array(counts)
    for s, shape in enumerate(shapes):
        law = beta(shape, shapes.sum() - shape)
        sample = found[:, s]
        error = 4.9 * sqrt(law.var() / number)
        assert abs(sample.mean() - law.mean()) <= error
        fourth = law.moment(4) - 4 * law.moment(3) * law.mean()
        fourth += 6 * law.moment(2) * law.mean() ** 2 - 3 * law.mean() ** 4
        spread = 4.9 * sqrt((fourth - law.var() ** 2) / number)
        assert abs(((sample - law.mean()) ** 2).mean() - law.var()) <= spread
        assert kstest(sample, law.cdf).pvalue > 1e-6
        other = beta(2.0 * shape, shapes.sum() - shape)
        assert abs(sample.mean() - other.mean()) > 4.9 * sqrt(other.var() / number)
        assert kstest(sample, other.cdf).pvalue < 1e-6


def test_a_prior_of_tiny_weights_does_not_vanish() -> None:
    """U^1000 is below the least float half of the time; rows still sum to one."""
    found = draws([0] * 200, 1e-3, 50)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)
    smallest = draws([0] * 5, 1e-6, 50)
    np.testing.assert_allclose(smallest.sum(axis=1), 1.0, rtol=1e-14)
    assert (smallest.max(axis=1) > 0.999).all()


@pytest.mark.parametrize("seed", range(6))
def test_plans_of_drawn_models_are_certified(seed: int) -> None:
    """The bracket holds the gain by linear program; the policy earns its lower end."""
    rng = np.random.default_rng(seed)
    states, actions = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    P = rng.dirichlet(np.full(states, 0.3), size=(states, actions))
    R = rng.random((states, actions))
    draw = empty_draw(states * actions, states)
    draw.model[:] = P.reshape(states * actions, states).T
    gain, _ = gain_by_linear_program(P, R)
    for width in (1e-9, 1e-2):
        for start in (0.0, 20.0):  # any start will do
            values, policy = start * rng.random(states), np.zeros(states, np.int32)
            sweeps = plan_drawn(draw, R.reshape(-1), width, 10**6, values, policy)
            low, high = draw.bracket
            assert sweeps >= 1
            assert high - low < width
            assert low - 1e-9 <= gain <= high + 1e-9
            here = np.arange(states)
            earned, _ = gain_by_linear_program(
                P[here, policy][:, None, :], R[here, policy][:, None]
            )
            assert earned >= low - 1e-9
    values, policy = np.zeros(states), np.zeros(states, np.int32)
    assert plan_drawn(draw, R.reshape(-1), 1e-9, 1, values, policy) == -1
    assert draw.bracket[0] - 1e-9 <= gain <= draw.bracket[1] + 1e-9


def lived(
    agent: PSRL, simulators: SimulatorClass, seed: int
) -> tuple[list[Drawn], list[Step]]:
    """Return the memories before every step of an episode in the first model."""
    rng, policy = np.random.default_rng(seed), agent.with_stream(KEY + seed)
    state, memory = 0, policy.start(0)
    memories, steps = [], []
    for h in range(agent.horizon):
        memories.append(memory)
        action = int(policy.act(memory, h, state).argmax())
        after, law = simulators.transitions.row(0, state, action)
        following = int(rng.choice(after, p=law))
        steps.append(Step(h, state, action, following))
        memory = policy.observe(memory, steps[-1])
        state = following
    return memories, steps


@pytest.mark.parametrize("seed", range(3))
def test_doubling_draws_before_a_pair_is_used_more_often_than_ever(seed: int) -> None:
    worlds = random_class(np.random.default_rng(seed), members=1)
    memories, steps = lived(psrl(worlds, 1000), worlds, seed)
    visits, used = np.zeros((2, 4, 2), np.int64)
    for before, now, step in zip(memories, memories[1:], steps, strict=False):
        used[step.state, step.action] += 1
        assert (used <= np.maximum(1, visits)).all()
        pair = step.next_state, before.policy[step.next_state]
        full = used[pair] == max(1, visits[pair])
        assert (now.plans == before.plans + 1) == full
        if full:
            visits, used = visits + used, np.zeros_like(used)
    assert memories[-1].plans <= 8 * log2(8 * 1000 / 8)


@pytest.mark.parametrize("seed", range(3))
def test_growing_episodes_end_as_ouyang_et_al_have_it(seed: int) -> None:
    """t > t_k + T_{k-1}, or N_t(s, a) > 2 N_{t_k}(s, a) for some pair."""
    worlds = random_class(np.random.default_rng(seed), members=1)
    agent = psrl(worlds, 1000, schedule=Schedule.GROWING)
    memories, steps = lived(agent, worlds, seed)
    visits, now_visits = np.zeros((2, 4, 2), np.int64)
    begun, previous = 1, 0  # t_k, T_{k-1}; steps count from 1
    for before, now, step in zip(memories, memories[1:], steps, strict=False):
        now_visits[step.state, step.action] += 1
        t = step.h + 2  # the step that comes next
        over = t > begun + previous or (now_visits > 2 * visits).any()
        assert (now.plans == before.plans + 1) == over
        if over:
            begun, previous, visits = t, t - begun, now_visits.copy()
    most = sqrt(2 * 8 * 1000 * log(1000))  # their lemma 1
    assert memories[-1].plans <= most


def test_regret_on_riverswim_is_that_of_other_implementations() -> None:
    """H = 1e5: 296 (5 seeds) and 292 (300 seeds) elsewhere, flat prior, doubling.

    The mean of 200 runs is known to four standard errors (chance 6e-5).
    """
    agent = psrl(RIVER, 100_000)
    (runs,) = run(agent, RIVER, 100_000, runs=200, seed=11)
    error = 4.0 * runs.regret.std() / sqrt(200)
    assert runs.regret.mean() - error > 220.0
    assert runs.regret.mean() + error < 360.0
    sparse = replace(agent, weight=1.0 / 6.0)  # the control: another prior
    (less,) = run(sparse, RIVER, 100_000, runs=200, seed=11)
    assert less.regret.mean() + 4.0 * less.regret.std() / sqrt(200) < 220.0


def test_settings_that_make_no_sense_are_refused() -> None:
    for name, value in (
        ("weight", 0.0),
        ("weight", float("nan")),
        ("weight", 1e9),
        ("weight", "1"),
        ("most_sweeps", 0),
    ):
        with pytest.raises(InvalidArgument, match=name):
            psrl(RIVER, 100, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="does not fit"):
        psrl(riverswim(9000, 0.4), 100)
    assert psrl(RIVER, 10).name == "psrl"
