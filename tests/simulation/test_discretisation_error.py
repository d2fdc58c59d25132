"""Table minus simulator: nothing where the table is exact, honest where it is not."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import SeenOnGrid, Terminal, classic_control, true_environment
from simgap.mdp import (
    Axis,
    Discretisation,
    Moved,
    Parameters,
    Physics,
    Rounding,
    StateGrid,
    discretise,
)
from simgap.mdp.physics import Theta
from simgap.policies import Agent, MarkovPolicy, run_episode
from simgap.simulation.discretisation_error import (
    discretisation_error,
    simulated_returns,
    usual_policies,
)


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


def test_a_linear_simulator_has_no_error_on_any_path() -> None:
    """V(x0) interpolated equals the return of each episode: the deviation is 0."""
    for cells in (2, 5):
        table = line_table(cells)
        policies = [always(0, table), always(1, table)]
        found = discretisation_error(table, 15, policies=policies, episodes=50)
        assert len(found.policies) == 4
        for each in found.policies:
            assert each.error.estimate == pytest.approx(0.0, abs=1e-12)
            assert each.error.standard_error == pytest.approx(0.0, abs=1e-12)
            assert each.simulator.estimate == pytest.approx(each.table, abs=1e-12)


def test_a_table_of_another_simulator_is_found_out() -> None:
    """The control: with the rates swapped, every interval excludes 0."""
    table = line_table()
    theta = table.simulators.theta
    other = replace(
        table.simulators, parameters=Parameters(theta.names, theta.values[::-1])
    )
    swapped = Discretisation(other, table.physics)
    found = discretisation_error(swapped, 15, policies=[always(0, table)], episodes=400)
    for each in found.policies:
        assert not each.error.lower <= 0.0 <= each.error.upper


def test_a_certain_table_is_followed_exactly_by_its_optimal_policy() -> None:
    """Whole cells and starts on nodes: both are the same process for any policy."""

    def walled(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        moved = line(theta, state, action)
        return moved._replace(state=np.clip(moved.state, -1.0, 1.0))

    grid = StateGrid((Axis("x", -1.0, 1.0, 21),))
    still = replace(LINE, step=walled, start=((-0.5, -0.5),))
    table = discretise(still, grid, {"rate": (1.0,)})
    for rounding in Rounding:
        found = discretisation_error(table, 30, rounding=rounding, episodes=2_000)
        best, even = found.policies
        assert (best.policy, even.policy) == ("optimal", "random")
        assert best.error.estimate == pytest.approx(0.0, abs=1e-11)
        assert even.error.lower < 0.0 < even.error.upper
        assert even.error.upper - even.error.lower < 1.5
    assert best.table == pytest.approx(-7.5 + 0.1 * 105 + 15.0)  # at 1 after 15 steps


@pytest.mark.parametrize("mode", [Terminal.RESTART, Terminal.ABSORB])
@pytest.mark.parametrize("gym_id", ["MountainCar-v0", "CartPole-v1", "Pendulum-v1"])
def test_rollouts_are_those_of_gymnasium(gym_id: str, mode: Terminal) -> None:
    """The same starts and a constant action: returns agree up to the first restart."""
    table = classic_control(gym_id, cells=5, terminal=mode)
    policy = always(table.simulators.n_actions - 1, table)
    horizon = 9 if mode is Terminal.RESTART else 60
    view = SeenOnGrid(table, true_environment(table, 0))
    starts, told = [], []
    for seed in range(5):
        told.append(run_episode(view, Agent(policy), horizon=horizon, seed=seed).total)
        view.reset(seed=seed)
        starts.append(np.array(view.env.unwrapped.state, np.float64))
    view.close()
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
        found = discretisation_error(table, 10, policies=[always(0, table)], episodes=9)
        (only,) = found.policies
        assert only.table == pytest.approx(expected)
        assert only.error.estimate == pytest.approx(0.0, abs=1e-12)


def test_finer_grids_are_less_wrong() -> None:
    """No torque, 20 steps: the error falls about as the square of the spacing."""
    errors, spreads = [], []
    for cells in (11, 21, 41):
        table = classic_control("Pendulum-v1", cells=cells, actions=3)
        found = discretisation_error(
            table, 20, policies=[always(1, table)], episodes=1_000
        )
        errors.append(found.policies[0].error)
        spreads.append(found.one_step.spread)
    for coarse, fine in ((0, 1), (1, 2)):
        assert abs(errors[fine].estimate) < 0.5 * abs(errors[coarse].estimate)
        assert (spreads[fine] < 0.62 * spreads[coarse]).all()
    assert min(map(abs, (errors[0].lower, errors[0].upper))) > max(
        map(abs, (errors[2].lower, errors[2].upper))
    )


def test_the_optimal_plan_of_a_fine_table_keeps_its_word_in_the_simulator() -> None:
    table = classic_control("Pendulum-v1", grid={"mass": 0.7}, cells=41)
    found = discretisation_error(table, 100, episodes=400)
    optimal, even = found.policies
    assert abs(optimal.error.estimate) < 0.05 * abs(optimal.table)
    assert optimal.simulator.estimate > even.simulator.estimate + 300.0
    assert found.worst in (optimal, even)
    assert len(found.lines()) == 2
    assert "table" in found.lines()[0] and "at 95 %" in found.lines()[0]
    same = discretisation_error(table, 100, episodes=400)
    assert same.policies == found.policies
    other = discretisation_error(table, 100, episodes=400, seed=1)
    assert other.policies != found.policies


def test_the_luck_of_the_start_does_not_widen_the_interval() -> None:
    table = classic_control("Pendulum-v1", cells=21)
    policy = always(2, table)
    (each,) = discretisation_error(table, 20, policies=[policy], episodes=500).policies
    random = np.random.default_rng(0)
    starts = table.physics.starts(random.random((500, 2)))
    returns = simulated_returns(table, 0, policy, starts, 20, Rounding.NEAREST, random)
    plain = float(returns.std(ddof=1)) / np.sqrt(500)
    assert each.error.standard_error is not None
    assert each.error.standard_error < 0.3 * plain
    mean = float(returns.mean())
    assert abs(mean - each.simulator.estimate) < 5.0 * plain


def test_episodes_that_are_all_alike_leave_room_for_others() -> None:
    """At random the car never gets out in 60 episodes: that is no proof."""
    table = classic_control("MountainCar-v0", cells=15)
    horizon, episodes = 100, 60
    found = discretisation_error(table, horizon, episodes=episodes)
    even = found.policies[1]
    assert even.simulator.estimate == pytest.approx(-100.0)
    room = log(2.0 / 0.05) / episodes * horizon
    assert even.error.estimate - even.error.lower >= room  # the car may get out,
    assert even.simulator.lower == pytest.approx(-100.0)  # but cannot lose more


def test_models_and_policies_can_be_chosen() -> None:
    table = line_table()
    found = discretisation_error(table, 5, models=[1, -2], episodes=20)
    assert [each.model for each in found.policies] == ["rate=0.8"] * 2 + [
        "rate=0.5"
    ] * 2
    assert [each.name for each in usual_policies(table.simulators[0], 5)] == [
        "optimal",
        "random",
    ]


@pytest.mark.parametrize(
    ("episodes", "seed", "confidence", "problem"),
    [
        (1, 0, 0.95, "episodes is 1"),
        (10, -1, 0.95, "seed is -1"),
        (10, 0, 1.0, "confidence of 1.0"),
    ],
)
def test_bad_settings_are_refused(
    episodes: int, seed: int, confidence: float, problem: str
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        discretisation_error(
            line_table(), 5, episodes=episodes, seed=seed, confidence=confidence
        )
