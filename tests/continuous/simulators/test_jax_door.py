"""The JAX door: equations become worlds, the same ones for every batch and seed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.continuous import (
    Box,
    Choices,
    Parameter,
    Stepped,
    episode_keys,
    open_jax,
)
from simgap.continuous.simulators.tasks.catalogue import TASKS
from simgap.errors import InvalidArgument

jax = pytest.importorskip("jax")
jnp = jax.numpy

NAMES = tuple(TASKS)
ROWS = 5


def values(simulator: Any, rows: int = ROWS, seed: int = 0) -> dict[str, Any]:
    """Return parameters around the nominal ones, in their domains."""
    random = np.random.default_rng(seed)
    drawn = {}
    for each in simulator.parameters:
        moved = each.nominal * random.uniform(0.7, 1.3, rows)
        if each.nominal == 0.0:
            moved = random.uniform(0.0, 0.5, rows)
        drawn[each.name] = random.choice([-1.0, 1.0], rows) if each.whole else moved
    return drawn


def actions(simulator: Any, rows: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    if isinstance(simulator.action, Choices):
        return random.integers(simulator.action.n, size=rows)
    return random.uniform(
        simulator.action.low, simulator.action.high, (rows, simulator.action.size)
    )


def episode(simulator: Any, theta: Any, seeds: Any, steps: int) -> list[Stepped]:
    worlds = simulator.instantiate(theta)
    seen = worlds.reset(np.asarray(seeds))
    rows = len(seen)
    told = [Stepped(seen, np.zeros(rows), np.zeros(rows, bool))]
    for i in range(steps):
        acted = actions(simulator, ROWS, i)[:rows]
        told.append(worlds.step(acted, np.ones(rows, bool)))
    worlds.close()
    return told


def joined(told: list[Stepped]) -> Any:
    return np.concatenate(
        [np.column_stack([each.observation, each.reward, each.ended]) for each in told]
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes_and_another_one_another_start(
    name: str,
) -> None:
    simulator = open_jax(name)
    theta, seeds = values(simulator), np.arange(ROWS) + 2**40
    first, second = (joined(episode(simulator, theta, seeds, 30)) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    other = joined(episode(simulator, theta, seeds + 2**33, 0))
    assert (other != first[:ROWS]).any(axis=1).all()


@pytest.mark.parametrize("name", ["cartpole", "heading"])
def test_worlds_and_pure_functions_run_the_same_episode(name: str) -> None:
    """Training maps `begin` and `advance` itself, here inside one scan."""
    simulator = open_jax(name)
    theta, seeds = values(simulator), np.arange(ROWS) + 3
    acted = np.stack([actions(simulator, ROWS, i) for i in range(20)])

    def run(theta: Any, keys: Any, acted: Any) -> Any:
        state, seen = jax.vmap(simulator.begin)(theta, keys)
        step = jax.vmap(simulator.advance, in_axes=(0, 0, 0, 0, None))

        def body(state: Any, given: Any) -> Any:
            after = step(state, given[0], theta, keys, given[1])
            return after.state, (after.observation, after.reward)

        _, told = jax.lax.scan(body, state, (acted, jnp.arange(1, 21)))
        return seen, told

    inside = {key: jnp.asarray(each, jnp.float32) for key, each in theta.items()}
    kind = np.int32 if isinstance(simulator.action, Choices) else np.float32
    seen, (after, reward) = jax.jit(run)(
        inside, episode_keys(seeds), acted.astype(kind)
    )
    told = episode(simulator, theta, seeds, 20)
    np.testing.assert_allclose(told[0].observation, seen, atol=1e-6)
    for i, each in enumerate(told[1:]):
        np.testing.assert_allclose(each.observation, after[i], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(each.reward, reward[i], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_meaning_and_changes_an_episode(name: str) -> None:
    simulator = open_jax(name)
    every = {each.name: np.full(ROWS, each.nominal) for each in simulator.parameters}
    nominal = joined(episode(simulator, every, range(ROWS), 30))
    for each in simulator.parameters:
        assert each.meaning
        assert each.allows(each.nominal)
        moved = -1.0 if each.whole else 1.3 * each.nominal or 0.3
        other = every | {each.name: np.full(ROWS, moved)}
        changed = joined(episode(simulator, other, range(ROWS), 30))
        assert np.abs(changed - nominal).max() > 1e-6, each.name


@pytest.mark.parametrize("name", NAMES)
def test_a_placed_world_shows_the_observation_and_moves_like_the_first(
    name: str,
) -> None:
    simulator = open_jax(name)
    theta = values(simulator) | ({"gusts": np.zeros(ROWS)} if name[:2] == "po" else {})
    here: Any = simulator.instantiate(theta)
    there: Any = simulator.instantiate(theta)
    seen = here.reset(np.arange(ROWS))
    for i in range(4):
        seen = here.step(actions(simulator, ROWS, i), np.ones(ROWS, bool)).observation
    there.place(seen)
    for i in range(2):
        one, other = (
            each.step(actions(simulator, ROWS, 9 + i), np.ones(ROWS, bool))
            for each in (here, there)
        )
        np.testing.assert_allclose(one.observation, other.observation, atol=1e-5)
        np.testing.assert_allclose(one.reward, other.reward, atol=1e-5)
        np.testing.assert_array_equal(one.ended, other.ended)
    there.place(seen + 0.05)
    other = there.step(actions(simulator, ROWS, 9), np.ones(ROWS, bool))
    assert np.abs(one.observation - other.observation).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_returns_keep_their_bounds(name: str) -> None:
    simulator = open_jax(name)
    assert simulator.horizon is not None
    steps = min(simulator.horizon, 100)
    bounds = simulator.return_bounds(steps)
    assert bounds is not None
    low, high = bounds
    told = episode(simulator, values(simulator), np.arange(ROWS), steps)[1:]
    ended = np.logical_or.accumulate([each.ended for each in told])
    alive = np.vstack([np.ones((1, ROWS), bool), ~ended[:-1]])
    returns = (np.array([each.reward for each in told]) * alive).sum(axis=0)
    assert (low <= returns).all()
    assert (returns <= high).all()
    beyond = simulator.return_bounds(10 * simulator.horizon)
    assert beyond == simulator.return_bounds(simulator.horizon)


def test_an_episode_is_over_at_the_horizon_and_not_before() -> None:
    told = episode(open_jax("pendulum"), {}, [1], 201)
    assert [i for i, each in enumerate(told) if each.ended[0]] == [200, 201]


def drift(**changed: Any) -> Any:
    """Return a task of one's own: an object with the names of a task."""
    given: dict[str, Any] = {
        "parameters": {"push": 1.0, "noise": 0.0},
        "observation": Box(np.array([-np.inf]), np.array([np.inf])),
        "action": Box(np.array([-1.0]), np.array([1.0])),
        "start": lambda theta, key: {"x": jax.random.normal(key, (1,)), "n": 0},
        "observe": lambda state, theta, key: state["x"],
        "step": lambda state, action, theta, key: (
            {
                "x": state["x"]
                + theta["push"] * action
                + theta["noise"] * jax.random.normal(key, (1,)),
                "n": state["n"] + 1,
            },
            -jnp.abs(state["x"][0]),
            state["n"] >= 2,
        ),
    }
    return SimpleNamespace(**given | changed)


