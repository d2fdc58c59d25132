"""Whether a parameter acts: late, seldom, or never."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.continuous import (
    episodes_differ,
    open_simulator,
    repetition,
)
from tests.continuous.simulators.broken_environments import Fine


class Walled(Fine):
    """A point between walls, with a parameter of every kind of effect."""

    def __init__(
        self,
        mass: float = 1.0,
        wall: float = 40.0,
        fuel: int = 150,
        colour: float = 0.5,
        bonus: float = 0.0,
        start: float = 0.0,
        fragile: float = 0.0,
    ) -> None:
        super().__init__(mass)
        self.wall, self.fuel, self.colour, self.bonus = wall, fuel, colour, bonus
        self.start, self.fragile = start, fragile

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = self.at + self.start
        return self.at, {}

    def step(self, action: Any) -> Any:
        if self.fragile > 0.5 and self.count == 100:
            raise RuntimeError("it broke")
        seen, reward, *_ = super().step(action if self.count < self.fuel else 0.0)
        self.at = np.clip(seen, -self.wall, self.wall)
        return self.at, reward + self.bonus, False, False, {}


@pytest.mark.parametrize(
    ("name", "ends", "acts"),
    [
        ("mass", (0.5, 2.0), True),
        ("wall", (30.0, 60.0), True),  # far away: actions must be held to get there
        ("fuel", (120, 180), True),  # late
        ("bonus", (0.0, 0.1), True),  # only in the reward
        ("start", (0.0, 0.1), True),  # only in the first observation
        ("fragile", (0.0, 1.0), True),  # only in that it breaks
        ("colour", (0.0, 1.0), False),
        ("wall", (1e6, 2e6), False),  # never reached
    ],
)
def test_an_effect_is_found_where_there_is_one(
    name: str, ends: tuple[float, float], acts: bool
) -> None:
    simulator = open_simulator(Walled)
    assert episodes_differ(simulator, {name: ends[0]}, {name: ends[1]}) is acts


def test_an_effect_may_need_another_value_of_another_parameter() -> None:
    simulator = open_simulator("gym:FrozenLake-v1?is_slippery=false")
    low, high = {"success_rate": 0.2}, {"success_rate": 0.9}
    slippery = {"is_slippery": 1.0}
    assert not episodes_differ(simulator, low, high)
    assert episodes_differ(simulator, low | slippery, high | slippery)


def test_the_delay_acts() -> None:
    assert episodes_differ(open_simulator(Walled), {"delay": 0}, {"delay": 1})


class SeedIgnored(Fine):
    """One that draws its start from somewhere else."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset()


class Worn(Fine):
    """One that every episode wears out a little."""

    worn = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.worn += 1e-9
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        return super().step(action * (1.0 - self.worn))


class Global(Fine):
    """One that draws from the generator of the process."""

    def step(self, action: Any) -> Any:
        return super().step(action + np.random.random())  # noqa: NPY002


class Shared(Fine):
    """One whose worlds all have the mass of the latest."""

    latest = 1.0

    def __init__(self, mass: float = 1.0) -> None:
        super().__init__(mass)
        Shared.latest = mass

    def step(self, action: Any) -> Any:
        return super().step(action / Shared.latest)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (Fine, "repeats"),
        (SeedIgnored, "seed-ignored"),
        (Worn, "episodes-share-state"),
        (Global, "global-random-state"),
        (Shared, "worlds-share-state"),
    ],
)
def test_what_keeps_an_episode_from_repeating_is_named(kind: Any, code: str) -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002
    found = repetition(open_simulator(kind), {"mass": 0.5}, {"mass": 2.0})
    assert found == code
    if kind is not Global:
        assert np.random.get_state()[1].tolist() == before  # type: ignore[index] # noqa: NPY002


@pytest.mark.parametrize("name", ["gym:FrozenLake-v1", "gym:Acrobot-v1", "hopper"])
def test_worlds_that_ship_with_it_begin_anew(name: str) -> None:
    if name == "hopper":
        pytest.importorskip("mujoco")
    assert repetition(open_simulator(name)) == "repeats"
