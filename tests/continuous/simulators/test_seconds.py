"""How long a step is, where a simulator knows: the same as Gymnasium's."""

from __future__ import annotations

from typing import Any

import pytest

from simgap.continuous import open_simulator

gymnasium = pytest.importorskip("gymnasium")


@pytest.mark.parametrize(
    ("name", "gym_id", "attribute"),
    [
        ("pendulum", "Pendulum-v1", "dt"),
        ("gym:Pendulum-v1", "Pendulum-v1", "dt"),
        ("cartpole", "CartPole-v1", "tau"),
        ("cart-pole-force", "CartPole-v1", "tau"),
        ("gym:CartPole-v1", "CartPole-v1", "tau"),
        ("acrobot", "Acrobot-v1", "dt"),
        ("gym:Acrobot-v1", "Acrobot-v1", "dt"),
    ],
)
def test_a_step_is_as_long_as_that_of_gymnasium(
    name: str, gym_id: str, attribute: str
) -> None:
    simulator: Any = open_simulator(name)
    env = gymnasium.make(gym_id)
    assert simulator.seconds == pytest.approx(getattr(env.unwrapped, attribute))
    env.close()


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("hopper", 0.008), ("half-cheetah", 0.05), ("inverted-pendulum", 0.04)],
)
def test_a_step_of_mujoco_is_as_long_as_gymnasium_documents(
    name: str, seconds: float
) -> None:
    """Its time step by the frames for one action: 4 x 0.002 s of a Hopper."""
    simulator: Any = open_simulator(name)
    assert simulator.seconds == pytest.approx(seconds)
