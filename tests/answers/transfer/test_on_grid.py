"""The bridge: a policy in a table whose optimum is certified, and in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simgap
from simgap.continuous import OnGrid, earned_on_grid, open_policy, open_simulator
from simgap.continuous.policies.planned import grid_policy
from simgap.intervals import Certified, Estimate
from simgap.planning import policy_values

STEPS = 15


def swing(observation: Any, memory: Any) -> Any:
    """Push the way it moves."""
    return [2.0 * np.sign(observation[2])], None


def counting(observation: Any, memory: Any) -> Any:
    """The same, with a memory that changes nothing."""
    return swing(observation, None)[0], (memory or 0) + 1


def idle(observation: Any, memory: Any) -> Any:
    return [0.0], memory


def told_swing(observation: Any, memory: Any, theta: Any) -> Any:
    """Push the way it moves, where the pendulum is heavy."""
    return [2.0 * np.sign(observation[2]) * (theta["mass"] > 1.0)], None


def player(policy: Any, mass: float = 1.0) -> OnGrid:
    simulator = open_simulator("gym:Pendulum-v1")
    plan: Any = grid_policy("grid:9x11", "grid", simulator, STEPS).plan({"mass": mass})
    opened = open_policy(policy, simulator)
    return OnGrid(opened, plan.table, simulator.action, {"mass": mass})


def earned(policy: Any, mass: float = 1.0, episodes: int = 400) -> Any:
    return earned_on_grid(
        player(policy, mass), horizon=STEPS, seeds=np.arange(episodes)
    )


def test_a_policy_without_memory_is_computed() -> None:
    """The same actions at all nodes, written down here by hand."""
    found = earned(swing)
    table = player(swing).table
    speed = table.grid.points[:, 1]
    actions = np.where(speed > 0.0, 8, np.where(speed < 0.0, 0, 4))  # -2 to 2 by half
    ends = policy_values(table.simulators, actions, STEPS).start_ends[0]
    assert isinstance(found, Certified)
    assert found.ends == tuple(ends)
    other = policy_values(table.simulators, actions[::-1].copy(), STEPS).start_ends[0]
    assert abs(other[0] - ends[0]) > 1.0  # the control: other actions


def test_a_policy_with_memory_is_run_and_agrees_with_what_is_computed() -> None:
    exact, control = earned(swing), earned(idle)
    sampled = earned(counting, episodes=2000)
    assert isinstance(exact, Certified) and isinstance(sampled, Estimate)
    assert sampled.lower <= exact.lower <= exact.upper <= sampled.upper
    assert not sampled.lower <= control.middle <= sampled.upper
    assert isinstance(earned("random"), Estimate)  # it draws


def test_an_informed_policy_is_told_the_parameters_of_the_table() -> None:
    assert earned(told_swing, 1.5).ends == earned(swing, 1.5).ends
    assert earned(told_swing, 0.5).ends == earned(idle, 0.5).ends


@pytest.mark.parametrize(
    ("simulator", "drawn"),
    [("gym:Pendulum-v1", "mass={0.7,1.3}"), ("gym:MountainCar-v0", "force={0.001}")],
)
def test_what_is_lost_and_what_the_grid_changes_add_up(
    simulator: str, drawn: str
) -> None:
    answer = simgap.transfer(
        simulator,
        ["zero", "random"],
        references="grid:9x9",
        randomize=drawn,
        horizon=STEPS,
        episodes=16,
        beyond=1.0,
        checked=False,
    )
    for policy in answer.policies[:2]:
        found = policy.on_grid
        assert found is not None
        assert found.lost.upper >= 0.0 and found.value.lower <= found.optimum.upper
        total = found.lost.middle + found.grid.estimate
        here = np.mean([each.returned.estimate for each in policy.points])
        assert total == pytest.approx(found.optimum.middle - here, abs=1e-6)
        for point in policy.points:
            assert point.grid_value is not None and point.grid_optimum is not None
            assert point.grid_value.lower <= point.grid_optimum.upper
    assert isinstance(answer.policies[0].on_grid.value, Certified)  # type: ignore[union-attr]
    assert isinstance(answer.policies[1].on_grid.value, Estimate)  # type: ignore[union-attr]
    assert answer.policies[2].on_grid is None  # it plans
    assert answer.certainty["grid_value"] == "estimated"
