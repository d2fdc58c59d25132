"""Which numbers of an environment are parameters, how they are set, what is refused."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv

from simgap.arrays import FloatArray
from simgap.continuous import Box, bind, episodes_differ, open_simulator
from simgap.continuous.simulators.gym_door import open_gym
from simgap.continuous.simulators.gym_parameters import computed_from
from simgap.errors import SimgapError


@pytest.mark.parametrize(
    ("text", "name", "ends", "acts"),
    [
        ("FrozenLake-v1", "success_rate", (0.2, 0.9), True),
        ("FrozenLake-v1?map_name=8x8", "success_rate", (0.2, 0.9), True),
        ("FrozenLake-v1?is_slippery=false", "success_rate", (0.2, 0.9), False),
        ("CliffWalking-v1", "is_slippery", (0.0, 1.0), True),
        ("Taxi-v4", "rainy_probability", (0.1, 0.9), False),
        ("Taxi-v4?is_rainy=true", "rainy_probability", (0.1, 0.9), True),
        ("Acrobot-v1", "LINK_LENGTH_1", (0.5, 2.0), True),
        ("Acrobot-v1", "LINK_LENGTH_2", (0.5, 2.0), False),  # unused by Gymnasium
    ],
)
def test_arguments_of_the_constructor_are_parameters(
    text: str, name: str, ends: tuple[float, float], acts: bool
) -> None:
    low, high = ({name: each} for each in ends)
    assert episodes_differ(open_gym(text), low, high) is acts


def test_numbers_that_others_were_computed_from_are_not_offered() -> None:
    offered = {each.name for each in open_gym("CartPole-v1").parameters}
    assert offered == {
        *("gravity", "masscart", "masspole", "length", "force_mag", "tau")
    }
    bound = computed_from(CartPoleEnv)
    assert bound["masspole"] in ("total_mass", "polemass_length")
    assert bound["x_threshold"] == "observation_space"  # through a local name
    assert "tau" not in bound


def test_a_number_that_others_were_computed_from_is_refused_by_what_follows() -> None:
    simulator = open_simulator("gym:CartPole-v1")
    bind("masspole=0.1..0.2 tau=0.01..0.03", simulator)  # its followers are known
    for name in ("x_threshold=2..3", "theta_threshold_radians=0.1..0.3"):
        with pytest.raises(SimgapError, match="observation_space") as found:
            bind(name, simulator)
        assert found.value.code == "parameter-with-followers"


class Stubborn(gymnasium.Env[FloatArray, int]):  # type: ignore[misc]
    """An environment with numbers of every kind."""

    observation_space = gymnasium.spaces.Box(-10.0, 10.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)
    gain = 2.0

    def __init__(self, push: float = 1.0, rounds: int = 3, loud: bool = False) -> None:
        self.push, self.rounds, self.loud = push, rounds, loud
        self.drag = 0.5
        self.half = self.drag / 2.0
        self.free = 4.0
        self.position = 0.0
        self.screen_scale = 3.0
        self.given: list[Any] = []

    @property
    def speed(self) -> float:
        return 1.0

    def reset(self, **rest: Any) -> tuple[FloatArray, dict[str, Any]]:
        super().reset(**rest)
        self.position = 0.0
        return np.zeros(1), {}

    def step(self, action: int) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.position += self.push * action * self.gain
        return np.array([self.position]), 0.0, False, False, {"success": True}


@pytest.fixture(autouse=True)
def registered() -> None:
    if "Stubborn-v0" not in gymnasium.registry:
        gymnasium.register("Stubborn-v0", entry_point=Stubborn)


def test_numbers_of_an_unknown_environment_are_found() -> None:
    simulator = open_gym("Stubborn-v0")
    assert {each.name for each in simulator.parameters} == {
        *("push", "rounds", "loud"),  # arguments
        *("gain", "free"),  # attributes; position is state, half follows drag
    }
    assert simulator.return_bounds(10) is None
    assert isinstance(simulator.observation, Box)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CartPol-v1", "no-environment"),
        ("Nothing-v0", "no-environment"),
        ("CartPole-v99", "no-environment"),
        ("CartPole-v1?gravity=9", "environment-not-made"),
        ("FrozenLake-v1?map_name=9x9", "environment-not-made"),
        ("CartPole-v1?render_mode", "bad-argument"),
        ("CartPole-v1?a=1&a=2", "bad-argument"),
    ],
)
def test_texts_that_name_nothing_are_refused(text: str, code: str) -> None:
    with pytest.raises(SimgapError) as found:
        open_gym(text)
    assert found.value.code == code


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"mas": np.ones(2)}, "no-such-parameter"),
        ({"masspole": np.array([-0.1])}, "outside-domain"),
        ({"masspole": np.array([0.0])}, "outside-domain"),
        ({"tau": np.array([np.nan])}, "outside-domain"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    values: dict[str, FloatArray], code: str
) -> None:
    with pytest.raises(SimgapError) as found:
        open_gym("CartPole-v1").instantiate(values)
    assert found.value.code == code
