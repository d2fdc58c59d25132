"""Policies of a table played in its simulator: nobody falls for want of a memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap import LatentMDP, domain_randomization_oracle, load_model, save_model
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import classic_control
from simgap.mdp import Axis, Discretisation, Moved, Physics, StateGrid, discretise
from simgap.mdp.physics import Theta
from simgap.oracle import AutoOracle, OracleResult
from simgap.policies import Agent, GraphPolicy, GridPlayer, load_policy, save_policy
from tests.instances.gymnasium_worlds import true_environment

H = 60


def tilt(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """A stick that falls by itself; a push the right way keeps it up."""
    x, v = state.T
    v = v + 0.1 * (theta["pull"] * x + 2.0 * action)
    x = x + 0.1 * v
    return Moved(np.stack([x, v], axis=1), np.ones(len(x)), np.asarray(np.abs(x) > 1.0))


STICK = Physics(
    "stick",
    tilt,
    np.array([-1.0, 1.0]),
    ("left", "right"),
    ((-0.05, 0.05), (-0.05, 0.05)),
    (0.0, 1.0),
    ends=True,
)


def sticks() -> Discretisation:
    grid = StateGrid((Axis("x", -1.0, 1.0, 15), Axis("v", -2.0, 2.0, 15)))
    return discretise(STICK, grid, {"pull": (2.0, 5.0)}, restart=False)


@pytest.fixture(scope="module")
def planned() -> tuple[Discretisation, OracleResult]:
    table = sticks()
    latent = LatentMDP.uniform(table.simulators)
    solver = AutoOracle(time_limit=5.0)
    return table, domain_randomization_oracle(latent, horizon=H, solver=solver)


def returned(
    table: Discretisation, policy: Any, episodes: int = 20
) -> tuple[float, int]:
    """Return the mean return in the simulator and all fallbacks."""
    total, fallbacks = 0.0, 0
    for member in range(len(table.simulators)):
        for seed in range(episodes):
            player = GridPlayer(policy, table, actions=[-1.0, 1.0], seed=seed)
            draws = np.random.default_rng([member, seed]).random((1, 2))
            point = STICK.starts(draws)
            player.reset(point[0])
            for _ in range(H):
                level = player.act(point[0])
                moved = STICK.step(table.thetas[member], point, np.array([level]))
                point, total = moved.state, total + float(moved.reward[0])
                if moved.ended[0]:
                    break
            fallbacks += player.fallbacks
    return total / (episodes * len(table.simulators)), fallbacks


def test_a_graph_outside_its_nodes_does_as_well_as_the_belief(
    planned: tuple[Discretisation, OracleResult],
) -> None:
    table, oracle = planned
    graph, left = returned(table, oracle.policy)
    belief, _ = returned(table, oracle.belief_policy)
    assert left > 100  # it did leave the graph, or nothing is shown
    assert graph > belief - 0.05 * H
    # the control: going on with action 0 out there costs much of the episode
    assert returned(table, _Stubborn(oracle.policy))[0] < belief - 0.2 * H


class _Stubborn:
    """A graph that plays action 0 where no rule leads."""

    def __init__(self, graph: GraphPolicy) -> None:
        self.graph, self.name, self.horizon = graph, "stubborn", graph.horizon

    def start(self, state: int) -> Any:
        return self._tried(self.graph.start, state)

    def act(self, memory: Any, h: int, state: int) -> FloatArray:
        if memory is None:
            return np.array([1.0, 0.0])
        return self.graph.act(memory, h, state)

    def observe(self, memory: Any, step: Any) -> Any:
        if memory is None:
            return None
        return self._tried(self.graph.observe, memory, step)

    def _tried(self, ask: Any, *given: Any) -> Any:
        from simgap.errors import OutsideClass

        try:
            return ask(*given)
        except OutsideClass:
            return None


def test_a_saved_graph_has_what_it_falls_back_on(
    planned: tuple[Discretisation, OracleResult], tmp_path: Path
) -> None:
    table, oracle = planned
    save_policy(oracle.policy, tmp_path / "graph.simgap")
    save_model(LatentMDP.uniform(table.simulators), tmp_path / "sticks.simgap")
    policy = load_policy(tmp_path / "graph.simgap")
    model = load_model(tmp_path / "sticks.simgap")
    assert isinstance(policy, GraphPolicy)
    assert policy.fallback is not None
    point = np.array([0.04, -0.03])
    first = GridPlayer(policy, model, actions=[-1.0, 1.0])
    second = GridPlayer(oracle.policy, table, actions=[-1.0, 1.0])
    for player in (first, second):
        player.reset(point)
    states = np.random.default_rng(0).uniform(-0.9, 0.9, (H, 2))
    assert [first.act(p) for p in states] == [second.act(p) for p in states]
    assert first.fallbacks == second.fallbacks > 0


def test_a_graph_that_stands_alone_is_read_and_never_stops_at_action_0(
    planned: tuple[Discretisation, OracleResult], tmp_path: Path
) -> None:
    """As files from before: nodes of the same state stand in, and chance after them."""
    table, oracle = planned
    alone = replace(oracle.policy, fallback=None)
    save_policy(alone, tmp_path / "alone.simgap")
    policy = load_policy(tmp_path / "alone.simgap")
    assert isinstance(policy, GraphPolicy) and policy.fallback is None
    found, left = returned(table, policy)
    assert left > 0
    assert found > returned(table, _Stubborn(alone))[0]
    agent: Agent[Any] = Agent(policy, on_outside="flag")
    bare = [s for s in range(policy.pattern.n_states) if policy.node_of(0, s) is None]
    played = set()
    for _ in range(40):
        agent.reset(bare[0])
        played.add(agent.act())
        assert agent.fallbacks == 1 and agent.outside
    assert played == {0, 1}


@pytest.mark.parametrize("gym_id", ["Pendulum-v1", "CartPole-v1", "MountainCar-v0"])
def test_a_player_speaks_the_environments_own_language(gym_id: str) -> None:
    """Observations and actions are Gymnasium's; a belief counts what it leaves out."""
    cells: Any = {"Pendulum-v1": 9, "CartPole-v1": 5, "MountainCar-v0": 31}[gym_id]
    name = {"MountainCar-v0": "gravity"}.get(gym_id, "g" if "Pen" in gym_id else "")
    points = {"gravity": (0.002, 0.003), "g": (8.0, 11.0)}.get(name, ())
    grid: Any = {name: points} if name else {"length": (0.4, 0.8)}
    table = classic_control(gym_id, grid=grid, cells=cells)
    latent = LatentMDP.uniform(table.simulators)
    oracle = domain_randomization_oracle(
        latent, horizon=30, solver=AutoOracle(time_limit=3.0)
    )
    env = true_environment(table, 0)
    for policy in (oracle.policy, oracle.belief_policy):
        player = GridPlayer(policy, table)
        observation, _ = env.reset(seed=3)
        player.reset(observation)
        while player.steps < 29:
            observation, _, ended, _, _ = env.step(player.act(observation))
            if ended and player.steps < 27:
                observation, _ = env.reset()
                player.restart(observation)
        assert 0 <= player.fallbacks <= 30


def test_after_an_end_the_table_starts_again_and_memory_stays(
    planned: tuple[Discretisation, OracleResult],
) -> None:
    _, oracle = planned
    grid = sticks().grid
    again = discretise(STICK, grid, {"pull": (2.0, 5.0)}, restart=True)
    solver = AutoOracle(time_limit=3.0)
    latent = LatentMDP.uniform(again.simulators)
    policy = domain_randomization_oracle(latent, horizon=20, solver=solver)
    player = GridPlayer(policy.belief_policy, again)
    player.reset(np.zeros(2))
    player.act(np.zeros(2))
    player.restart(np.zeros(2))
    assert player.steps == 2  # the step that ended, and the one of the end
    assert player.agent.memory is not None
    kept = GridPlayer(oracle.policy, sticks())
    kept.reset(np.zeros(2))
    with pytest.raises(InvalidArgument, match="does not start again"):
        kept.restart(np.zeros(2))
