"""Actions that arrive late, at every simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.continuous import Box, Choices, open_simulator
from simgap.continuous.simulators.delay import neutral_action
from simgap.errors import SimgapError
from tests.continuous.simulators.broken_environments import Fine, fine

STEPS = 12


def arrived(delays: list[float], mass: float = 1.0) -> list[list[float]]:
    """Return what arrives in each world when 1, 2, ... is chosen: its moves."""
    simulator = open_simulator(fine())
    size = len(delays)
    values = {"delay": np.array(delays), "mass": np.full(size, mass)}
    worlds = simulator.instantiate(values)
    found: FloatArray = np.zeros((STEPS, size))
    for _ in range(2):  # a second episode begins with nothing chosen
        seen = worlds.reset(np.arange(size))
        for step in range(STEPS):
            chosen = np.full((size, 2), step + 1.0)
            after = worlds.step(chosen, np.ones(size, np.bool_)).observation
            found[step] = (after - seen)[:, 0]
            seen = after
    moves: list[list[float]] = np.round(found.T, 9).tolist()
    return moves


def test_what_was_chosen_arrives_after_the_delay() -> None:
    delays = [0, 1, 3, 11, 20]
    for delay, got in zip(delays, arrived([float(d) for d in delays]), strict=True):
        assert got == [float(max(0, step + 1 - delay)) for step in range(STEPS)]


def test_a_delay_alone_says_how_many_worlds_there_are() -> None:
    worlds = open_simulator("gym:CartPole-v1").instantiate(
        {"delay": np.array([0, 1, 2])}
    )
    assert worlds.reset(np.arange(3)).shape == (3, 4)


@pytest.mark.parametrize("delay", [-1.0, 21.0, 0.5, np.nan])
def test_delays_are_whole_steps_from_0_to_20(delay: float) -> None:
    with pytest.raises(SimgapError) as found:
        open_simulator(Fine).instantiate({"delay": np.array([delay])})
    assert found.value.code == "outside-domain"


def test_a_factory_may_have_a_delay_of_its_own() -> None:
    def make(delay: float = 3.0) -> Any:
        return Fine(delay)

    simulator = open_simulator(make)
    assert [each.nominal for each in simulator.parameters] == [3.0]


def test_the_neutral_action_is_the_nearest_to_zero() -> None:
    space = Box(np.array([-1.0, 0.5, -3.0]), np.array([1.0, 2.0, -2.0]))
    assert neutral_action(space, 2).tolist() == [[0.0, 0.5, -2.0]] * 2
    assert neutral_action(Choices(4), 2).tolist() == [0.0, 0.0]
