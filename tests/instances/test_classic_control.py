"""Classic control: the equations are Gymnasium's, and the tables mean what they say."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.instances import (
    Terminal,
    build_instance,
    classic_control,
)
from simgap.instances.classic_physics import CONTROLS, TORQUE
from simgap.mdp import Interpolation, NodeSet, Rounding
from simgap.planning import solve_episodic
from simgap.planning.connectivity import communicating
from simgap.policies import GridPlayer, MarkovPolicy
from tests.instances.gymnasium_worlds import true_environment

IDS = tuple(CONTROLS)
WIDE = {  # where parameters are drawn from
    "mass": (0.2, 3.0),
    "length": (0.3, 2.0),
    "g": (0.0, 20.0),
    "gravity": (0.0, 15.0),
    "force": (-0.002, 0.002),
    "masscart": (0.3, 3.0),
    "masspole": (0.05, 1.0),
    "force_mag": (-15.0, 15.0),
}


def drawn_thetas(gym_id: str, count: int, seed: int) -> list[dict[str, float]]:
    random = np.random.default_rng(seed)
    wide = WIDE | ({"gravity": (0.0, 0.005)} if gym_id == "MountainCar-v0" else {})
    return [
        {name: random.uniform(*wide[name]) for name in CONTROLS[gym_id].parameters}
        for _ in range(count)
    ]


def small(gym_id: str, theta: dict[str, float]) -> Any:
    grid = {name: (value,) for name, value in theta.items()}
    return classic_control(gym_id, grid=grid, cells=4, states=NodeSet.ALL)


@pytest.mark.parametrize("gym_id", IDS)
def test_one_step_is_gymnasiums_own_step(gym_id: str) -> None:
    """Practical DR 1.5: one step in float64 within 1e-12, flags and rewards equal."""
    known, random = CONTROLS[gym_id], np.random.default_rng(1)
    low, high = (
        [getattr(c, end) for c in known.coordinates] for end in ("low", "high")
    )
    flags = []
    for theta in drawn_thetas(gym_id, 12, seed=2):
        env = true_environment(small(gym_id, theta), 0)
        inner: Any = env.unwrapped
        env.reset(seed=0)
        stretch = 1.0 if gym_id == "MountainCar-v0" else 1.4
        states = random.uniform(low, high, (60, len(low))) * stretch
        states[0], states[1] = low, high
        levels = known.actions or (-3.0, -1.3, 0.0, 0.4, 2.0, 3.0)  # some beyond 2
        actions = random.choice(levels, 60)
        moved = known.step(theta, states, actions)
        for i, (state, action) in enumerate(zip(states, actions, strict=True)):
            inner.state = np.array(state)
            inner.steps_beyond_terminated = None  # CartPole counts them
            _, reward, ended, _, _ = inner.step(known.played(float(action)))
            np.testing.assert_allclose(moved.state[i], inner.state, rtol=0, atol=1e-12)
            assert moved.reward[i] == pytest.approx(reward, rel=1e-14)
            assert bool(moved.ended[i]) == ended
            flags.append(ended)
        env.close()
    assert any(flags) is known.ends
    assert not all(flags)


@pytest.mark.parametrize(("gym_id", "atol"), [(IDS[0], 1e-8), (IDS[1], 1e-12)])
def test_two_hundred_steps_stay_with_gymnasium(gym_id: str, atol: float) -> None:
    known, random = CONTROLS[gym_id], np.random.default_rng(5)
    for theta in drawn_thetas(gym_id, 3, seed=7):
        env = true_environment(small(gym_id, theta), 0)
        inner: Any = env.unwrapped
        env.reset(seed=11)
        state = np.array(inner.state, np.float64)[None]
        for _ in range(200):
            action = random.choice(known.actions or (-2.0, -0.7, 0.0, 1.1, 2.0))
            moved = known.step(theta, state, np.array([action]))
            inner.step(known.played(float(action)))
            state = moved.state
            np.testing.assert_allclose(state[0], inner.state, rtol=0, atol=atol)
        env.close()


def test_a_changed_parameter_changes_gymnasium_too() -> None:
    """The control of the tests above: another theta is another step."""
    for gym_id, known in CONTROLS.items():
        first, second = drawn_thetas(gym_id, 2, seed=4)
        state = np.array([[0.1 * (i + 1) for i in range(len(known.coordinates))]])
        state = state * [c.high for c in known.coordinates]
        action = np.array([known.actions[-1] if known.actions else 1.0])
        one, other = (known.step(t, state, action).state for t in (first, second))
        assert np.abs(one - other).max() > 1e-5
    env = true_environment(
        small("CartPole-v1", drawn_thetas("CartPole-v1", 1, 9)[0]), 0
    )
    inner: Any = env.unwrapped
    assert inner.total_mass == inner.masspole + inner.masscart
    assert inner.polemass_length == inner.masspole * inner.length
    env.close()


@pytest.mark.parametrize("gym_id", IDS)
@pytest.mark.parametrize("scheme", Interpolation)
def test_rows_are_laws_with_the_simulators_step_as_mean(
    gym_id: str, scheme: Interpolation
) -> None:
    name = next(iter(CONTROLS[gym_id].parameters))
    default = CONTROLS[gym_id].parameters[name].default
    table = classic_control(
        gym_id,
        grid={name: (0.8 * default, default, 1.2 * default)},
        cells=7 if gym_id != "CartPole-v1" else 5,
        scheme=scheme,
        states=NodeSet.ALL,
    )
    worlds, grid, physics = table.simulators, table.grid, table.physics
    assert worlds.n_states == grid.size + (1 if physics.ends else 0)
    points = grid.points
    for m, theta in enumerate(table.thetas):
        kernel = worlds.transitions.array(m)
        np.testing.assert_allclose(kernel.sum(axis=2), 1.0, atol=1e-14)
        for a, action in enumerate(physics.actions):
            moved = physics.moved(theta, points, np.full(grid.size, action))
            inside = ~moved.ended & (grid.beyond(moved.state) == 0.0).all(axis=1)
            assert inside.any()
            rows = kernel[: grid.size, a, : grid.size]
            for i, axis in enumerate(grid.axes):
                turn = axis.high - axis.low if axis.periodic else np.inf
                away = points[None, :, i] - moved.state[:, None, i]
                away -= np.where(np.isfinite(turn), turn, 0.0) * np.round(away / turn)
                mean = (rows * away).sum(axis=1)
                np.testing.assert_allclose(mean[inside], 0.0, atol=1e-12)
            if physics.ends:
                np.testing.assert_array_equal(
                    kernel[: grid.size, a, -1], moved.ended.astype(np.float64)
                )


def test_rewards_of_the_pendulum_are_shared_and_its_own() -> None:
    table = classic_control("Pendulum-v1", grid={"mass": (0.5, 2.0)}, cells=9)
    worlds = table.simulators
    assert worlds.shared_rewards
    assert worlds.rewards.max() == 0.0
    assert worlds.rewards.min() >= -(pi**2 + 6.4 + 0.004)
    for s, name in enumerate(worlds.labels.states):
        angle, speed = (float(part.partition("=")[2]) for part in name.split())
        for a, torque in enumerate(table.physics.actions):
            cost = angle**2 + 0.1 * speed**2 + 0.001 * torque**2
            told = float(worlds.rewards[0, s, a])
            assert told == pytest.approx(-cost, abs=0.02)  # names have three digits
    assert worlds.labels.actions == (
        "torque=-2",
        "torque=-1",
        "torque=0",
        "torque=1",
        "torque=2",
    )


def test_the_car_pays_one_a_step_and_the_pole_earns_one() -> None:
    car, pole = (
        build_instance("discretise:MountainCar-v0?cells=9"),
        build_instance("discretise:CartPole-v1"),
    )
    for worlds, alive in ((car, -1.0), (pole, 1.0)):
        assert np.unique(worlds.rewards[:, :-1]).tolist() == [alive]
        assert np.unique(worlds.rewards[:, -1]).tolist() == [0.0]
        assert worlds.labels.states[-1] == "end"


def test_starts_are_those_of_gymnasium() -> None:
    pendulum = classic_control("Pendulum-v1", cells=(8, 17), states=NodeSet.ALL)
    law = pendulum.simulators.start_law(0).reshape(8, 17)
    assert law.sum(axis=1) == pytest.approx(np.full(8, 1 / 8))
    assert law.sum(axis=0)[7:10] == pytest.approx([1 / 4, 1 / 2, 1 / 4])
    car = classic_control("MountainCar-v0", cells=(35, 15), states=NodeSet.ALL)
    law = car.simulators.start_law(0)[:-1]
    assert law @ car.grid.points == pytest.approx([-0.5, 0.0])
    used = car.grid.points[law > 0.0]
    assert used[:, 0].min() == pytest.approx(-0.6) and (used[:, 1] == 0.0).all()
    pole = classic_control("CartPole-v1", states=NodeSet.ALL)
    law = pole.simulators.start_law(0)[:-1]
    assert law @ pole.grid.points == pytest.approx(np.zeros(4), abs=1e-15)
    assert law.max() == law[pole.grid.nearest(np.zeros((1, 4)))[0]]


@pytest.mark.parametrize(
    ("spec", "members"),
    [
        ("Pendulum-v1?mass=0.7,1.3&length=0.8:1.2:3&cells=21x21", 6),
        ("MountainCar-v0?gravity=0.002,0.003&force=0.0008,0.0012&cells=25x25", 4),
        ("CartPole-v1?length=0.3,0.7&masspole=0.1,0.3", 4),
    ],
)
def test_every_model_communicates_by_default(spec: str, members: int) -> None:
    worlds = build_instance("discretise:" + spec)
    assert len(worlds) == members
    assert communicating(worlds).all()


def test_a_heavier_pendulum_is_harder_and_a_light_one_is_simply_lifted() -> None:
    """Torque u holds the angle x if u >= m g l sin(x) / 2: below 0.4 kg, everywhere."""
    masses = (0.2, 0.6, 1.0, 1.4)
    table = classic_control("Pendulum-v1", grid={"mass": masses}, cells=31)
    worlds, horizon = table.simulators, 120
    plan = solve_episodic(worlds, horizon)
    assert (np.diff(plan.start) < 0.0).all()
    lifted = np.array([[0.5 * pi, 0.0]])
    for mass, theta in zip(masses, table.thetas, strict=True):
        moved = table.physics.moved(theta, lifted, np.array([-TORQUE]))
        assert (moved.state[0, 1] < 0.0) == (mass < 0.4)


def play(
    table: Any, policy: MarkovPolicy, episodes: int, horizon: int, rounding: Rounding
) -> FloatArray:
    """Return what a policy on the table gets in Gymnasium's own simulator."""
    return np.array(
        [
            sum(rewards(table, policy, horizon, rounding, seed))
            for seed in range(episodes)
        ]
    )


