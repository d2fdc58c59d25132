"""From texts and objects to simulators."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from simgap.continuous import BUILT_IN, Choices, open_simulator
from simgap.errors import SimgapError
from tests.continuous.simulators.broken_environments import Fine

NAMED = (
    *("pendulum", "cartpole", "acrobot", "mountain-car", "mountain-car-continuous"),
    *("heading", "servo", "point-mass", "cart-pole-force"),
    *("puck", "hopper", "half-cheetah", "walker2d", "ant", "swimmer", "reacher"),
    *("inverted-pendulum", "inverted-double-pendulum"),
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pendulm", "did you mean pendulum?"),
        ("Hopper", "did you mean hopper?"),
        ("half_cheetah", "did you mean half-cheetah?"),
        ("CartPole-v1", "did you mean gym:CartPole-v1?"),
        ("model.xml", "did you mean mujoco:model.xml?"),
        ("mine.py:", "did you mean mine.py:make?"),
        ("mine.python", "did you mean mine.py:make?"),
        ("zzzzzzzz", "gym:ENV_ID"),
        ("", "gym:ENV_ID"),
    ],
)
def test_a_text_that_names_nothing_is_told_what_it_may_mean(
    text: str, told: str
) -> None:
    with pytest.raises(SimgapError) as found:
        open_simulator(text)
    assert found.value.code == "no-simulator"
    assert told in found.value.hint


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (3, "not-a-simulator"),
        (None, "not-a-simulator"),
        (Fine(), "one-environment"),
        ("gym:NoSuch-v0", "no-environment"),
        ("/nowhere/at/all.py:make", "no-file"),
    ],
)
def test_other_things_are_refused(given: Any, code: str) -> None:
    with pytest.raises(SimgapError) as found:
        open_simulator(given)
    assert found.value.code == code


def test_an_id_of_a_package_that_was_imported_is_known() -> None:
    if "Fine-v0" not in gymnasium.registry:
        gymnasium.register("Fine-v0", entry_point=Fine)
    assert open_simulator("gym:Fine-v0").observation.size == 2


@pytest.mark.parametrize("name", NAMED)
def test_every_built_in_name_opens_and_runs(name: str) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("mujoco")
    simulator = open_simulator(name)
    assert simulator.name == name
    assert simulator.parameters[-1].name == "delay"
    assert simulator.horizon
    worlds = simulator.instantiate({"delay": np.array([0.0, 2.0])})
    shown = worlds.reset(np.array([5, 5]))
    assert shown.shape == (2, simulator.observation.size)
    one_of_n = isinstance(simulator.action, Choices)
    shape = (2,) if one_of_n else (2, simulator.action.size)
    after = worlds.step(np.full(shape, 1.0 if one_of_n else 0.5), np.ones(2, np.bool_))
    assert not np.array_equal(after.observation[0], after.observation[1])
    assert np.isfinite(after.observation).all()
    worlds.close()


def test_built_in_names_are_all_looked_at() -> None:
    assert set(BUILT_IN) == set(NAMED)
