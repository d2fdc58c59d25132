"""Means over points of a grid: weights, errors and intervals by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from math import sqrt
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.transfer.grid_optima import GridOptima
from simgap.continuous import Cube
from simgap.intervals import Certified, Estimate, Interval
from simgap.records import TransferPolicy
from tests.report.transfer_cases import policy, transfer

GRID: Any = import_module("simgap.answers.transfer.grid_optima")
POINTS = [tuple(each.theta.values()) for each in policy("ppo").points[:3]]
WEIGHTS = {POINTS[0]: 0.1, POINTS[1]: 0.3, POINTS[2]: 0.6}
BEST = {
    POINTS[0]: Certified(10.0, 11.0),
    POINTS[1]: Certified(20.0, 22.0),
    POINTS[2]: Certified(90.0, 91.0),
}
NAN = float("nan")
RETURNS = [  # two seeds that were run, at two points; episodes may break
    [[1.0, 3.0, 5.0], [2.0, 4.0, NAN], [9.0, 9.0, 9.0]],
    [[0.0, 0.0, 6.0], [8.0, 8.0, 8.0], [9.0, 9.0, 9.0]],
    [[NAN] * 3] * 3,
]


def cube() -> Cube:
    theta = np.array(POINTS)
    returns = np.array([RETURNS, np.zeros((3, 3, 3))])
    inside = np.ones(3, np.bool_)
    return Cube(("ppo", "lean"), ("mass", "length", "delay"), theta, inside, returns)


def beside(earned: dict[Any, Interval]) -> tuple[TransferPolicy, Any]:
    answer = transfer(
        policies=tuple(
            replace(each, points=each.points[:3]) for each in transfer().policies
        )
    )
    optima = GridOptima("grid", BEST, "certified", {"ppo": earned})
    found = optima.beside(answer, cube(), WEIGHTS)
    assert found.policies[1].on_grid is None  # nobody computed what it earns
    assert found.certainty["grid_optimum"] == "certified"
    note = found.notes[-1]
    assert note.code == "grid-optimum" and "10 to 91 " in note.text
    return found.policies[0], found.certainty["grid_value"]


def close(found: Interval, *ends: float) -> None:
    assert found.ends == pytest.approx(ends, rel=1e-12)


def test_means_over_the_points_of_a_table_have_the_weights_of_nu() -> None:
    """Two of three points are known: a quarter and three quarters."""
    earned: dict[Any, Interval] = {
        POINTS[0]: Certified(4.0, 5.0),
        POINTS[1]: Certified(8.0, 8.0),
    }
    found, certainty = beside(earned)
    assert certainty == "certified"
    assert [each.grid_optimum for each in found.points] == list(BEST.values())
    assert [each.grid_value for each in found.points] == [*earned.values(), None]
    means = found.on_grid
    assert means is not None
    close(means.optimum, 0.25 * 10 + 0.75 * 20, 0.25 * 11 + 0.75 * 22)
    close(means.value, 0.25 * 4 + 0.75 * 8, 0.25 * 5 + 0.75 * 8)
    assert isinstance(means.lost, Certified)
    close(means.lost, 17.5 - 7.25, 19.25 - 7.0)
    # seeds 0 and 1 were run: means 3 and 2 at the first point, 3 and 8 at the second
    returned = 0.25 * 2.5 + 0.75 * 5.5
    assert means.grid.estimate == pytest.approx(7.125 - returned)
    first = (4.0 / 3.0 + 12.0 / 3.0) / 4.0  # variances over episodes, of two seeds
    second = (2.0 / 2.0 + 0.0) / 4.0
    error = sqrt(0.25**2 * first + 0.75**2 * second)
    whole = sqrt(0.125**2 + error**2)  # and half of what the value is known to
    assert means.grid.standard_error == pytest.approx(whole)
    reach = 1.96 * whole
    close(means.grid, 7.125 - returned - reach, 7.125 - returned + reach)
    assert means.grid.confidence == 0.95


def test_an_estimate_among_the_points_makes_an_estimate_of_the_mean() -> None:
    earned: dict[Any, Interval] = {
        POINTS[0]: Estimate(4.0, 3.0, 6.0, 0.95, standard_error=0.8),
        POINTS[1]: Estimate(8.0, 7.0, 9.0, 0.95),
    }
    found, certainty = beside(earned)
    assert certainty == "estimated"
    means = found.on_grid
    assert means is not None and isinstance(means.value, Estimate)
    assert means.value.estimate == pytest.approx(0.25 * 4.0 + 0.75 * 8.0)
    error = sqrt((0.25 * 0.8) ** 2 + (0.75 / 1.96) ** 2)
    assert means.value.standard_error == pytest.approx(error)
    assert isinstance(means.lost, Estimate)
    assert means.lost.estimate == pytest.approx(18.375 - 7.0)
    assert means.lost.standard_error == pytest.approx(sqrt(0.875**2 + error**2))


def test_one_number_is_its_own_mean() -> None:
    alone = Estimate(4.0, 3.0, 6.0, 0.95)
    assert GRID._mean([1.0], [alone]) is alone
    mixed = GRID._mean([0.5, 0.5], [alone, Certified(2.0, 4.0)])
    assert mixed.estimate == 3.5
    assert mixed.standard_error == pytest.approx(sqrt((0.75 / 1.96) ** 2 + 0.5**2))


def test_no_table_of_a_point_has_no_means() -> None:
    optima = GridOptima("grid", BEST, "estimated")
    found = optima.beside(transfer(), cube(), WEIGHTS)
    assert "grid_value" not in found.certainty
    assert found.certainty["grid_optimum"] == "estimated"
    assert [each.on_grid for each in found.policies] == [None, None]
    here = {tuple(each.theta.values()): each for each in found.policies[0].points}
    for at, each in here.items():
        assert (each.grid_optimum, each.grid_value) == (BEST.get(at), None)


class Plans:
    """A policy that plans: at a point of mass m it earns m."""

    name, certified = "grid", "certified"

    def plan(self, values: dict[str, float]) -> Any:
        mass = values["mass"]
        table = "table" if mass < 3.0 else None
        return Stand(optimum=Certified(mass, mass), table=table)


def test_what_is_earned_is_a_mean_over_training_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A point with a delay has no table; one without a table has no bridge."""
    theta = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    work: Any = Stand(
        policies=[object(), Plans()],
        points=Stand(theta=theta),
        randomization=Stand(
            values=lambda rows: {"mass": rows[:, 0], "delay": rows[:, 1]}
        ),
    )
    seeds = [("net", Certified(1.0, 2.0)), ("net", Certified(3.0, 6.0))]
    met: list[Any] = []

    def earned(work: Any, entries: Any, table: Any, at: int) -> Any:
        met.append((table, at))
        return iter(seeds)

    monkeypatch.setattr(GRID, "GridPolicy", Plans)
    monkeypatch.setattr(GRID, "_earned", earned)
    told: list[str] = []
    found = GRID.grid_optima(work, (), "", told.append)
    assert (found.name, found.certified) == ("grid", "certified")
    assert {at: each.ends for at, each in found.at.items()} == {
        (1.0, 0.0): (1.0, 1.0),
        (3.0, 0.0): (3.0, 3.0),
    }
    assert met == [("table", 0)]
    assert found.earned["net"].keys() == {(1.0, 0.0)}
    close(found.earned["net"][1.0, 0.0], 2.0, 4.0)
    assert len(told) == 3 and "1 of 3" in told[0] and "3 of 3" in told[2]
    assert GRID.grid_optima(work, (), "action=0.1", told.append) is None
    work.points.theta = theta[1:2]
    assert GRID.grid_optima(work, (), "", told.append) is None
    work.policies = [object()]
    assert GRID.grid_optima(work, (), "", told.append) is None
