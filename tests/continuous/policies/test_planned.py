"""The reference `grid`: certified optima, and the plans played in simulators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simgap.continuous import Batch, GridPolicy, open_policy, open_simulator
from simgap.continuous.measuring.episodes import Episodes, run_episodes
from simgap.errors import SimgapError
from simgap.instances import Terminal, build_instance, classic_control
from simgap.mdp import NodeSet
from simgap.planning import optimal_values, solve_episodic

RIVER = "riverswim?success=0.2,0.35,0.5"


def opened(simulator: str, text: str, horizon: int | None) -> GridPolicy:
    found = open_policy(text, open_simulator(simulator), horizon=horizon)
    assert isinstance(found, GridPolicy)
    return found


def played(
    simulator: str,
    policy: Any,
    real: dict[str, float],
    told: dict[str, float],
    *,
    steps: int,
    rows: int = 20,
) -> Episodes:
    """Return episodes in worlds of one theta, the policy being told another one."""
    here = open_simulator(simulator)
    worlds = here.instantiate({k: np.full(rows, v) for k, v in real.items()})
    batch = Batch(np.arange(rows), {k: np.full(rows, v) for k, v in told.items()})
    return run_episodes(worlds, policy, here.action, steps, batch)


def test_the_optimum_of_a_class_of_tables_is_that_of_its_models() -> None:
    worlds = build_instance(RIVER)
    policy = opened(f"model:{RIVER}", "grid", 40)
    ends = optimal_values(worlds, 40).start_ends
    plans = solve_episodic(worlds, 40)
    states = np.arange(6.0)[:, None]
    for member, success in enumerate((0.2, 0.35, 0.5)):
        plan = policy.plan({"success": success})
        assert plan.optimum.ends == pytest.approx(tuple(ends[member]), rel=1e-11)
        for step in (0, 30, 39):
            actions = plan.played(step, states)
            assert actions.tolist() == plans.policy[member, step].tolist()
    assert policy.certified == "certified"
    assert opened(
        "model:discretise:Pendulum-v1?mass=1,2&cells=5x5", "grid", 5
    ).certified == ("certified for this grid")


def test_the_optimum_of_a_grid_is_that_of_the_discretised_simulator() -> None:
    """The table is built in another way: all nodes here, those reached there."""
    table = classic_control(
        "MountainCar-v0",
        grid={"force": (0.0008, 0.0012)},
        cells=(21, 21),
        terminal=Terminal.ABSORB,
        states=NodeSet.REACHABLE,
    ).simulators
    ends = optimal_values(table, 60).start_ends
    policy = opened("gym:MountainCar-v0", "grid:21x21", 60)
    for member, force in enumerate((0.0008, 0.0012)):
        found = policy.plan({"force": force}).optimum
        assert found.lower <= ends[member, 1]
        assert ends[member, 0] <= found.upper
    assert policy.certified == "certified for this grid"


def test_a_plan_is_worth_most_to_who_is_told_the_truth() -> None:
    """Swing-up takes more swings with a greater mass; a lie costs a third and more."""
    policy = opened("gym:Pendulum-v1", "grid:25x25", 100)
    heavy, light = {"mass": 1.5}, {"mass": 0.3}
    true = played("gym:Pendulum-v1", policy, heavy, heavy, steps=100).returns
    lied = played("gym:Pendulum-v1", policy, heavy, light, steps=100).returns
    idle = played(
        "gym:Pendulum-v1",
        open_policy("zero", open_simulator("gym:Pendulum-v1")),
        heavy,
        heavy,
        steps=100,
    ).returns
    assert idle.mean() < 2.0 * true.mean()
    assert lied.mean() < 1.3 * true.mean()
    grid = policy.plan(heavy).optimum
    assert abs(true.mean() - grid.middle) < 0.5 * abs(grid.middle)


def test_the_car_reaches_the_goal_on_a_grid_that_it_is_planned_on() -> None:
    policy = opened("gym:MountainCar-v0", "grid:41x41", 200)
    found = played("gym:MountainCar-v0", policy, {}, {}, steps=200, rows=5)
    assert (found.steps < 170).all()


def test_worlds_of_several_thetas_are_played_side_by_side() -> None:
    policy = opened("gym:Pendulum-v1", "grid:11x11", 20)
    masses, seen = np.array([1.5, 0.5, 1.5, 1.0]), np.eye(4, 3)
    alone = [
        policy.act(seen[i : i + 1], policy.reset(Batch(np.zeros(1, int), {"mass": m})))
        for i, m in enumerate(masses[:, None])
    ]
    together, memory = policy.act(
        seen, policy.reset(Batch(np.zeros(4, int), {"mass": masses}))
    )
    assert together.tolist() == [each[0][0].tolist() for each in alone]
    assert len(memory.plans) == 3
    assert memory.step == 1


@pytest.mark.parametrize(
    ("simulator", "text", "horizon", "code"),
    [
        ("gym:CartPole-v1", "grid", 20, "no-grid"),
        ("gym:Acrobot-v1", "grid:5", 20, "no-grid"),
        ("gym:Pendulum-v1", "grid:", 20, "no-grid"),
        ("gym:Pendulum-v1", "grid:5xx5", 20, "no-grid"),
        ("gym:Pendulum-v1", "grid:5x5x5", 20, "InvalidInstance"),
        ("gym:Pendulum-v1", "grid:1x5", 20, "InvalidInstance"),
        ("gym:MountainCar-v0", "grid:9999", 200, "grid-too-large"),
        (f"model:{RIVER}", "grid:5", 20, "no-grid"),
        (f"model:{RIVER}", "grid", None, "no-horizon"),
    ],
)
def test_what_has_no_grid_is_refused(
    simulator: str, text: str, horizon: int | None, code: str
) -> None:
    with pytest.raises(SimgapError) as found:
        opened(simulator, text, horizon)
    assert found.value.code == code


def test_plans_that_do_not_fit_into_memory_are_refused() -> None:
    policy = opened("gym:Pendulum-v1", "grid:5", 200)
    many = Batch(np.zeros(1000, np.int64), {"mass": 1.0 + np.arange(1000.0)})
    with pytest.raises(SimgapError) as found:
        replace(policy, steps=10**6).reset(many)
    assert found.value.code == "grid-too-large"
    nodes = [
        opened("gym:Pendulum-v1", f"grid:{n}", 5).source.nodes for n in ("5", "5x7")
    ]
    assert nodes == [25, 35]