def test_an_object_with_the_functions_of_a_task_is_a_simulator() -> None:
    simulator = open_jax(drift(name="drift"))
    assert (simulator.name, open_jax(drift()).name) == ("drift", "SimpleNamespace")
    assert simulator.parameters[0] == Parameter("push", 1.0)
    assert simulator.return_bounds(5) is None
    worlds = simulator.instantiate({"push": np.array([0.0, 1.0, 2.0])})
    start = worlds.reset(np.array([1, 1, 2]))
    assert start[0] == start[1] != start[2]
    one = np.ones((3, 1))
    after = worlds.step(one, np.ones(3, bool))
    np.testing.assert_allclose(after.observation - start, [[0], [1], [2]], atol=1e-6)
    np.testing.assert_allclose(after.reward, -np.abs(start[:, 0]))
    assert [worlds.step(one, np.ones(3, bool)).ended.all() for _ in range(2)] == [0, 1]
    assert not hasattr(worlds, "place")  # nobody said how
    assert hasattr(open_jax("pendulum").instantiate({}), "place")


def test_noise_belongs_to_the_seed_and_the_step() -> None:
    simulator = open_jax(drift())
    told = [
        joined(episode(simulator, {"noise": np.array([1.0])}, [seed], 3))
        for seed in (7, 7, 8)
    ]
    assert told[0].tobytes() == told[1].tobytes()
    moves = np.diff([each[:, 0] for each in told], axis=1)
    assert len(np.unique(moves[1:].round(6))) == 6  # every step draws anew


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"observation": None}, "InvalidArgument"),
        ({"parameters": ("push",)}, "InvalidArgument"),
        ({"parameters": (Parameter("a", 1.0),) * 2}, "InvalidArgument"),
        ({"observe": lambda state, theta, key: state["x"][0]}, "wrong-shape"),
        ({"step": lambda s, a, theta, key: (s, s["x"], False)}, "wrong-shape"),
        ({"step": lambda s, a, theta, key: (s, 0.0, s["x"] > 0)}, "wrong-shape"),
        ({"step": lambda s, a, theta, key: (s["x"], 0.0, False)}, "wrong-shape"),
        (
            {"step": lambda s, a, theta, key: (s | {"n": 0.5}, 0.0, False)},
            "wrong-shape",
        ),
        ({"step": lambda s, a, theta: (s, 0.0, False)}, "cannot-be-traced"),
        ({"start": lambda theta, key: theta["mass"]}, "cannot-be-traced"),
        (
            {"step": lambda s, a, t, k: (s, 1.0 if s["x"][0] > 0 else 0.0, False)},
            "cannot-be-traced",
        ),
    ],
)
def test_a_task_that_does_not_fit_is_refused_when_it_is_opened(
    changed: Any, code: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        open_jax(drift(**changed))
    assert refused.value.code == code
    assert refused.value.hint


def test_what_is_no_task_and_what_has_no_name_is_refused() -> None:
    for thing, code in (
        (SimpleNamespace(start=1), "not-a-task"),
        ("pendulm", "no-such-task"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            open_jax(thing)
        assert refused.value.code == code
    assert "pendulum" in refused.value.hint


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"masss": np.ones(2)}, "no-such-parameter"),
        ({"mass": np.array([1.0, -1.0])}, "outside-domain"),
        ({"mass": np.array([np.nan])}, "outside-domain"),
        ({"mass": np.ones(2), "length": np.ones(3)}, "InvalidArgument"),
        ({"mass": np.ones((2, 1))}, "InvalidArgument"),
        ({"mass": np.ones(0)}, "InvalidArgument"),
    ],
)
def test_values_that_do_not_fit_are_refused(given: Any, code: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        open_jax("pendulum").instantiate(given)
    assert refused.value.code == code
