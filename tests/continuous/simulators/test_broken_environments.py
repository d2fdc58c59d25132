"""What environments do wrong costs a refusal, or one episode, and never the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simgap.continuous import simulator_from_factory
from simgap.errors import SimgapError
from tests.continuous.simulators.broken_environments import (
    BROKEN,
    REFUSED,
    Fine,
    fine,
    late,
)

EVERYONE = np.ones(3, np.bool_)


def only_at(mass: float, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a factory that is wrong at one mass only."""

    def mixed(mass_: float) -> Any:
        return make(mass_) if mass_ == mass else Fine(mass_)

    return lambda mass=1.0: mixed(mass)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_wrong_in_every_episode_is_refused_at_once(kind: str) -> None:
    make, code = REFUSED[kind]
    with pytest.raises(SimgapError) as found:
        simulator_from_factory(make)
    assert found.value.code == code
    assert found.value.hint


@pytest.mark.parametrize("kind", BROKEN)
def test_a_row_that_breaks_costs_its_own_episode(kind: str) -> None:
    make, told = BROKEN[kind]
    simulator = simulator_from_factory(only_at(2.0, make))
    worlds = simulator.instantiate({"mass": np.array([1.0, 2.0, 3.0])})
    clean = simulator_from_factory(fine()).instantiate({"mass": np.array([1.0, 3.0])})
    worlds.reset(np.array([1, 2, 3]))
    clean.reset(np.array([1, 3]))
    actions = np.full((3, 2), 0.5)
    first = worlds.step(actions, EVERYONE)
    assert not first.broken
    second = worlds.step(actions, EVERYONE)
    assert list(second.broken) == [1]
    assert told in second.broken[1]
    assert second.ended.tolist() == [False, True, False]
    for _ in range(2):
        expected = clean.step(actions[:2], EVERYONE[:2])
    assert np.array_equal(second.observation[[0, 2]], expected.observation)
    assert np.array_equal(second.reward[[0, 2]], expected.reward)


@pytest.mark.parametrize("where", ["make", "reset"])
def test_a_row_that_does_not_start_breaks_at_its_first_step(where: str) -> None:
    def make(mass: float = 1.0) -> Any:
        if mass != 2.0:
            return Fine(mass)
        if where == "make":
            raise ValueError("too heavy")
        return fine(reset=lambda self, seed: 1 / 0)(mass)

    simulator = simulator_from_factory(make)
    worlds = simulator.instantiate({"mass": np.array([1.0, 2.0, 3.0])})
    shown = worlds.reset(np.array([1, 2, 3]))
    assert np.isfinite(shown).all()
    after = worlds.step(np.zeros((3, 2)), EVERYONE)
    assert list(after.broken) == [1]
    assert ("too heavy" if where == "make" else "ZeroDivisionError") in after.broken[1]
    assert after.ended.tolist() == [False, True, False]
    worlds.close()


def test_an_interruption_is_not_an_episode_that_broke() -> None:
    def stop(env: Any, result: Any) -> Any:
        raise KeyboardInterrupt

    worlds = simulator_from_factory(fine(step=late(stop))).instantiate({})
    worlds.reset(np.array([0]))
    worlds.step(np.zeros((1, 2)), EVERYONE[:1])
    with pytest.raises(KeyboardInterrupt):
        worlds.step(np.zeros((1, 2)), EVERYONE[:1])


def test_rows_that_are_over_are_not_stepped() -> None:
    simulator = simulator_from_factory(fine())
    worlds = simulator.instantiate({"mass": np.ones(3)})
    shown = worlds.reset(np.arange(3))
    actions = np.full((3, 2), 0.5)
    actions[1] = np.nan
    after = worlds.step(actions, np.array([True, False, True]))
    assert np.array_equal(after.observation[1], shown[1])
    assert after.reward[1] == 0.0
    assert after.ended.tolist() == [False, True, False]


def test_parameters_that_change_the_size_of_observations_are_refused() -> None:
    def make(mass: float = 1.0) -> Any:
        from gymnasium.spaces import Box

        env = Fine(mass)
        if mass > 1.0:
            env.observation_space = Box(-1.0, 1.0, (3,), np.float64)
        return env

    with pytest.raises(SimgapError) as found:
        simulator_from_factory(make).instantiate({"mass": np.array([1.0, 2.0])})
    assert found.value.code == "spaces-differ"
