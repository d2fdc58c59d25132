"""The H-step optimal policy by steps left: exact on small models, short in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from simgap.base_policies.knowledge import class_knowledge
from simgap.base_policies.paper.elimination import elimination
from simgap.base_policies.timed_rules import timed_rules
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.planning import solve_episodic
from simgap.planning.relative_values import relative_values
from tests.base_policies.cases import assert_same, both_ways, random_class
from tests.base_policies.elimination_cases import FIVE_RATES
from tests.reference.episodic import optimal_values as exact_values
from tests.strategies import STEADY, as_class, rational_classes


def alternating() -> SimulatorClass:
    """Return a model whose optimal first step depends on the parity of steps left.

    A cycle x, y pays 1 in x. From u one goes to x at once, or via v for a bonus of .3:
    with an even number of steps left the straight way wins a visit of x more.
    """
    u, v, x, y = range(4)
    P = np.zeros((4, 2, 4))
    P[u, 0, x] = P[u, 1, v] = P[v, :, x] = P[x, :, y] = P[y, 0, x] = P[y, 1, u] = 1.0
    R = np.zeros((4, 2))
    R[u, 1], R[x] = 0.3, 1.0
    return class_from_arrays(P[None], R)


@STEADY
@given(rational_classes(members=(1, 3)))
def test_rules_and_worth_are_those_of_fractions(models: list[Any]) -> None:
    worlds = as_class(models)
    known = class_knowledge(worlds)
    horizon = 12
    rules = timed_rules(known, horizon)
    for m, model in enumerate(models):
        values = exact_values(model.transitions, model.rewards, horizon)
        for left in range(1, horizon + 1):
            after, rule = values[horizon - left + 1], rules.rule(m, left)
            now = values[horizon - left]
            worth = rules.worth(m, left)
            assert worth is not None
            for s in range(worlds.n_states):
                a = int(rule[s])
                row = model.transitions[s][a]
                mean = sum(p * v for p, v in zip(row, after, strict=True))
                assert float(now[s] - model.rewards[s][a] - mean) < 1e-12
                exact = float(now[s]) - left * float(known.gain[m])
                assert worth[s] == pytest.approx(exact, abs=1e-11)


def test_long_horizons_need_little_memory_and_no_time() -> None:
    rivers = riverswim(6, FIVE_RATES, left_reward=0.7, uniform=True)
    known = class_knowledge(rivers)
    short, long = timed_rules(known, 20_000), timed_rules(known, 10**7)
    plan = solve_episodic(rivers, 20_000)
    for m in range(5):
        assert long.since[m].size < 20
        for left in (1, 2, 3, 10, 57, 400, 1_999, 20_000):
            np.testing.assert_array_equal(short.rule(m, left), long.rule(m, left))
            after = plan.values[m, 20_000 - left + 1]
            value = rivers.rewards[0] + rivers[m].transitions.array(0) @ after
            rule = long.rule(m, left)
            gained = value[np.arange(6), rule]
            np.testing.assert_allclose(gained, value.max(axis=1), atol=1e-10)
    for horizon in (1, 300, 20_000, 10**6):
        expected = relative_values(rivers, horizon, known.average)
        for m in range(5):
            worth = long.worth(m, horizon)
            assert worth is not None
            error = 2.0 * float(expected.error[m])
            np.testing.assert_allclose(worth, expected.values[m], rtol=0, atol=error)


def test_a_rule_that_alternates_for_ever_is_kept_as_a_period() -> None:
    world = alternating()
    rules = timed_rules(class_knowledge(world), 10**7)
    assert rules.period[0] == 2
    assert rules.known[0] < 20
    for left in range(2, 60):
        assert rules.rule(0, left)[0] == left % 2
    for left in (10**7, 10**7 - 1):
        assert rules.rule(0, left)[0] == left % 2
    plan = solve_episodic(world, 500)
    for left in (17, 18, 499, 500):
        worth = rules.worth(0, left)
        assert worth is not None
        np.testing.assert_allclose(
            worth + left * 0.5, plan.values[0, 500 - left], atol=1e-12
        )
    agent = elimination(world, 4_001)  # stage 2 from the first step
    for fast, slow in both_ways(agent, runs=1):
        assert_same(fast, slow)
        np.testing.assert_allclose(fast.gap, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_any_runs_and_periods_are_played_as_they_are_read(seed: int) -> None:
    """Rules made up at random: compiled play against `rule`, step by step."""
    rng = np.random.default_rng(seed)
    agent = elimination(random_class(rng, members=1), 130)
    known = int(rng.integers(3, 60))
    period = int(rng.integers(1, known))
    since = 1 + np.flatnonzero(rng.random(known) < 0.3)
    since[0] = 1
    made_up = replace(
        agent.ending,
        known=np.array([known]),
        period=np.array([period]),
        since=(since,),
        rules=(rng.integers(2, size=(since.size, 4)).astype(np.int32),),
        values=(None,),
    )
    for left in range(known + 1, 130):
        expected = known - (known - left) % period
        rule = made_up.rule(0, expected)
        np.testing.assert_array_equal(made_up.rule(0, left), rule)
    for fast, slow in both_ways(replace(agent, ending=made_up), runs=2, seed=seed):
        assert_same(fast, slow)
