"""Algorithm 4 on finite classes: the readable agent, the compiled one, the letter."""

from __future__ import annotations

from dataclasses import replace
from math import log, log2, sqrt

import numpy as np
import pytest

from simgap.base_policies.paper.general_optimistic import (
    Radius,
    Ridge,
    Width,
    general_optimistic,
)
from simgap.errors import InvalidArgument, OutsideClass
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.planning import diameter
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, log_grid, run_program
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import assert_same, both_ways, prepared, random_class
from tests.base_policies.general_cases import (
    COINS,
    far_apart,
    memories,
    opposites,
)
from tests.base_policies.variants import With, assert_identical, lived
from tests.reference.general_optimism import ByTheLetter


def reward_coins(means: tuple[float, ...], *others: float) -> SimulatorClass:
    """Return one-state models whose arms pay these rewards on average."""
    rewards = np.array([[[mean, *others]] for mean in means])
    return class_from_arrays(np.ones((len(means), 1, 1 + len(others), 1)), rewards)


def settings_of(seed: int) -> dict[str, object]:
    return (
        {},
        {"ridge": Ridge.PAPER},
        {"radius": Radius.COVER},
        {},
        {"width": Width.DIAMETER},
        {},
    )[seed % 6]  # type: ignore[return-value]


# The compiled agent is the readable one.


@pytest.mark.parametrize("seed", range(1, 13))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = seed % 3 == 1
    worlds = random_class(
        rng, members=2 + seed % 4, own_rewards=own, random_start=seed % 2 == 1
    )
    signal = list(RewardSignal)[1 + seed % 2] if own else RewardSignal.UNSEEN
    agent = general_optimistic(worlds, 400, signal=signal, **settings_of(seed))  # type: ignore[arg-type]
    agent = replace(agent, literal=seed % 6 == 3)
    switches = 0
    for fast, slow in both_ways(agent, runs=2, seed=seed):
        assert_same(fast, slow)
        switches += int(fast.switches.sum())
    assert switches > 0


def test_thirty_models_are_equal_to_the_last_bit() -> None:
    agent = general_optimistic(far_apart(np.random.default_rng(3), 30), 250)
    real, slow = prepared(agent), Stepwise(agent, agent.observed)
    for model in (0, 11, 29):
        (one,) = run_program(agent, real, runs=1, seed=0, models=[model])
        (other,) = run_program(slow, real, runs=1, seed=0, models=[model])
        assert_same(one, other)
        assert one.switches[0] >= 5


@pytest.mark.parametrize("seed", range(24))
def test_looking_late_loses_nothing(seed: int) -> None:
    """A look after every step gives the same bytes, late steps and marks included."""
    rng = np.random.default_rng(seed)
    worlds = far_apart(rng, (2, 3, 8, 30)[seed % 4])
    if seed % 3 == 0:
        worlds = random_class(rng, members=(4, 30)[seed % 2], random_start=True)
    horizon = int(rng.integers(2_100, 9_000))
    agent = replace(general_optimistic(worlds, horizon), literal=seed % 5 == 4)
    real, marks = prepared(agent), log_grid(horizon)
    models = [0, len(worlds) - 1]
    late = run_program(agent, real, runs=4, seed=seed, grid=marks, models=models)
    always = With(agent, {"lazy": False})
    early = run_program(always, real, runs=4, seed=seed, grid=marks, models=models)
    for one, other in zip(late, early, strict=True):
        assert_identical(one, other)
    assert sum(int(runs.switches.sum()) for runs in late) > 0


@pytest.mark.parametrize("horizon", [2, 6, 14, 30, 2_046, 4_094, 8_190])
def test_a_switch_at_the_very_last_step_is_not_missed(horizon: int) -> None:
    """Masses of one a step and alpha = 2: the pair fires after 2, 4, 8, ... more."""
    for steps, more in ((horizon, 0), (horizon - 1, -1), (horizon + 1, 0)):
        agent = general_optimistic(opposites(), steps)
        for runs in run_program(agent, prepared(agent), runs=2, seed=0):
            assert (runs.switches == (horizon + 2).bit_length() - 2 + more).all()


