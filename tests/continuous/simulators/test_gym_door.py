"""Gymnasium's own environments, their numbers as parameters, against rebuilt ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv, PendulumEnv

from simgap.arrays import FloatArray
from simgap.continuous import (
    Choices,
    Simulator,
    Stepped,
)
from simgap.continuous.simulators.gym_door import open_gym

SETS = 50  # of non-default parameters


def rebuilt_cart_pole(theta: Mapping[str, float]) -> Any:
    class Rebuilt(CartPoleEnv):  # type: ignore[misc]
        """The constructor of Gymnasium's, line by line, with other numbers."""

        def __init__(self) -> None:
            super().__init__()
            self.gravity = theta["gravity"]
            self.masscart = theta["masscart"]
            self.masspole = theta["masspole"]
            self.total_mass = self.masspole + self.masscart
            self.length = theta["length"]
            self.polemass_length = self.masspole * self.length
            self.force_mag = theta["force_mag"]
            self.tau = theta["tau"]

    return Rebuilt()


def rebuilt_pendulum(theta: Mapping[str, float]) -> Any:
    env = PendulumEnv(g=theta["g"])
    env.m, env.l, env.dt = theta["mass"], theta["length"], theta["dt"]
    return env


def rebuilt(gym_id: str) -> Callable[[Mapping[str, float]], Any]:
    """Return what makes an environment in which nothing follows from a number."""

    def build(theta: Mapping[str, float]) -> Any:
        env = gymnasium.make(gym_id).unwrapped
        for name, value in theta.items():
            setattr(env, name, value)
        return env

    return build


CLASSIC: dict[str, tuple[Callable[[Mapping[str, float]], Any], tuple[str, ...]]] = {
    "CartPole-v1": (
        rebuilt_cart_pole,
        ("gravity", "masscart", "masspole", "length", "force_mag", "tau"),
    ),
    "Pendulum-v1": (rebuilt_pendulum, ("mass", "length", "g", "dt")),
    "Acrobot-v1": (
        rebuilt("Acrobot-v1"),
        (
            "LINK_LENGTH_1",
            "LINK_MASS_1",
            "LINK_MASS_2",
            "LINK_COM_POS_1",
            "LINK_COM_POS_2",
            "LINK_MOI",
            "dt",
        ),
    ),
    "MountainCar-v0": (
        rebuilt("MountainCar-v0"),
        ("gravity", "force", "goal_position"),
    ),
    "MountainCarContinuous-v0": (
        rebuilt("MountainCarContinuous-v0"),
        ("power", "goal_position"),
    ),
}


def drawn(simulator: Simulator, names: tuple[str, ...]) -> dict[str, FloatArray]:
    nominal = {each.name: each.nominal for each in simulator.parameters}
    rng = np.random.default_rng(5)
    return {name: nominal[name] * rng.uniform(0.5, 2.0, SETS) for name in names}


def actions_for(simulator: Simulator, steps: int, size: int) -> FloatArray:
    rng, space = np.random.default_rng(7), simulator.action
    if isinstance(space, Choices):
        return rng.integers(space.n, size=(steps, size)).astype(np.float64)
    found: FloatArray = rng.uniform(space.low, space.high, (steps, size, space.size))
    return found


def played(simulator: Simulator, values: Mapping[str, FloatArray]) -> list[Stepped]:
    """Return 30 steps of all worlds, seeds 0, 1, ..., the same actions every time."""
    size = max([each.size for each in values.values()], default=1)
    worlds = simulator.instantiate(values)
    worlds.reset(np.arange(size))
    alive, found = np.ones(size, np.bool_), []
    for actions in actions_for(simulator, 30, size):
        found.append(worlds.step(actions, alive.copy()))
        alive &= ~found[-1].ended
    worlds.close()
    return found


