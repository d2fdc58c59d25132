"""Rows, names and guarantees of the builders, read off the kernels directly."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from simgap.instances import (
    CATALOGUE,
    build_instance,
    garnet,
    linear_bandit,
    riverswim,
    slip_grid,
    switch_tree,
)
from simgap.instances.spelling import Kind, read_value
from simgap.mdp import SimulatorClass
from tests.instances.cases import CASES
from tests.instances.test_known import connected, separation

CONNECTED = [c for c in CASES if not c.startswith(("absorbing", "bandit?means=0,0"))]


def row(worlds: SimulatorClass, member: int, s: int, a: int) -> list[float]:
    return [float(x) for x in worlds.transitions.array(member)[s, a]]


def test_riverswim_has_the_rows_of_row_10() -> None:
    river = riverswim()
    left, right = 0, 1
    assert row(river, 0, 0, left) == [1, 0, 0, 0, 0, 0]
    assert row(river, 0, 3, left) == [0, 0, 1, 0, 0, 0]
    assert row(river, 0, 0, right) == [0.4, 0.6, 0, 0, 0, 0]
    assert row(river, 0, 5, right) == [0, 0, 0, 0, 0.4, 0.6]
    for s in range(1, 5):
        expected = np.zeros(6)
        expected[s - 1 : s + 2] = 0.05, 0.6, 0.35
        np.testing.assert_allclose(row(river, 0, s, right), expected, atol=1e-16)
    paid = np.zeros((6, 2))
    paid[0, left], paid[5, right] = 0.005, 1.0
    np.testing.assert_array_equal(river.rewards[0], paid)


def test_success_moves_only_the_inner_states_of_a_river() -> None:
    rivers = riverswim(5, (0.2, 0.8), 0.1)
    assert row(rivers, 0, 0, 1) == row(rivers, 1, 0, 1)
    assert row(rivers, 0, 4, 1) == row(rivers, 1, 4, 1)
    np.testing.assert_allclose(row(rivers, 1, 2, 1), [0, 0.1, 0.1, 0.8, 0])
    assert rivers.model_names == ("success=0.2", "success=0.8")
    assert rivers.theta.names == ("success",)
    assert rivers.notes == ("down = 0.1 in all models",)


def test_two_lists_form_a_product_with_the_last_moving_fastest() -> None:
    rivers = build_instance("riverswim?success=0.2,0.3&down=0.05,0.1")
    assert rivers.model_names == (
        "success=0.2, down=0.05",
        "success=0.2, down=0.1",
        "success=0.3, down=0.05",
        "success=0.3, down=0.1",
    )
    assert rivers.theta.of(2) == {"success": 0.3, "down": 0.05}


def test_a_slip_goes_to_both_sides_and_walls_stay() -> None:
    world = slip_grid(3, 3, 0.2)
    centre, right = 4, world.labels.actions.index("right")
    moved = row(world, 0, centre, right)
    assert moved[5] == pytest.approx(0.8)
    assert moved[1] == pytest.approx(0.1)
    assert moved[7] == pytest.approx(0.1)
    corner = row(world, 0, 0, world.labels.actions.index("up"))
    assert corner[0] == pytest.approx(0.9)  # up and left stay
    assert corner[1] == pytest.approx(0.1)
    assert world.labels.states[5] == "r1c2"


def test_the_goal_of_a_grid_restarts_and_pays() -> None:
    world = slip_grid(2, 3, (0.0, 0.5))
    for member in range(2):
        for a in range(4):
            assert row(world, member, 5, a) == [1, 0, 0, 0, 0, 0]
    assert world.rewards[0].sum() == 4.0
    assert (world.rewards[0, 5] == 1.0).all()


@pytest.mark.parametrize("asked", [0.01, 0.3, 0.7, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("members", [2, 5, 30])
def test_a_random_class_has_exactly_the_separation_asked_for(
    asked: float, members: int
) -> None:
    for seed in range(3):
        worlds = garnet(7, 3, 3, members, separation=asked, seed=seed)
        assert separation(worlds) == pytest.approx(asked, rel=1e-12)


@pytest.mark.parametrize("spec", CONNECTED)
def test_every_model_communicates_unless_its_point_is_not_to(spec: str) -> None:
    worlds = build_instance(spec)
    for m in range(len(worlds)):
        assert connected(worlds.transitions.array(m)), worlds.model_names[m]


def test_random_classes_communicate_even_with_two_successors() -> None:
    for seed in range(20):
        worlds = garnet(12, 2, 2, 4, separation=2.0, seed=seed)
        for m in range(4):
            assert connected(worlds.transitions.array(m))


def test_a_seed_decides_a_random_class() -> None:
    assert garnet(seed=5).hash == garnet(seed=5).hash
    assert garnet(seed=5).hash != garnet(seed=6).hash
    assert garnet().shared_rewards


def test_a_random_row_has_as_many_successors_as_asked() -> None:
    worlds = garnet(20, 2, 4, 1)
    lengths = np.diff(worlds.transitions.indptr)
    assert (lengths == 4).all()


def test_the_tree_has_the_moves_of_the_theory() -> None:
    """Theory 4.11 with k = 4, A' = 2: children 2j+1, 2j+2, parent (j-1)//2."""
    tree = switch_tree(4, 2, 0.05, 3, delta=0.1, null=True)
    after = tree.transitions
    assert after.probability(0, 0, 0, 4) == pytest.approx(0.15)
    assert after.probability(0, 0, 1, 4) == pytest.approx(0.1)
    assert after.probability(2, 1, 0, 5) == pytest.approx(0.15)
    assert after.probability(3, 1, 0, 5) == pytest.approx(0.1)
    assert after.probability(0, 0, 3, 2) == 1.0  # second child of the root
    assert after.probability(0, 1, 2, 3) == 1.0
    assert after.probability(0, 1, 3, 1) == 1.0  # absent child: stay
    assert after.probability(0, 3, 4, 1) == 1.0  # parent
    assert after.probability(0, 0, 4, 0) == 1.0  # the root has none
    assert after.probability(0, 6, 2, 2) == pytest.approx(0.1)
    assert tree.model_names == ("pair 0.0", "pair 0.1", "pair 1.0", "null")


