"""Agents in environments: Gymnasium's FrozenLake, and worlds outside the class."""

from __future__ import annotations

from math import sqrt
from typing import Any

import gymnasium
import numpy as np
import pytest

from simgap.errors import InvalidArgument, OutsideClass
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from simgap.oracle import baselines
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.planning import optimal_values
from simgap.policies import Agent, MarkovPolicy, WindowPolicy, run_episode
from tests.policies.cases import greedy_policy, random_graph


def lake(success: float) -> Any:
    return gymnasium.make("FrozenLake-v1", success_rate=success)


def lakes() -> LatentMDP:
    """FrozenLake with three success rates, straight from Gymnasium's tables."""
    models = []
    for success in (1.0 / 3.0, 0.7, 0.9):
        table = lake(success).unwrapped.P
        P, R = np.zeros((16, 4, 16)), np.zeros((16, 4))
        for state, rows in table.items():
            for action, row in rows.items():
                for chance, after, reward, _ in row:
                    P[state, action, after] += chance
                    R[state, action] += chance * reward
        details = Details(start=0)
        models.append(
            mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION, details=details)
        )
    return LatentMDP.uniform(class_from_models(models))


def test_a_belief_policy_crosses_the_frozen_lake() -> None:
    """One model: greedy is optimal, and the mean return is V* (Hoeffding, 1e-6)."""
    latent = lakes()
    horizon, episodes = 60, 400
    only = LatentMDP(latent.simulators, np.array([0.0, 0.0, 1.0]))
    policy = greedy_policy(loss_form(only, horizon=horizon))
    env = lake(0.9)
    agent: Agent[Any] = Agent(policy, seed=1)
    totals = [
        run_episode(env, agent, horizon=horizon, seed=s).total for s in range(episodes)
    ]
    value = float(optimal_values(latent.simulators, horizon).start[2])
    margin = sqrt(np.log(2e6) / (2.0 * episodes))
    assert abs(np.mean(totals) - value) <= margin
    assert value > 2.0 * margin  # never arriving would be noticed


def test_the_posterior_finds_the_lake_it_is_on() -> None:
    policy = greedy_policy(loss_form(lakes(), horizon=100))
    agent: Agent[Any] = Agent(policy)
    env, surest = lake(0.7), []
    for seed in range(20):
        run_episode(env, agent, horizon=100, seed=seed)
        assert agent.memory is not None
        surest.append(int(np.argmax(agent.memory)))
    assert surest.count(1) > 10


def test_an_episode_is_a_record_of_what_happened() -> None:
    policy = greedy_policy(loss_form(lakes(), horizon=30))
    episode = run_episode(lake(0.7), Agent(policy), horizon=30, seed=5)
    again = run_episode(lake(0.7), Agent(policy), horizon=30, seed=5)
    other = run_episode(lake(0.7), Agent(policy), horizon=30, seed=6)
    assert episode.states.tolist() == again.states.tolist()
    assert episode.states.tolist() != other.states.tolist()
    assert episode.states.size == episode.actions.size + 1 == episode.rewards.size + 1
    assert episode.actions.size == 30 or episode.terminated
    assert not episode.outside
    with pytest.raises(ValueError, match="read-only"):
        episode.states[0] = 3


def test_a_random_policy_draws_its_actions_from_its_law() -> None:
    policy = MarkovPolicy("coin", 2, np.array([[0.25, 0.75]]))
    agent: Agent[None] = Agent(policy, seed=3)
    agent.reset(0)
    actions = []
    for _ in range(4_000):
        actions.append(agent.act())
        agent.observe(0)
    margin = sqrt(np.log(2e6) / (2.0 * 4_000))
    assert abs(np.mean(actions) - 0.75) < margin
    assert abs(np.mean(actions) - 0.5) > margin


def corridor() -> LossForm:
    """Two models over three states in which state 2 is never entered."""
    models = []
    for stay in (0.25, 0.75):
        P = np.zeros((3, 2, 3))
        P[:, :, 0], P[:, :, 1] = stay, 1.0 - stay
        R = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        models.append(mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION))
    return loss_form(LatentMDP.uniform(class_from_models(models)), horizon=6)


def test_an_impossible_step_raises_unless_it_is_to_be_flagged() -> None:
    agent: Agent[Any] = Agent(greedy_policy(corridor()))
    agent.reset(0)
    agent.act()
    with pytest.raises(OutsideClass, match="led to state 2"):
        agent.observe(2)


def test_a_flagged_belief_agent_keeps_its_posterior_and_goes_on() -> None:
    agent: Agent[Any] = Agent(greedy_policy(corridor()), on_outside="flag")
    agent.reset(0)
    agent.act()
    agent.observe(0)
    before = agent.memory
    agent.act()
    agent.observe(2)
    assert agent.outside
    assert agent.memory == before
    agent.act()
    agent.observe(0)
    assert agent.memory != before
    assert agent.steps == 3
    agent.reset(0)
    assert not agent.outside


def test_a_flagged_graph_agent_starts_again_where_it_can() -> None:
    graph = random_graph(np.random.default_rng(0), corridor())
    agent: Agent[int] = Agent(graph, on_outside="flag")
    agent.reset(0)
    for after in (0, 2, 2, 0, 1):
        assert agent.act() in (0, 1)
        agent.observe(after)
    assert agent.outside
    assert agent.memory is not None
    assert graph.node_state[agent.memory] == 1


def test_a_window_that_no_model_allows_has_a_plan_of_its_own() -> None:
    form = corridor()
    (window,) = (
        each.policy
        for each in baselines(form, effort=0.01)
        if isinstance(each.policy, WindowPolicy) and each.policy.length == 1
    )
    best = int(np.argmin(form.losses[3, 1] @ form.latent.prior))
    assert best == 1  # not the action of an empty table
    assert window.act(((2, 0),), 3, 1)[best] == 1.0


def test_fallbacks_are_counted_and_an_ordinary_episode_has_none() -> None:
    """A belief leaves out what no model explains; the count is part of an episode."""
    agent: Agent[Any] = Agent(greedy_policy(corridor()), on_outside="flag")
    agent.reset(0)
    for after in (1, 2, 2, 0):
        agent.act()
        agent.observe(after)
    assert agent.fallbacks == 2
    agent.reset(0)
    assert agent.fallbacks == 0
    agent.act()
    agent.observe(1)
    assert agent.fallbacks == 0 and not agent.outside


def test_calls_out_of_turn_are_refused() -> None:
    agent: Agent[Any] = Agent(greedy_policy(corridor()))
    with pytest.raises(InvalidArgument, match="no episode"):
        agent.act()
    with pytest.raises(InvalidArgument, match="not acted"):
        agent.observe(0)
    agent.reset(0)
    with pytest.raises(InvalidArgument, match="not acted"):
        agent.observe(0)
    with pytest.raises(InvalidArgument, match="on_outside"):
        Agent(greedy_policy(corridor()), on_outside="ignore")  # type: ignore[arg-type]
