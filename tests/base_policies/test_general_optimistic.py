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
from simgap.simulation.runs import log_grid, run_program
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


# Edges of the domain.


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