def test_evenly_spread_p_are_those_of_row_24() -> None:
    worlds = linear_bandit(25)
    expected = np.linspace(0.25, 0.5, 26)[1:-1]
    means = worlds.theta.values
    np.testing.assert_allclose(means[:-1, 1], 0.5 - expected, rtol=1e-15)
    np.testing.assert_array_equal(means[-1], [0.5, 1.0])


def test_prop_2_loses_what_row_24_says_if_it_tries_once() -> None:
    """The worst gap of "a2 until it fails, then a1 for good" at H = 5, 20, 80."""
    for horizon, expected in {5: 0.494949, 20: 0.498525, 80: 0.499615}.items():
        means = linear_bandit(4 * horizon + 5).theta.values
        pulls, gaps = horizon - 1, []
        for first, second in means:
            chance, value = 1.0, 0.0
            for left in range(pulls, 0, -1):
                value += chance * (second + (1.0 - second) * (left - 1) * first)
                chance *= second
            gaps.append(pulls * max(first, second) - value)
        assert max(gaps) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_the_catalogue_tells_the_parameters_of_its_builders(name: str) -> None:
    entry = CATALOGUE[name]
    for function in (entry.build, entry.known):
        told = dict(inspect.signature(function).parameters)
        told.pop("model_names", None)
        assert set(told) == set(entry.parameters)
        for key, parameter in entry.parameters.items():
            default = told[key].default
            if parameter.default == "":
                assert default is None
                continue
            read = read_value(key, parameter.default, parameter.kind)
            if parameter.kind is Kind.POINTS:
                (read,) = read
            if parameter.kind is Kind.TABLE:
                read = tuple(read)
            assert read == default
    assert entry.about
    assert all(parameter.meaning for parameter in entry.parameters.values())
