"""simgap's own policies, played in simulators: the same as its own agents."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.arrays import IndexArray
from simgap.continuous import (
    Batch,
    BroughtPolicy,
    Worlds,
    open_policy,
    open_simulator,
)
from simgap.errors import SimgapError
from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle import domain_randomization_oracle
from simgap.policies import (
    Agent,
    GridPlayer,
    MarkovPolicy,
    load_policy,
    load_policy_and_grid,
    save_policy,
)
from tests.continuous.policies.cases import tabular

STEPS = 12


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the class, its plan, and both policies as files."""
    worlds = build_instance("discretise:Pendulum-v1?mass=0.7,1.3&cells=7&actions=3")
    found = domain_randomization_oracle(LatentMDP.uniform(worlds), horizon=STEPS)
    folder = tmp_path_factory.mktemp("pendulum")
    for name, policy in (("graph", found.policy), ("belief", found.belief_policy)):
        save_policy(policy, folder / f"{name}.simgap", grid=worlds.grid)
    return worlds, found, folder


def lived(policy: BroughtPolicy, worlds: Worlds, count: int) -> tuple[Any, Any]:
    """Return observations and actions of an episode in each world."""
    seen = worlds.reset(np.arange(count))
    memory = policy.reset(Batch(np.arange(count)))
    shown, played = [], []
    for _ in range(STEPS):
        actions, memory = policy.act(seen, memory)
        shown.append(seen)
        played.append(actions)
        seen = worlds.step(actions, np.ones(count, np.bool_)).observation
    return np.array(shown), np.array(played)


@pytest.mark.parametrize("name", ["graph", "belief"])
def test_a_file_of_a_grid_plays_as_the_grid_player_does(
    pendulum: Any, name: str
) -> None:
    worlds, found, folder = pendulum
    simulator = open_simulator("gym:Pendulum-v1")
    policy = open_policy(folder / f"{name}.simgap", simulator)
    masses = np.array([0.7, 1.0, 1.3])
    live = simulator.instantiate({"mass": masses})
    shown, played = lived(policy, live, 3)
    live.close()
    source = found.policy if name == "graph" else found.belief_policy
    for row in range(3):
        player = GridPlayer(source, worlds, seed=row)
        player.reset(shown[0, row])
        alone = [player.act(each) for each in shown[:, row]]
        assert np.array_equal(played[:, row], np.array(alone))
    assert np.unique(played).size > 1


def test_a_file_keeps_the_grid_and_still_loads_as_before(pendulum: Any) -> None:
    worlds, found, folder = pendulum
    policy, grid = load_policy_and_grid(folder / "graph.simgap")
    assert grid is not None
    assert grid.grid.axes == worlds.grid.grid.axes
    assert np.array_equal(grid.state_of_node, worlds.grid.state_of_node)
    assert type(load_policy(folder / "graph.simgap")) is type(policy)
    save_policy(found.policy, folder / "without.simgap")
    assert load_policy_and_grid(folder / "without.simgap")[1] is None
    with pytest.raises(SimgapError) as caught:
        open_policy(folder / "without.simgap", open_simulator("gym:Pendulum-v1"))
    assert caught.value.code == "policy-without-grid"


def every_kind(path: Path) -> dict[str, Any]:
    worlds = build_instance("riverswim?states=6&success=0.2,0.6")
    found = domain_randomization_oracle(LatentMDP.uniform(worlds), horizon=STEPS)
    random = np.random.default_rng(0)
    mixed = random.dirichlet(np.ones(2), (STEPS, 6))
    sure: IndexArray = random.integers(2, size=(STEPS, 6)).astype(np.int32)
    return {
        "graph": found.policy,
        "belief": found.belief_policy,
        "table": MarkovPolicy("table", 2, sure),
        "fixed": MarkovPolicy("fixed", 2, sure[0]),
        "mixed": MarkovPolicy("mixed", 2, mixed),
    }


@pytest.mark.parametrize("kind", ["graph", "belief", "table", "fixed", "mixed"])
def test_numbered_states_are_the_states_of_the_table(tmp_path: Path, kind: str) -> None:
    policy = every_kind(tmp_path)[kind]
    save_policy(policy, tmp_path / "p.simgap")
    brought = open_policy(f"mine={tmp_path}/p.simgap", tabular(6, 2))
    assert brought.name == "mine"
    random = np.random.default_rng(1)
    paths = np.minimum.accumulate(random.integers(6, size=(STEPS, 4)), axis=0)
    memory = brought.reset(Batch(np.arange(4)))
    agents = [Agent(policy, seed=row, on_outside="flag") for row in range(4)]
    for step in range(STEPS):
        actions, memory = brought.act(paths[step][:, None].astype(np.float64), memory)
        for row, agent in enumerate(agents):
            (agent.reset if step == 0 else agent.observe)(int(paths[step, row]))
            assert actions[row] == agent.act()


def test_policies_of_other_tables_are_refused(tmp_path: Path) -> None:
    policy = every_kind(tmp_path)["fixed"]
    for simulator, code in (
        (tabular(7, 2), "policy-of-other-states"),
        (tabular(6, 3), "policy-of-other-actions"),
    ):
        with pytest.raises(SimgapError) as caught:
            open_policy(policy, simulator)
        assert caught.value.code == code


def test_a_step_beyond_the_plan_is_refused(tmp_path: Path) -> None:
    for kind in ("table", "graph"):
        brought = open_policy(every_kind(tmp_path)[kind], tabular(6, 2))
        memory: Any = brought.reset(Batch(np.arange(1)))
        with pytest.raises(SimgapError, match="beyond the horizon"):
            for _ in range(STEPS + 1):
                _, memory = brought.act(np.zeros((1, 1)), memory)


def test_frozen_lake_is_played_with_the_plan_of_its_table() -> None:
    worlds = build_instance("gym:FrozenLake-v1?success_rate=0.5,0.9")
    found = domain_randomization_oracle(LatentMDP.uniform(worlds), horizon=30)
    simulator = open_simulator("gym:FrozenLake-v1")
    policy = open_policy(found.policy, simulator)
    live = simulator.instantiate({"success_rate": np.full(200, 0.9)})
    reached = {}
    for name, each in (("plan", policy), ("random", open_policy("random", simulator))):
        seen, alive = live.reset(np.arange(200)), np.ones(200, np.bool_)
        memory: Any = each.reset(Batch(np.arange(200)))
        total = np.zeros(200)
        for _ in range(30):
            actions, memory = each.act(seen, memory)
            after = live.step(actions, alive)
            total += np.where(alive, after.reward, 0.0)
            alive &= ~after.ended
            seen = after.observation
        reached[name] = total.mean()
    live.close()
    assert reached["plan"] > reached["random"] + 0.3