def test_ties_are_broken_alike_in_both() -> None:
    """A fair coin is as far from 1/4 as from 3/4 whenever it falls evenly."""
    agent = replace(general_optimistic(bandit(((0.25,), (0.75,))), 90), radius=0.0)
    real = real_models(agent.observed, bandit(((0.5,),)), 90)
    slow = Stepwise(agent, agent.observed)
    (one,) = run_program(agent, real, runs=40, seed=0)
    (other,) = run_program(slow, real, runs=40, seed=0)
    assert_same(one, other)
    assert one.switches.min() >= 2


def test_models_that_differ_where_nobody_goes_never_fire() -> None:
    """From the first state, left leads nowhere else: the plan is final at once."""
    rivers = riverswim(6, (0.1, 0.15), left_reward=0.9, uniform=True)
    agent = general_optimistic(rivers, 10_000)
    for runs in run_program(agent, prepared(agent), runs=3, seed=0):
        assert (runs.simulated == 0).all()
        assert runs.reward == pytest.approx(9_000.0, rel=1e-12)
        assert (runs.switches == 0).all()


# Both are the printed algorithm, repaired.


@pytest.mark.parametrize("seed", range(8))
def test_every_decision_is_that_of_the_letter(seed: int) -> None:
    """Lists of data and all pairs, in Fractions: score, fit, set and plan."""
    rng = np.random.default_rng(100 + seed)
    own = seed % 4 == 3
    worlds = random_class(rng, members=3, states=3, own_rewards=own)
    if seed % 2 == 0:
        worlds = far_apart(rng, 4)
    signal = list(RewardSignal)[1 + (seed // 4) % 2] if own else RewardSignal.UNSEEN
    agent = general_optimistic(worlds, 80, signal=signal)
    agent = replace(agent, literal=seed >= 6, radius=agent.radius * 0.3)
    steps = lived(agent, seed % 3, 80, seed)
    switches = 0
    after = agent.start(steps[0].state)
    for step, moment in zip(steps, ByTheLetter(agent).follow(steps), strict=True):
        counted = tuple(n + (e == agent.observed.edge(step))
                        for e, n in enumerate(after.fresh))  # fmt: skip
        score = agent.score(replace(after, fresh=counted))
        assert score == pytest.approx(float(moment.score), rel=1e-12)
        after = agent.observe(after, step)
        switches += moment.switched
        assert after.switches == switches
        assert after.current == moment.current
        assert after.alive == moment.alive
    assert switches > 0


def test_ties_of_least_squares_go_to_the_lowest_index() -> None:
    """As many wins as losses are as far from 1/4 as from 3/4, exactly."""
    for means in (((0.25,), (0.75,)), ((0.75,), (0.25,))):
        agent = replace(general_optimistic(bandit(means), 100), radius=0.0)
        steps = [Step(h, h % 2, 0, 1 - h % 2) for h in range(8)]
        found = memories(agent, steps)
        assert [memory.switches for memory in found] == [0] * 7 + [1]
        assert found[-1].settled.loss[0] == found[-1].settled.loss[1]
        assert found[-1].alive == {0}
        assert found[-1].current == 0


def test_constants_are_those_of_the_theory() -> None:
    coins = bandit(((0.5, 0.25), (0.25, 0.5), (0.5, 0.25)))  # biases (0, 1), |F| = 2
    plain = general_optimistic(coins, 50)
    assert (plain.width, plain.ridge) == (1.0, 2.0)
    assert plain.functions.count == 2
    assert plain.radius == pytest.approx(2.0 * log(100.0))
    covered = general_optimistic(coins, 50, radius=Radius.COVER, ridge=Ridge.PAPER)
    assert covered.ridge == 5.0
    assert covered.radius == pytest.approx(2.0 * log(100.0) + 6.0)
    wide = general_optimistic(coins, 2, radius=Radius.COVER)  # one ball of radius 1/2
    assert wide.radius == pytest.approx(2.0 * log(2.0) + 6.0)
    four = general_optimistic(bandit(COINS), 50)
    most = 8.0 * 2.0 * log(200.0) + 2.0 + 1.0
    assert four.most_mass == pytest.approx(most)
    assert four.most_sum == pytest.approx(1.0 + 6.0 + 2.0 * sqrt(most * 6.0 * 50.0))
    assert four.most_switches == pytest.approx(6.0 * log2(1.0 + 50.0 / 2.0))
    sums = four.most_sum + 0.5 + four.most_switches + 1.0 + 1.0
    assert four.most_regret == pytest.approx(sums)
    printed = general_optimistic(coins, 50, literal=True)
    widest = diameter(coins).upper
    assert printed.width == widest
    assert printed.ridge == 4.0 * widest**2 + 1.0
    assert printed.radius == pytest.approx(2 * widest**2 * log(100.0) + 6.0 * widest)


def test_rewards_that_are_seen_widen_the_functions_by_their_range() -> None:
    """Theory 7.2: f = R + P l and Dl + 1 for rewards in [0, 1]; coins have no bias."""
    coins = reward_coins((0.0, 0.5, 1.0))
    drawn = general_optimistic(coins, 50, signal=RewardSignal.RANDOM)
    assert (drawn.width, drawn.ridge) == (1.0, 2.0)
    np.testing.assert_allclose(drawn.functions.mean, [[[0.0, 0.5, 1.0]]] * 3)
    seen = general_optimistic(coins, 50, signal=RewardSignal.SEEN)
    assert seen.width == 1.0
    np.testing.assert_allclose(seen.functions.mean, [[[0.0, 0.5, 1.0]]] * 3)
    unseen = general_optimistic(coins, 50)
    assert unseen.width == 0.0
    assert unseen.functions.count == 1


def test_rewards_are_learnt_from() -> None:
    """A coin of .9 beside a sure .6: the optimist gives the bad coin up."""
    coins = reward_coins((0.9, 0.2), 0.6)
    agent = general_optimistic(coins, 4_000, signal=RewardSignal.RANDOM)
    good, bad = run_program(agent, prepared(agent), runs=20, seed=0)
    assert (good.eliminated[:, 1] > 0).all()
    assert (bad.eliminated[:, 0] > 0).all()
    assert not good.truth_eliminated.any()
    assert not bad.truth_eliminated.any()
    assert (bad.identified > 0).all()
    assert bad.regret.max() < 100.0


# Edges of the domain.


def test_a_real_model_outside_the_class_has_no_bound() -> None:
    agent = general_optimistic(bandit(COINS), 3_000)
    real = real_models(agent.observed, bandit(((0.5,),)), 3_000)
    (runs,) = run_program(agent, real, runs=5, seed=0)
    assert np.isnan(runs.bound).all()
    assert (runs.slack <= 1.0).all()
    assert (runs.simulated == 3_000).all()
    assert (runs.switches > 0).all()


def test_rewards_of_the_real_model_that_are_not_seen_leave_no_bound() -> None:
    rng = np.random.default_rng(0)
    agent = general_optimistic(random_class(rng, own_rewards=True), 300)
    for runs in run_program(agent, prepared(agent), runs=3, seed=0):
        assert np.isnan(runs.bound).all()


def test_no_steps_are_no_episode() -> None:
    agent = general_optimistic(bandit(COINS), 0)
    for runs in run_program(agent, prepared(agent), runs=2, seed=0):
        assert (runs.reward == 0.0).all()
        assert (runs.switches == 0).all()


def test_memory_is_a_value() -> None:
    agent = general_optimistic(bandit(COINS), 100)
    steps = lived(agent, 0, 60, 0)
    one, other = memories(agent, steps), memories(agent, steps)
    assert one == other
    assert len({*one, *other}) == 60
    assert agent.survivors(one[-1]) == one[-1].alive


def test_what_cannot_be_is_refused() -> None:
    agent = general_optimistic(opposites(), 50)
    with pytest.raises(OutsideClass, match="no model of the class"):
        rivers = general_optimistic(riverswim(4), 50)
        rivers.observe(rivers.start(0), Step(0, 0, 0, 3))
    with pytest.raises(InvalidArgument, match="made for 50"):
        real = real_models(agent.observed, opposites(), 60)
        run_program(agent, real, runs=1, seed=0)
    with pytest.raises(InvalidArgument, match="beyond the horizon"):
        agent.act(agent.start(0), 50, 0)
    with pytest.raises(InvalidArgument, match="no state"):
        agent.start(2)
    with pytest.raises(InvalidArgument, match="model 0 plays 0"):
        agent.observe(agent.start(0), Step(0, 0, 1, 0))
