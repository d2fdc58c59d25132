"""Arguments of the wrong kind are refused by name, not misread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap import LatentMDP, load_model, save_model
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp import (
    IndexOrder,
    TabularMDP,
    class_from_arrays,
    class_from_models,
    class_over_grid,
    mdp_from_arrays,
)

SQUARE = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 3, 3))
REWARDS = np.random.default_rng(1).random((3, 3))


@pytest.mark.parametrize("order", ["ACTION_STATE", IndexOrder.ACTION_STATE.value, 1])
def test_an_order_that_is_not_one_of_the_two_is_refused(order: Any) -> None:
    with pytest.raises(InvalidArgument, match="IndexOrder"):
        class_from_arrays(SQUARE, REWARDS, order=order)


@pytest.mark.parametrize("index", ["model 0", 1.0, slice(0, 1), True])
def test_a_class_is_indexed_with_whole_numbers(index: Any) -> None:
    worlds = class_from_arrays(SQUARE, REWARDS, order=IndexOrder.STATE_ACTION)
    with pytest.raises(InvalidArgument, match="index of a model"):
        worlds[index]


def test_a_class_is_made_of_models_and_an_iterator_of_them_will_do() -> None:
    worlds = class_from_arrays(SQUARE, REWARDS, order=IndexOrder.STATE_ACTION)
    again = class_from_models(iter(worlds))  # type: ignore[arg-type]
    assert again.hash == worlds.hash
    with pytest.raises(InvalidModel, match="made of models"):
        class_from_models([worlds])  # type: ignore[list-item]


@pytest.mark.parametrize("points", [0.3, "abc", (x for x in (1.0, 2.0))])
def test_a_grid_has_lists_of_values(points: Any) -> None:
    with pytest.raises(InvalidModel, match="parameter 'mu'"):
        class_over_grid(lambda theta: None, {"mu": points})  # type: ignore[arg-type,return-value]


def _cart(theta: Mapping[str, float]) -> TabularMDP:
    up = theta["Grip"]
    stays = 1.0 - up if up < 0.9 else 0.5
    kernel = [[[stays, up]], [[1.0 - theta["wind"], theta["wind"]]]]
    return mdp_from_arrays(kernel, [[0.0], [1.0]], order=IndexOrder.STATE_ACTION)


def test_a_row_of_a_grid_that_is_off_is_told_with_its_parameters() -> None:
    assert len(class_over_grid(_cart, {"Grip": [0.3, 0.6], "wind": [0.0, 0.2]})) == 4
    with pytest.raises(InvalidModel) as caught:
        class_over_grid(_cart, {"Grip": [0.3, 0.9], "wind": [0.0, 0.2]})
    assert caught.value.problem.startswith(
        "at Grip=0.9, wind=0: row (s=0, a=0) sums to 1.4, not 1"
    )
    assert "divide the row" in caught.value.hint


@pytest.mark.parametrize(
    ("grid", "problem", "hint"),
    [
        ({"grip": [0.3], "wind": [0.2]}, "at grip=0.3, wind=0.2: there is no parameter "
         "'Grip'", "did you mean grip? there are grip, wind"),
        ({"mass": [1.0]}, "at mass=1: there is no parameter 'Grip'", "there are mass"),
        ({}, "there is no parameter 'Grip'", "there are none"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_not_in_the_grid_is_named(
    grid: dict[str, list[float]], problem: str, hint: str
) -> None:
    with pytest.raises(InvalidModel) as caught:
        class_over_grid(_cart, grid)
    assert (caught.value.problem, caught.value.hint) == (problem, hint)


def test_a_missing_key_that_is_none_of_the_grid_stays_one() -> None:
    def own(theta: Mapping[str, float]) -> TabularMDP:
        return {1: coin}[int(theta["mu"])](theta)

    def named(theta: Mapping[str, float]) -> TabularMDP:
        return {"nu": coin}["mu"](theta)

    def coin(theta: Mapping[str, float]) -> TabularMDP:
        return mdp_from_arrays([[[1.0]]], [[0.0]])

    assert len(class_over_grid(own, {"mu": [1.0]})) == 1
    for function in (own, named):
        with pytest.raises(KeyError):
            class_over_grid(function, {"mu": [2.0]})


def test_a_function_that_returns_no_model_is_told() -> None:
    with pytest.raises(InvalidModel, match=r"at mu=2: .* returned NoneType"):
        class_over_grid(lambda theta: None, {"mu": [2.0]})  # type: ignore[arg-type,return-value]


def test_rewards_that_would_overflow_are_refused() -> None:
    with pytest.raises(InvalidModel, match="1e\\+200"):
        class_from_arrays(SQUARE, REWARDS * 0 + 1e200, order=IndexOrder.STATE_ACTION)


def test_a_class_and_a_model_are_saved_with_the_uniform_prior(tmp_path: Path) -> None:
    worlds = class_from_arrays(SQUARE, REWARDS, order=IndexOrder.STATE_ACTION)
    save_model(worlds, tmp_path / "class.simgap")
    save_model(worlds[1], tmp_path / "model.npz")
    assert load_model(tmp_path / "class.simgap").hash == LatentMDP.uniform(worlds).hash
    assert load_model(tmp_path / "model.npz").simulators[0].hash == worlds[1].hash
    with pytest.raises(InvalidArgument, match="cannot save a int"):
        save_model(3, tmp_path / "three.npz")  # type: ignore[arg-type]
