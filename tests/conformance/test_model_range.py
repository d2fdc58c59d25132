"""The one check at the door: numbers outside the range are refused with their place.

Probabilities are 0 or at least 1e-60, rewards at most 1e15 in size and not all below
1e-28, horizons at most 1e9. Solvers and bounds rest on it and look no further.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, InvalidModel, SimgapError
from simgap.interop import load_model
from simgap.mdp import Details, LatentMDP, class_from_arrays
from simgap.planning import optimal_values

PLAIN = np.full((2, 3, 2, 3), 1.0 / 3.0)
PAID = np.linspace(0.0, 1.0, 6).reshape(3, 2)


def with_chance(chance: float) -> FloatArray:
    """Return kernels of which model 1 has a chance of this size in (s=2, a=1)."""
    kernels = PLAIN.copy()
    kernels[1, 2, 1] = [chance, 1.0 - chance, 0.0]
    return kernels


def with_reward(reward: float) -> FloatArray:
    """Return rewards of which model 1 has one of this size in (s=2, a=1)."""
    rewards = np.stack([PAID, PAID])
    rewards[1, 2, 1] = reward
    return rewards


def built(**arrays: FloatArray) -> LatentMDP:
    """Return the class of some arrays, the others as usual."""
    kernels, rewards = arrays.get("kernels", PLAIN), arrays.get("rewards", PAID)
    details = Details(start=arrays.get("start", 0))
    worlds = class_from_arrays(kernels, rewards, details=details)
    return LatentMDP(worlds, arrays.get("prior", np.array([0.5, 0.5])))


def stored(folder: Path, **arrays: FloatArray) -> LatentMDP:
    """Return the same class, read from a file."""
    path = folder / "model.npz"
    given: dict[str, Any] = {"kernels": PLAIN, "rewards": PAID} | arrays
    np.savez(path, transitions=given.pop("kernels"), **given)
    return load_model(path)


OUTSIDE: dict[str, tuple[str, tuple[str, ...], Callable[[float], FloatArray]]] = {
    "kernels": ("probability-range", ("model 1", "s=2", "a=1"), with_chance),
    "prior": ("probability-range", ("at 1",), lambda c: np.array([1.0 - c, c])),
    "start": ("probability-range", ("at 2",), lambda c: np.array([1.0 - c, 0.0, c])),
    "rewards": ("reward-range", ("s=2", "a=1", "model 1"), with_reward),
}


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(
            (name, chance)
            for name in ("kernels", "prior", "start")
            for chance in (0.9e-60, 1e-200, 5e-324)
        ),
        *(("rewards", size) for size in (1.1e15, -1.1e15, 1e150)),
    ],
)
def test_a_number_outside_the_range_is_refused_with_its_place(
    name: str, number: float, tmp_path: Path
) -> None:
    code, places, array = OUTSIDE[name]
    arrays = {name: array(number)}
    for make in (built, partial(stored, tmp_path)):
        with pytest.raises(SimgapError) as caught:
            make(**arrays)
        assert caught.value.code == code
        assert all(place in caught.value.problem for place in places)


def test_numbers_at_the_ends_of_the_range_are_accepted(tmp_path: Path) -> None:
    for name, number in (
        *((name, 1e-60) for name in ("kernels", "prior", "start")),
        *(("rewards", size) for size in (1e15, -1e15)),
    ):
        arrays = {name: OUTSIDE[name][2](number)}
        assert built(**arrays).hash == stored(tmp_path, **arrays).hash


@pytest.mark.parametrize("size", [0.9e-28, 5e-324])
def test_a_model_all_of_whose_rewards_are_too_small_is_refused(size: float) -> None:
    with pytest.raises(InvalidModel) as caught:
        built(rewards=np.stack([PAID, size * PAID]))
    assert caught.value.code == "reward-range"
    assert "model 1" in caught.value.problem


@pytest.mark.parametrize("horizon", [10**9 + 1, -1])
def test_a_horizon_outside_the_range_is_refused(horizon: int) -> None:
    worlds = built().simulators
    for question in (optimal_values, simgap.oracle, simgap.audit):
        with pytest.raises(InvalidArgument) as caught:
            question(worlds, horizon)
        assert str(horizon) in caught.value.problem
