"""Noise of sensors and motors: its size, its seeds, its ends."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous import Noise, noise_of, open_simulator, with_noise
from simgap.errors import SimgapError
from tests.continuous.simulators.broken_environments import Fine

SIZE, STEPS = 40, 150  # more steps than are drawn at once


def seen(noise: Noise, seeds: OffsetArray, push: float = 0.0) -> FloatArray:
    """Return what is seen in every world at every step, (STEPS + 1, B, 2)."""
    simulator = with_noise(open_simulator(Fine), noise)
    worlds = simulator.instantiate({"mass": np.ones(seeds.size)})
    first = worlds.reset(seeds)
    alive, actions = np.ones(seeds.size, np.bool_), np.full((seeds.size, 2), push)
    rest = [worlds.step(actions, alive).observation for _ in range(STEPS)]
    return np.array([first, *rest])


def test_noise_has_its_mean_and_deviation_and_does_not_repeat() -> None:
    seeds = np.arange(SIZE)
    drawn: FloatArray = seen(Noise(observation=0.3), seeds) - seen(Noise(), seeds)
    count = drawn.size
    assert abs(drawn.mean()) < 4 * 0.3 / np.sqrt(count)
    assert abs(drawn.std() - 0.3) < 4 * 0.3 / np.sqrt(2 * count)
    flat = drawn.reshape(STEPS + 1, -1)
    assert np.unique(np.round(flat, 12)).size == flat.size  # no block comes twice
    before, after = flat[:-1].ravel(), flat[1:].ravel()
    assert abs(np.corrcoef(before, after)[0, 1]) < 4 / np.sqrt(before.size)


def test_noise_is_a_function_of_the_seed_alone() -> None:
    alone = seen(Noise(0.3, 0.1), np.array([7]))
    together = seen(Noise(0.3, 0.1), np.array([3, 7, 9]))
    assert np.array_equal(alone[:, 0], together[:, 1])
    assert not np.array_equal(together[:, 0], together[:, 1])


def test_noise_of_actions_moves_the_world_within_its_ends() -> None:
    seeds = np.arange(SIZE)
    moves = np.diff(seen(Noise(action=0.2), seeds), axis=0)
    assert abs(moves.std() - 0.2) < 4 * 0.2 / np.sqrt(2 * moves.size)
    at_end = np.diff(seen(Noise(action=0.2), seeds, push=1.0), axis=0)
    assert at_end.max() <= 1.0 + 1e-9
    assert 0.4 < (at_end > 1.0 - 1e-9).mean() < 0.6  # half of it would go beyond


@pytest.mark.parametrize(
    "text", ["observation=0.01 action=0.05", "action=0.5", "observation=1e-07", ""]
)
def test_a_text_comes_back(text: str) -> None:
    assert str(noise_of(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("observaton=0.1", "action", "action=x", "action=-1", "action=nan"),
        *("action=0.1 action=0.2", "=0.1"),
    ],
)
def test_wrong_texts_are_refused(text: str) -> None:
    with pytest.raises(SimgapError) as found:
        noise_of(text)
    assert found.value.code == "bad-noise"


@pytest.mark.parametrize(
    ("name", "text"),
    [("gym:CartPole-v1", "action=0.1"), ("gym:FrozenLake-v1", "observation=0.1")],
)
def test_one_of_n_has_no_noise(name: str, text: str) -> None:
    with pytest.raises(SimgapError) as found:
        with_noise(open_simulator(name), text)
    assert found.value.code == "noise-on-choices"
