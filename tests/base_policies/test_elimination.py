"""Algorithms 1 and 2: the readable agent, the compiled one and the printed one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from simgap.base_policies.knowledge import class_knowledge
from simgap.base_policies.paper.comparison import Comparison, Pairing
from simgap.base_policies.paper.elimination import elimination
from simgap.base_policies.paper.travel_plan import TravelBudget, TravelSet
from simgap.errors import InvalidArgument, NotCommunicating, OutsideClass
from simgap.instances import riverswim
from simgap.mdp import Details, class_from_arrays
from simgap.planning import all_travel_times, diameter, solve_episodic
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, run_program
from tests.base_policies.cases import assert_same, both_ways, prepared, random_class
from tests.base_policies.elimination_cases import (
    FIVE_RATES,
    coins,
    crossroads,
)
from tests.reference.elimination import Kind, SlowElimination
from tests.strategies import DYADIC, STEADY, as_class, rational_classes

FORMS = [
    (comparison, travel, budget, pairing)
    for comparison in Comparison
    for travel, budget, pairing in (
        (TravelSet.REMAINING, TravelBudget.DIAMETER, Pairing.LOWEST),
        (TravelSet.ALL, TravelBudget.TIME, Pairing.LOWEST),
        (TravelSet.REMAINING, TravelBudget.TIME, Pairing.FARTHEST),
        (TravelSet.ALL, TravelBudget.DIAMETER, Pairing.FARTHEST),
        (TravelSet.REMAINING, TravelBudget.TIME, Pairing.RANDOM),
    )
]


@pytest.mark.parametrize(("comparison", "travel", "budget", "pairing"), FORMS)
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    comparison: Comparison, travel: TravelSet, budget: TravelBudget, pairing: Pairing
) -> None:
    for seed, signal in enumerate((*RewardSignal, RewardSignal.UNSEEN)):
        rng = np.random.default_rng(seed)
        worlds = random_class(
            rng,
            members=4 - seed % 2,
            own_rewards=signal is not RewardSignal.UNSEEN,
            random_start=seed % 2 == 1,
        )
        agent = elimination(
            worlds,
            150,
            comparison=comparison,
            pairing=pairing,
            travel=travel,
            budget=budget,
            failure=0.3,
            paper_constant=0.02,
            signal=signal,
        )
        for fast, slow in both_ways(agent, seed=seed, runs=2):
            assert_same(fast, slow)
            assert np.isnan(fast.bound).all()
            last = np.where(fast.eliminated < 0, -1, fast.eliminated).max(axis=1)
            alone = (fast.eliminated < 0).sum(axis=1) == 1
            np.testing.assert_array_equal(fast.identified, np.where(alone, last, -1))


@pytest.mark.parametrize(("comparison", "travel", "budget", "pairing"), FORMS)
def test_long_episodes_are_equal_to_the_last_bit_too(
    comparison: Comparison, travel: TravelSet, budget: TravelBudget, pairing: Pairing
) -> None:
    """Before the last 2048 steps the compiled agent walks along courses."""
    agent = elimination(
        crossroads(),
        2_300,
        comparison=comparison,
        pairing=pairing,
        travel=travel,
        budget=budget,
        failure=1e-7,
        paper_constant=0.01,
    )
    real, grid = prepared(agent), np.array([5, 77, 252, 253, 2_300])
    programs = (agent, Stepwise(agent, agent.observed))
    fast, slow = (
        run_program(each, real, runs=1, seed=6, models=(1, 2), grid=grid)
        for each in programs
    )
    for one, other in zip(fast, slow, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("comparison", list(Comparison))
def test_the_horizon_may_end_at_every_single_step_of_stage_one(
    comparison: Comparison,
) -> None:
    """Errata E14: exactly H actions, whatever stage the agent is in."""
    worlds = random_class(np.random.default_rng(5), members=3)
    known = class_knowledge(worlds)
    ended = set()
    for horizon in range(25):
        agent = elimination(
            known, horizon, comparison=comparison, paper_constant=0.3, failure=0.05
        )
        for fast, slow in both_ways(agent, runs=2, seed=3):
            assert_same(fast, slow)
            assert (fast.simulated == horizon).all()
            ended |= set(fast.identified)
    assert -1 in ended


@settings(STEADY, max_examples=80)
@given(
    rational_classes(members=(2, 4), most=(4, 2), denominators=DYADIC),
    st.sampled_from(list(Kind)),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_stage_one_is_that_of_nested_loops_over_fractions(
    models: list[Any], kind: Kind, everyone: bool, seed: int
) -> None:
    rewards = models[0].rewards
    models = [replace(each, rewards=rewards) for each in models]
    if len({each.transitions for each in models}) < len(models):
        return  # duplicates are refused
    worlds, odds = as_class(models), Fraction(len(models) * 11)
    agent = elimination(
        worlds,
        60,
        comparison=Comparison[kind.name],
        travel=TravelSet.ALL if everyone else TravelSet.REMAINING,
        failure=float(len(models) / odds),
    )
    slow = SlowElimination(
        models=models,
        ways=all_travel_times(worlds).policy.tolist(),
        lead=int(2.0 * diameter(worlds).upper),
        kind=kind,
        odds=odds,
        all_travel=everyone,
    )
    rng = np.random.default_rng(seed)
    real = worlds[int(rng.integers(len(models)))].transitions.array(0)
    state = int(rng.integers(worlds.n_states))
    memory, walk = agent.start(state), slow.stage_one(state)
    action: int | None = next(walk)
    for h in range(60):
        chosen = int(agent.act(memory, h, state).argmax())
        assert action is None or chosen == action
        after = int(rng.choice(worlds.n_states, p=real[state, chosen]))
        memory = agent.observe(memory, Step(h, state, chosen, after))
        if action is not None:
            try:
                action = walk.send(after)
            except StopIteration:
                action = None
            if not slow.alive:
                return  # all are impossible: fractions have no word for it
        assert memory.alive == frozenset(slow.alive)
        state = after


def test_stage_two_is_the_episodic_optimum_from_the_current_step() -> None:
    """Errata E3: pi_ep, which depends on the steps left, not a stationary policy."""
    worlds = random_class(np.random.default_rng(3), members=3, states=5)
    horizon = 30
    plan = solve_episodic(worlds, horizon)
    agent = elimination(worlds, horizon)
    for m in range(3):
        memory = replace(agent.start(0), alive=frozenset({m}), pair=None)
        for h in range(horizon):
            best = plan.action_values(m, h + 1)
            for s in range(5):
                action = int(agent.act(memory, h, s).argmax())
                assert best[s, action] >= best[s].max() - 1e-12


def test_a_step_outside_the_class_is_refused_in_both_stages() -> None:
    for rivers in (riverswim(5, (0.2, 0.4)), riverswim(5, 0.4)):
        agent = elimination(rivers, 10)
        with pytest.raises(OutsideClass):
            agent.observe(agent.start(0), Step(0, 0, 1, 4))


def test_first_states_are_evidence_where_all_data_count() -> None:
    P = np.full((2, 2, 1, 2), 0.5)
    P[1, :, 0] = (0.25, 0.75)
    start = np.array([[1.0, 0.0], [0.0, 1.0]])
    worlds = class_from_arrays(P, np.zeros((2, 1)), details=Details(start=start))
    agent = elimination(worlds, 50, comparison=Comparison.ANYTIME)
    assert agent.start(0).alive == {0}
    assert agent.start(1).alive == {1}
    for fast, slow in both_ways(agent):
        assert_same(fast, slow)
        assert (fast.identified == 0).all()
        assert (fast.eliminated[:, 1 - fast.model] == 0).all()


def test_duplicates_are_refused_with_their_names() -> None:
    twins = riverswim(4, (0.3, 0.5))
    P = np.stack([twins[i].transitions.array(0) for i in (0, 1, 0)])
    names = Details(model_names=("a", "b", "c"))
    shared = class_from_arrays(P, twins.rewards[0], details=names)
    with pytest.raises(InvalidArgument, match="'a' and 'c'") as caught:
        elimination(shared, 100)
    assert "class_from_models" in caught.value.hint
    rewards = (
        np.stack([twins.rewards[0]] * 3) * np.array([1.0, 1.0, 0.5])[:, None, None]
    )
    own = class_from_arrays(P, rewards, details=names)
    with pytest.raises(InvalidArgument, match="'a' and 'c'") as caught:
        elimination(own, 100)
    assert "RewardSignal.SEEN" in caught.value.hint
    seen = elimination(own, 100, signal=RewardSignal.SEEN)  # the way out works
    assert seen.rounds.separation.distance[0, 2] == 2.0


def test_bad_input_is_refused() -> None:
    rivers = riverswim(4, (0.3, 0.5))
    islands = class_from_arrays(
        np.stack([np.eye(2)[:, None, :], np.full((2, 1, 2), 0.5)]), np.zeros((2, 1))
    )
    with pytest.raises(NotCommunicating):
        elimination(islands, 10)
    for failure in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(InvalidArgument, match="failure"):
            elimination(rivers, 10, failure=failure)
    with pytest.raises(InvalidArgument, match="paper_constant"):
        elimination(rivers, 10, paper_constant=0.0)
    with pytest.raises(InvalidArgument, match="printed"):
        elimination(rivers, 10, literal=True, comparison=Comparison.ANYTIME)
    agent = elimination(rivers, 10)
    with pytest.raises(InvalidArgument, match="beyond the horizon"):
        agent.act(agent.start(0), 10, 0)
    with pytest.raises(InvalidArgument, match="no state"):
        agent.start(4)


def test_printed_and_compiled_are_equal_to_the_last_bit() -> None:
    for seed in range(3):
        worlds = random_class(np.random.default_rng(seed), members=3)
        agent = elimination(worlds, 200, literal=True, paper_constant=0.01)
        for fast, slow in both_ways(agent, seed=seed):
            assert_same(fast, slow)
    agent = elimination(
        coins(0.3, 0.6, 0.9), 200, literal=True, paper_constant=0.1,
        signal=RewardSignal.RANDOM,
    )  # fmt: skip
    for fast, slow in both_ways(agent):
        assert_same(fast, slow)


def test_the_printed_loop_never_leaves_stage_one_and_loses_linearly() -> None:
    """Errata E10: with one candidate left the loop goes on; the repaired one stops."""
    rivers = riverswim(4, (0.35, 0.15, 0.75))
    horizons = (5_000, 50_000)
    worst = {}
    for literal in (True, False):
        for horizon in horizons:
            # c0 so small that the printed n0 lets all but one go
            agent = elimination(rivers, horizon, literal=literal, paper_constant=2e-4)
            found = run_program(agent, prepared(agent), runs=20, seed=1)
            worst[literal, horizon] = max(each.gap.mean() for each in found)
            for each in found:
                assert (each.identified >= 0).all() == (not literal)
                left = (each.eliminated < 0).sum(axis=1)
                assert (left == 1).all()
    assert worst[True, 50_000] > 9.0 * worst[True, 5_000] > 0.0
    # log(M H) grows by a quarter
    assert worst[False, 50_000] < 1.5 * worst[False, 5_000]


def test_the_printed_number_of_samples_outlives_the_horizon() -> None:
    rivers = riverswim(6, FIVE_RATES, left_reward=0.7, uniform=True)
    agent = elimination(rivers, 10**6, literal=True, paper_constant=1.0)
    assert agent.rounds.samples[0, 1] == pytest.approx(1.17e6, rel=0.01)
    repaired = elimination(rivers, 10**6)
    assert repaired.rounds.samples[0, 1] == 1975


def test_a_set_of_samples_drops_the_real_model() -> None:
    """Errata E11: of many tosses a set keeps two, and they always say the same."""
    agent = elimination(
        coins(0.3, 0.6), 400, literal=True, paper_constant=0.05,
        signal=RewardSignal.RANDOM,
    )  # fmt: skip
    fair = replace(agent, literal=False)
    dropped = [
        run_program(each, prepared(each), runs=200, seed=4)[0].truth_eliminated.mean()
        for each in (agent, fair)
    ]
    assert dropped[0] == 1.0
    assert dropped[1] < 0.05


def test_print_takes_one_sample_too_many_and_moves_before_it_looks() -> None:
    """Errata E12 and E13."""
    agents = [
        elimination(
            coins(0.1, 0.9), 500, literal=literal, paper_constant=0.05,
            comparison=None if literal else Comparison.PAPER,
            signal=RewardSignal.RANDOM,
        )
        for literal in (True, False)
    ]  # fmt: skip
    printed, repaired = (
        run_program(each, prepared(each), runs=5, seed=0)[0].eliminated.max(axis=1)
        for each in agents
    )
    assert (printed == repaired + 1).all()
    assert (repaired == int(agents[1].rounds.samples[0, 1])).all()
    rivers = riverswim(4, (0.3, 0.5))  # told apart in state 0, where episodes begin
    for literal in (True, False):
        agent = elimination(rivers, 50, literal=literal)
        row = int(agent.rounds.row[0, 1])
        memory = agent.start(row // 2)
        assert (memory.leader < 0) == (not literal)
        assert int(agent.act(memory, 0, row // 2).argmax()) == (0 if literal else 1)


def test_everybody_leads_in_turn_for_twice_the_diameter() -> None:
    """Errata E16: all models, or those that are left."""
    P = np.zeros((3, 3, 2, 3))
    P[:, :, 0, :] = np.roll(np.eye(3), 1, axis=1)  # action 0 steps around
    P[:, 0, 1, 0] = P[:, 1, 1, 1] = P[:, 2, 1, 2] = 1.0  # action 1 stays
    P[0, 2, 1], P[1, 2, 1], P[2, 2, 1] = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0, 0, 1)
    worlds = class_from_arrays(P, np.zeros((3, 2)))
    agent = elimination(worlds, 1_000)
    lead = agent.ways.steady
    assert lead == 4  # D = 2
    memory = agent.start(0)
    leaders = []
    for h in range(3 * lead):
        leaders.append(memory.leader)
        memory = agent.observe(memory, Step(h, 0, 1, 0))  # a step that leads nowhere
    assert leaders == [0] * lead + [1] * lead + [2] * lead
    assert memory.leader == 0
    assert memory.left == lead
    alone = replace(memory, alive=frozenset({1, 2}), leader=2, left=1)
    assert agent.observe(alone, Step(0, 0, 1, 0)).leader == 1
    everyone = replace(agent, travel=TravelSet.ALL)
    assert everyone.observe(alone, Step(0, 0, 1, 0)).leader == 0