def same(one: list[Stepped], two: list[Stepped]) -> bool:
    return all(
        np.array_equal(a.observation, b.observation)
        and np.array_equal(a.reward, b.reward)
        and np.array_equal(a.ended, b.ended)
        for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize("gym_id", CLASSIC)
def test_50_other_parameters_step_as_environments_that_were_built_with_them(
    gym_id: str,
) -> None:
    build, names = CLASSIC[gym_id]
    simulator = open_gym(gym_id)
    values = drawn(simulator, names)
    worlds = simulator.instantiate(values)
    shown = worlds.reset(np.arange(SETS))
    twins = [
        build({k: float(v[row]) for k, v in values.items()}) for row in range(SETS)
    ]
    for row, twin in enumerate(twins):
        assert np.array_equal(twin.reset(seed=row)[0], shown[row])
    alive = np.ones(SETS, np.bool_)
    for actions in actions_for(simulator, 40, SETS):
        after = worlds.step(actions, alive.copy())
        for row in np.flatnonzero(alive).tolist():
            action = (
                int(actions[row])
                if isinstance(simulator.action, Choices)
                else actions[row].astype(np.float32)
            )
            seen, reward, ended, *_ = twins[row].step(action)
            assert np.array_equal(seen, after.observation[row])
            assert reward == after.reward[row]
            assert ended == after.ended[row]
        alive &= ~after.ended


def test_a_follower_that_is_forgotten_would_be_noticed() -> None:
    """The control of the test above: setting a mass alone gives another step."""
    simulator = open_gym("CartPole-v1")
    right = simulator.environment({"masspole": 0.5})
    stale = gymnasium.make("CartPole-v1")
    stale.unwrapped.masspole = 0.5
    for env in (right, stale):
        env.reset(seed=1)
    assert not np.array_equal(right.step(1)[0], stale.step(1)[0])


@pytest.mark.parametrize("gym_id", CLASSIC)
def test_applying_twice_is_applying_once_and_nominal_is_untouched(gym_id: str) -> None:
    simulator = open_gym(gym_id)
    values = drawn(simulator, CLASSIC[gym_id][1])
    assert same(played(simulator, values), played(simulator, values))
    nominal = {
        each.name: np.full(1, each.nominal)
        for each in simulator.parameters
        if each.name in values
    }
    assert same(played(simulator, nominal), played(simulator, {}))
    assert not same(
        played(simulator, {k: v[:1] for k, v in values.items()}), played(simulator, {})
    )


@pytest.mark.parametrize(
    ("text", "observation", "actions", "horizon", "bounds"),
    [
        ("CartPole-v1", 4, 2, 500, (1.0, 100.0)),
        ("MountainCar-v0", 2, 3, 200, (-100.0, 0.0)),
        ("Acrobot-v1", 6, 3, 500, (-100.0, 0.0)),
        ("FrozenLake-v1", 1, 4, 100, (0.0, 1.0)),
        ("CliffWalking-v1", 1, 4, None, (-10000.0, 0.0)),
        ("Taxi-v4", 1, 6, 200, (-1000.0, 20.0)),
        ("CartPole-v1?sutton_barto_reward=true", 4, 2, 500, None),
        ("CartPole-v1?max_episode_steps=7", 4, 2, 7, (1.0, 7.0)),
        ("Blackjack-v1", 3, 2, None, None),
    ],
)
def test_spaces_limits_and_bounds_are_those_of_the_environment(
    text: str,
    observation: int,
    actions: int,
    horizon: int | None,
    bounds: tuple[float, float] | None,
) -> None:
    simulator = open_gym(text)
    assert simulator.observation.size == observation
    assert isinstance(simulator.action, Choices)
    assert simulator.action.n == actions
    assert simulator.horizon == horizon
    assert simulator.return_bounds(100) == bounds


@pytest.mark.parametrize(
    "gym_id", [*CLASSIC, "FrozenLake-v1?is_slippery=false", "CliffWalking-v1"]
)
def test_a_world_is_put_where_an_observation_says(gym_id: str) -> None:
    simulator = open_gym(gym_id)
    name, nominal = simulator.parameters[0].name, simulator.parameters[0].nominal
    worlds: Any = simulator.instantiate({name: np.full(4, nominal)})
    seen = worlds.reset(np.arange(4))
    everyone = np.ones(4, np.bool_)
    actions = actions_for(simulator, 6, 4)
    for now in actions[:5]:
        seen = worlds.step(now, everyone).observation
    after = worlds.step(actions[5], everyone).observation
    other: Any = simulator.instantiate({name: np.full(4, nominal)})
    other.place(seen)
    again = other.step(actions[5], everyone).observation
    assert np.abs(again - after).max() < 1e-5  # shown in float32
    elsewhere = worlds.step(actions[4], everyone).observation
    if not isinstance(simulator.observation, Choices):
        assert np.abs(elsewhere - after).max() > 1e-5


def reached(success_rate: float, plan: FloatArray, steps: int) -> float:
    """Return the probability that a plan reaches the goal of the lake, exactly."""
    table = gymnasium.make("FrozenLake-v1", success_rate=success_rate).unwrapped.P
    value = np.zeros(16)
    for _ in range(steps):
        value = np.array(
            [
                sum(
                    p * (paid + (0.0 if over else value[to]))
                    for p, to, paid, over in table[state][int(plan[state])]
                )
                for state in range(16)
            ]
        )
    return float(value[0])


def test_a_table_that_is_run_as_a_black_box_has_the_value_of_its_table() -> None:
    plan = np.array([1, 2, 1, 0, 1, 0, 1, 0, 2, 1, 1, 0, 0, 2, 2, 0], np.float64)
    rows, rounds, steps = 50, 80, 30
    worlds = open_gym("FrozenLake-v1").instantiate({"success_rate": np.full(rows, 0.8)})
    returns: FloatArray = np.zeros((rounds, rows))
    for episode in range(rounds):
        seen = worlds.reset(np.arange(rows) + rows * episode)
        alive = np.ones(rows, np.bool_)
        for _ in range(steps):
            after = worlds.step(plan[seen[:, 0].astype(int)], alive.copy())
            returns[episode] += after.reward
            alive &= ~after.ended
            seen = after.observation
    error = 4.0 * returns.std() / np.sqrt(rounds * rows)
    assert abs(returns.mean() - reached(0.8, plan, steps)) < error
    assert abs(returns.mean() - reached(0.7, plan, steps)) > error  # the control
