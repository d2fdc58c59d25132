"""A user's `make(**theta)`: what is read from its file, and what is refused in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box as GymBox, Dict, Discrete, MultiBinary, Tuple

from simgap.continuous import (
    Box,
    Choices,
    Parameter,
    episodes_differ,
    open_simulator,
    simulator_from_factory,
)
from simgap.errors import SimgapError
from tests.continuous.simulators.broken_environments import Fine, fine

SOURCE = '''
"""A cart on a rail in gusts of wind."""
import gymnasium
import numpy as np

class Cart(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, mass, wind, gears, heavy):
        self.mass, self.wind, self.gears, self.heavy = mass, wind, gears, heavy

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = self.np_random.normal(size=2)
        return self.state.copy(), {}

    def step(self, action):
        x, v = self.state
        gust = self.wind * self.np_random.normal()
        v = v + 0.1 * (float(action[0]) * self.gears + gust) / self.mass
        self.state = np.array([x + 0.1 * v, v])
        there = bool(abs(x) < 0.1)
        return self.state.copy(), -abs(x), False, False, {"is_success": there}

def make(mass=1.0, wind=0.3, gears=2, heavy=False, note="mine", render_mode=None):
    assert isinstance(gears, int) and isinstance(heavy, bool), (gears, heavy)
    return Cart(mass + heavy, wind, gears, heavy)
'''
MORE = """
PARAMETERS = {"mass": (0.1, 10.0), "wind": (0.0, 0.5, 2.0)}
RETURNS = (-500, 0)
HORIZON = 20

def set_state(env, observation):
    env.state = observation
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cart.py"
    path.write_text(SOURCE)
    return path


def test_numbers_among_the_defaults_are_parameters(file: Path) -> None:
    simulator = open_simulator(f"{file}:make")
    nominal = {each.name: each.nominal for each in simulator.parameters}
    assert nominal == {"mass": 1.0, "wind": 0.3, "gears": 2.0, "heavy": 0.0, "delay": 0}
    assert simulator.horizon is None
    assert simulator.return_bounds(10) is None
    assert isinstance(simulator.action, Box)


def test_what_a_file_declares_is_kept(file: Path) -> None:
    file.write_text(SOURCE + MORE)
    simulator = open_simulator(f"{file}:make")
    mass, wind, *_ = simulator.parameters
    assert (mass.low, mass.nominal, mass.high) == (0.1, 1.0, 10.0)
    assert (wind.low, wind.nominal, wind.high) == (0.0, 0.5, 2.0)
    assert simulator.return_bounds(7) == (-500.0, 0.0)
    assert simulator.horizon == 20


def test_noise_of_the_environment_comes_from_the_seed(file: Path) -> None:
    simulator = open_simulator(f"{file}:make")
    worlds = simulator.instantiate({"wind": np.array([0.3, 0.3, 0.3])})
    worlds.reset(np.array([1, 1, 2]))
    after = worlds.step(np.zeros((3, 1)), np.ones(3, np.bool_))
    assert np.array_equal(after.observation[0], after.observation[1])
    assert not np.array_equal(after.observation[0], after.observation[2])
    assert after.success is not None
    assert after.success.dtype == np.bool_


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("mass", (0.5, 2.0)),
        ("wind", (0.1, 0.2)),
        ("gears", (1, 3)),
        ("heavy", (0, 1)),
    ],
)
def test_every_parameter_of_the_file_acts(
    file: Path, name: str, ends: tuple[float, float]
) -> None:
    simulator = open_simulator(f"{file}:make")
    assert episodes_differ(simulator, {name: ends[0]}, {name: ends[1]})


def test_a_world_is_put_where_an_observation_says(file: Path) -> None:
    file.write_text(SOURCE + MORE)
    simulator = open_simulator(f"{file}:make")
    worlds: Any = simulator.instantiate({"wind": np.zeros(2)})
    where = np.array([[0.5, -1.0], [2.0, 0.0]])
    worlds.place(where)
    after = worlds.step(np.array([[1.0], [0.0]]), np.ones(2, np.bool_)).observation
    assert after[0] == pytest.approx([0.5 + 0.1 * -0.8, -0.8])
    assert after[1] == pytest.approx([2.0, 0.0])


def test_without_set_state_worlds_cannot_be_placed(file: Path) -> None:
    worlds = open_simulator(f"{file}:make").instantiate({})
    assert not hasattr(worlds, "place")


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ('PARAMETERS = {"mas": (0.1, 1.0)}', "no-such-parameter"),
        ('PARAMETERS = {"mass": (2.0, 1.0)}', "bad-parameters"),
        ('PARAMETERS = {"mass": 3}', "bad-parameters"),
        ('PARAMETERS = {"mass": (1, 2, 3, 4)}', "bad-parameters"),
        ('PARAMETERS = "mass"', "bad-parameters"),
        ('PARAMETERS = {"mass": (2.0, 3.0)}', "nominal-outside-domain"),
        ('PARAMETERS = {"note": (0.0, 1.0)}', "parameter-without-nominal"),
        ("HORIZON = 0", "bad-horizon"),
        ("HORIZON = 2.5", "bad-horizon"),
        ("RETURNS = (1, 0)", "bad-returns"),
        ("RETURNS = 5", "bad-returns"),
        ("RETURNS = (0, float('inf'))", "bad-returns"),
        ("set_state = 3", "not-a-function"),
        ("make = 3", "not-a-simulator"),
        ("make = None", "no-such-name"),
        ("1 / 0", "code-does-not-run"),
    ],
)
def test_wrong_declarations_are_refused(file: Path, declared: str, code: str) -> None:
    file.write_text(f"{SOURCE}\n{declared}\n")
    with pytest.raises(SimgapError) as found:
        open_simulator(f"{file}:make")
    assert found.value.code == code
    assert found.value.hint


def test_arguments_without_defaults_are_declared() -> None:
    def make(mass: float, **rest: float) -> Any:
        return Fine(mass + rest["load"])

    simulator = simulator_from_factory(
        make, parameters=[Parameter("mass", 1.0, low=0.0), Parameter("load", 0.5)]
    )
    assert [each.name for each in simulator.parameters] == ["mass", "load"]
    assert episodes_differ(simulator, {"load": 0.0}, {"load": 1.0})


@pytest.mark.parametrize(
    ("space", "shown", "numbers", "seen"),
    [
        (Discrete(5), 4, [4.0], Choices(5)),
        (MultiBinary(3), np.array([1, 0, 1]), [1.0, 0.0, 1.0], None),
        (
            Dict({"z": Discrete(3), "a": GymBox(-1.0, 1.0, (1, 2), np.float32)}),
            {"a": np.array([[0.5, 0.25]]), "z": 2},
            [0.5, 0.25, 2.0],  # Gymnasium sorts the keys of a plain dictionary
            None,
        ),
        (
            Tuple([Discrete(2), Dict({"b": GymBox(0.0, 9.0, (2,), np.float64)})]),
            (1, {"b": np.array([3.0, 4.0])}),
            [1.0, 3.0, 4.0],
            None,
        ),
    ],
)
def test_observations_of_many_kinds_are_rows_of_numbers(
    space: Any, shown: Any, numbers: list[float], seen: Choices | None
) -> None:
    make = fine(observation_space=space, seen=lambda self: shown)
    simulator = simulator_from_factory(make)
    assert simulator.observation.size == len(numbers)
    if seen is not None:
        assert simulator.observation == seen
    assert simulator.instantiate({}).reset(np.array([0])).tolist() == [numbers]
