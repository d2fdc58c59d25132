"""Table minus simulator: nothing where the table is exact, honest where it is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.instances import CONTROLS, Terminal, classic_control
from simgap.mdp import (
    Axis,
    Discretisation,
    Interpolation,
    Moved,
    Parameters,
    Physics,
    Rounding,
    StateGrid,
    discretise,
)
from simgap.mdp.physics import Theta
from simgap.planning import policy_values, solve_episodic
from simgap.policies import MarkovPolicy
from simgap.simulation.simulated_returns import simulated_returns
from tests.instances.gymnasium_worlds import true_environment


def line(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """x' = rate x + action, paid x: linear, so that no grid can be wrong about it."""
    after = theta["rate"] * state + action[:, None]
    return Moved(after, state[:, 0].copy(), np.zeros(len(state), np.bool_))


LINE = Physics(
    "line", line, np.array([0.1, -0.1]), ("up", "down"), ((-0.5, 0.75),), (-1.0, 1.0)
)


def line_table(cells: int = 4) -> Discretisation:
    grid = StateGrid((Axis("x", -1.0, 1.0, cells),))
    return discretise(LINE, grid, {"rate": (0.5, 0.8)})


def always(action: int, table: Discretisation) -> MarkovPolicy:
    worlds = table.simulators
    return MarkovPolicy(
        f"always {action}", worlds.n_actions, np.full(worlds.n_states, action)
    )


def apart(
    table: Discretisation,
    policy: MarkovPolicy,
    horizon: int,
    *,
    member: int = 0,
    episodes: int = 400,
    rounding: Rounding = Rounding.NEAREST,
) -> FloatArray:
    """Return the table's value at each start less the return from there, (n,).

    Values at a start are means of those of its corners.
    """
    random = np.random.default_rng(0)
    starts = table.physics.starts(random.random((episodes, len(table.physics.start))))
    values = policy_values(table.simulators[member], policy.table, horizon).values[0]
    nodes, weights = table.grid.corners(starts, Interpolation.MULTILINEAR)
    expected = (values[table.state_of_node[nodes]] * weights).sum(axis=1)
    found = simulated_returns(table, member, policy, starts, horizon, rounding, random)
    return np.asarray(expected - found)


def test_a_linear_simulator_has_no_error_on_any_path() -> None:
    """V(x0) interpolated equals the return of each episode."""
    for cells in (2, 5):
        table = line_table(cells)
        for action, member in product((0, 1), (0, 1)):
            off = apart(table, always(action, table), 15, member=member)
            assert np.abs(off).max() < 1e-12


def test_a_table_of_another_simulator_is_found_out() -> None:
    """The control: with the rates swapped, no episode agrees."""
    table = line_table()
    theta = table.simulators.theta
    other = replace(
        table.simulators, parameters=Parameters(theta.names, theta.values[::-1])
    )
    swapped = Discretisation(other, table.physics)
    for member in (0, 1):
        off = apart(swapped, always(0, table), 15, member=member)
        assert np.abs(off).min() > 1e-3


def test_a_certain_table_is_followed_exactly_by_its_optimal_policy() -> None:
    """Whole cells and starts on nodes: both are the same process for any policy."""

    def walled(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        moved = line(theta, state, action)
        return moved._replace(state=np.clip(moved.state, -1.0, 1.0))

    grid = StateGrid((Axis("x", -1.0, 1.0, 21),))
    still = replace(LINE, step=walled, start=((-0.5, -0.5),))
    table = discretise(still, grid, {"rate": (1.0,)})
    plan = solve_episodic(table.simulators, 30)
    assert plan.start[0] == pytest.approx(-7.5 + 0.1 * 105 + 15.0)  # at 1 after 15
    best = MarkovPolicy("best", 2, plan.policy[0])
    even = MarkovPolicy("even", 2, np.full((table.simulators.n_states, 2), 0.5))
    for rounding in Rounding:
        assert np.abs(apart(table, best, 30, rounding=rounding)).max() < 1e-11
        off = apart(table, even, 30, rounding=rounding, episodes=2_000)
        spread = float(off.std() / np.sqrt(off.size))
        assert abs(off.mean()) < 5.0 * spread < 1.0


@pytest.mark.parametrize("mode", [Terminal.RESTART, Terminal.ABSORB])
@pytest.mark.parametrize("gym_id", ["MountainCar-v0", "CartPole-v1", "Pendulum-v1"])
def test_rollouts_are_those_of_gymnasium(gym_id: str, mode: Terminal) -> None:
    """The same starts and a constant action: returns agree up to the first restart."""
    table = classic_control(gym_id, cells=5, terminal=mode)
    policy = always(table.simulators.n_actions - 1, table)
    horizon = 9 if mode is Terminal.RESTART else 60
    env, known = true_environment(table, 0), CONTROLS[gym_id]
    action = known.played(float(table.physics.actions[-1]))
    starts, told = [], []
    for seed in range(5):
        env.reset(seed=seed)
        starts.append(np.array(env.unwrapped.state, np.float64))
        total, ended, steps = 0.0, False, 0
        while steps < horizon and not ended:
            _, reward, ended, _, _ = env.step(action)
            total, steps = total + float(reward), steps + 1
        told.append(total)
    env.close()
    found = simulated_returns(
        table,
        0,
        policy,
        np.array(starts),
        horizon,
        Rounding.NEAREST,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(found, told, rtol=1e-9)


def test_after_an_end_comes_one_free_step_and_a_new_start() -> None:
    """A walk of strides 1/2 from 0: up, up and over, free: two of three steps cost."""

    def climb(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        after = state + 0.5 * theta["stride"]
        return Moved(after, np.full(len(state), -1.0), after[:, 0] >= 1.0)

    physics = Physics(
        "climb", climb, np.array([1.0]), ("up",), ((0.0, 0.0),), (-1.0, 0.0), ends=True
    )
    grid = StateGrid((Axis("x", 0.0, 1.0, 5),))
    for restart, expected in ((True, -7.0), (False, -2.0)):
        table = discretise(physics, grid, {"stride": (1.0,)}, restart=restart)
        policy = always(0, table)
        value = policy_values(table.simulators, policy.table, 10).start[0]
        assert value == pytest.approx(expected)
        assert np.abs(apart(table, policy, 10, episodes=9)).max() < 1e-12


def test_finer_grids_are_less_wrong() -> None:
    """No torque, 20 steps: the error falls about as the square of the spacing."""
    errors, spreads = [], []
    for cells in (11, 21, 41):
        table = classic_control("Pendulum-v1", cells=cells, actions=3)
        off = apart(table, always(1, table), 20, episodes=1_000)
        errors.append(abs(float(off.mean())))
        spreads.append(table.one_step.spread)
    for coarse, fine in ((0, 1), (1, 2)):
        assert errors[fine] < 0.5 * errors[coarse]
        assert (spreads[fine] < 0.62 * spreads[coarse]).all()


def test_the_optimal_plan_of_a_fine_table_keeps_its_word_in_the_simulator() -> None:
    table = classic_control("Pendulum-v1", grid={"mass": 0.7}, cells=41)
    plan = solve_episodic(table.simulators, 100)
    best = MarkovPolicy("best", table.simulators.n_actions, plan.policy[0])
    off = apart(table, best, 100)
    assert abs(off.mean()) < 0.05 * abs(float(plan.start[0]))