def rewards(
    table: Any, policy: MarkovPolicy, horizon: int, rounding: Rounding, seed: int
) -> list[float]:
    """Return the rewards of an episode, which may end before the horizon."""
    player = GridPlayer(policy, table, rounding=rounding, seed=seed)
    env = true_environment(table, 0)
    observation, _ = env.reset(seed=seed)
    player.reset(observation)
    found: list[float] = []
    ended = False
    while len(found) < horizon and not ended:
        observation, reward, ended, _, _ = env.step(player.act(observation))
        found.append(float(reward))
    env.close()
    return found


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize(
    ("gym_id", "horizon", "cells"),
    [("MountainCar-v0", 200, (61, 61)), ("CartPole-v1", 500, None)],
)
def test_the_tables_plan_solves_the_true_environment(
    gym_id: str, horizon: int, cells: Any, rounding: Rounding
) -> None:
    """Gymnasium's threshold of a solved task: -110 (car), 475 (pole); not by chance."""
    import gymnasium

    threshold = gymnasium.spec(gym_id).reward_threshold
    assert threshold in (-110.0, 475.0)
    table = classic_control(gym_id, cells=cells, terminal=Terminal.ABSORB)
    worlds = table.simulators
    best = MarkovPolicy(
        "plan", worlds.n_actions, solve_episodic(worlds, horizon).policy[0]
    )
    assert play(table, best, 8, horizon, rounding).mean() > threshold
    even = np.full((worlds.n_states, worlds.n_actions), 1.0 / worlds.n_actions)
    chance = MarkovPolicy("random", worlds.n_actions, even)
    assert play(table, chance, 4, horizon, rounding).mean() < threshold


def test_the_pendulum_is_held_upright_in_gymnasium() -> None:
    """The last 20 costs stay below 0.3: within half a radian, and nearly still."""
    table = classic_control("Pendulum-v1", grid={"mass": 0.7}, cells=31)
    n_states, horizon = table.simulators.n_states, 150
    plan = solve_episodic(table.simulators, horizon).policy[0]
    for actions, upright in ((plan, True), (np.full(n_states, 2), False)):
        policy = MarkovPolicy("plan" if upright else "no torque", 5, actions)
        for seed in range(4):
            found = rewards(table, policy, horizon, Rounding.NEAREST, seed)
            assert bool(min(found[-20:]) > -0.3) is upright
