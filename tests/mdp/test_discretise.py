"""Continuous simulators as tables on a grid."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from math import pi

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidModel
from simgap.mdp import (
    Axis,
    Discretisation,
    Interpolation,
    Moved,
    NodeSet,
    Physics,
    StateGrid,
    discretise,
)
from simgap.mdp.physics import Theta
from tests.instances.test_known import connected

module = sys.modules["simgap.mdp.discretise"]  # the package has a function so named


CIRCLE = Axis("angle", -pi, pi, 9, periodic=True)


LINE = Axis("speed", -2.0, 3.0, 6)


def drift(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """x' = rate x + action; pays x in [-1, 1]."""
    after = theta["rate"] * state + action[:, None]
    return Moved(after, state[:, 0].copy(), np.zeros(len(state), np.bool_))


def linear(actions: tuple[float, ...] = (0.0,)) -> Physics:
    return Physics(
        name="linear",
        step=drift,
        actions=np.array(actions),
        action_names=tuple(f"push {each:g}" for each in actions),
        start=((-0.5, 0.75),),
        reward_range=(-1.0, 1.0),
    )


def climb(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """A walk up to 1, where it ends; every step costs 1."""
    after = state + theta["stride"] * action[:, None]
    ended = after[:, 0] >= 1.0
    return Moved(np.clip(after, 0.0, 1.0), np.full(len(state), -1.0), ended)


CLIMB = Physics(
    name="climb",
    step=climb,
    actions=np.array([-1.0, 1.0]),
    action_names=("down", "up"),
    start=((0.0, 0.2),),
    reward_range=(-1.0, 0.0),
    ends=True,
)


def climbing(
    stride: tuple[float, ...] = (0.25,),
    *,
    restart: bool = True,
    states: NodeSet = NodeSet.ALL,
) -> Discretisation:
    grid = StateGrid((Axis("height", 0.0, 1.0, 11),))
    return discretise(CLIMB, grid, {"stride": stride}, restart=restart, states=states)


def test_a_linear_system_has_exact_values_whatever_the_grid() -> None:
    """V_H(x) = x (1 + r + ... + r^(H-1)): linear, so interpolation does not hurt it."""
    rates, horizon = (0.3, 0.9, -0.77), 12
    for cells in (2, 5, 8):
        grid = StateGrid((Axis("x", -1.0, 1.0, cells),))
        table = discretise(linear(), grid, {"rate": rates})
        worlds, points = table.simulators, grid.points[:, 0]
        for m, rate in enumerate(rates):
            kernel = worlds.transitions.array(m)[:, 0]
            values: FloatArray = np.zeros(cells)
            for _ in range(horizon):
                values = worlds.rewards[0, :, 0] + kernel @ values
            expected = points * (1.0 - rate**horizon) / (1.0 - rate)
            np.testing.assert_allclose(values, expected, atol=1e-13)
            start = worlds.start_law(m) @ points
            assert start == pytest.approx(0.125, abs=1e-14)


def test_steps_of_whole_cells_make_a_certain_table() -> None:
    grid = StateGrid((Axis("x", -1.0, 1.0, 9),))
    table = discretise(linear((-0.25, 0.0, 0.5)), grid, {"rate": (1.0,)})
    kernel = table.simulators.transitions.array(0)
    for s, (a, shift) in product(range(9), enumerate((-1, 0, 2))):
        assert kernel[s, a, min(max(s + shift, 0), 8)] == 1.0
    assert (table.one_step.spread == 0.0).all()
    assert table.one_step.beyond.tolist() == [0.5]
    assert table.one_step.beyond_share == pytest.approx(3 / 27)
    assert any("leave the grid (x by up to 0.5)" in n for n in table.simulators.notes)


@pytest.mark.parametrize("scheme", Interpolation)
@pytest.mark.parametrize("states", NodeSet)
def test_the_table_equals_a_slow_one_made_step_by_step(
    scheme: Interpolation, states: NodeSet
) -> None:
    """Every row by hand: one state, one action and one model at a time."""
    grid = StateGrid((replace(CIRCLE, cells=5), replace(LINE, cells=4)))

    def spin(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
        after = state + np.stack([0.4 * state[:, 1], theta["push"] * action], axis=1)
        after[:, 1] = np.clip(after[:, 1], -2.0, 3.0)
        return Moved(after, np.cos(state[:, 0]) * theta["push"], after[:, 1] > 2.6)

    physics = Physics(
        "spin",
        spin,
        np.array([-1.0, 0.3, 1.0]),
        ("back", "little", "on"),
        ((-1.0, 1.0), (0.0, 0.0)),
        (-1.0, 1.0),
        ends=True,
    )
    pushes = (0.5, 0.7, 1.0)
    table = discretise(physics, grid, {"push": pushes}, scheme=scheme, states=states)
    worlds, number = table.simulators, table.state_of_node
    end = table.end
    assert end == worlds.n_states - 1
    assert (number[np.flatnonzero(np.diff(number, prepend=-1) > 0)] >= 0).all()
    start = np.zeros(worlds.n_states)
    np.add.at(start, number, grid.law_of_uniform(physics.start))
    for m, push in enumerate(pushes):
        kernel = worlds.transitions.array(m)
        for node, point in enumerate(grid.points):
            if worlds.labels.states[number[node]] != grid.names()[node]:
                continue  # left out
            for a, action in enumerate(physics.actions):
                moved = spin({"push": push}, point[None], np.array([action]))
                expected = np.zeros(worlds.n_states)
                if moved.ended[0]:
                    expected[end] = 1.0
                else:
                    corners, weights = grid.corners(moved.state, scheme)
                    np.add.at(expected, number[corners[0]], weights[0])
                np.testing.assert_allclose(
                    kernel[number[node], a], expected, atol=1e-15
                )
                paid = worlds.rewards[m, number[node], a]
                assert paid == moved.reward[0]
        np.testing.assert_allclose(kernel[end], np.tile(start, (3, 1)), atol=1e-15)
        if states is NodeSet.COMMUNICATING:
            assert connected(kernel)
    assert worlds.n_states == int(number.max()) + 2
    if states is NodeSet.ALL:
        assert worlds.n_states == grid.size + 1


def test_an_end_is_entered_only_when_the_simulator_ends() -> None:
    """A step to 0.95 lies between nodes 0.9 and 1; neither of them is the end."""
    table = climbing((0.25, 0.35))
    worlds, up = table.simulators, 1
    end = table.end
    assert end == 11 and worlds.labels.states[end] == "end"
    kernel = worlds.transitions.array(0)
    assert kernel[7, up, 9] == pytest.approx(0.5)
    assert kernel[7, up, 10] == pytest.approx(0.5)
    assert kernel[8, up, end] == 1.0
    assert kernel[10, up, end] == 1.0
    np.testing.assert_allclose(kernel[end, 0], worlds.start_law(0))
    assert worlds.start_law(0)[:4] == pytest.approx([0.25, 0.5, 0.25, 0.0])
    assert worlds.rewards[0, 3, up] == -1.0
    assert worlds.rewards[0, end, up] == 0.0
    kept = climbing(restart=False).simulators.transitions.array(0)
    assert (kept[end, :, end] == 1.0).all()


def test_values_count_the_steps_to_the_end() -> None:
    """Strides of two cells: ceil((10 - s) / 2) steps from node s; the end is free."""
    table = climbing((0.2,), restart=False)
    worlds = table.simulators
    kernel, values = worlds.transitions.array(0)[:, 1], np.zeros(12)
    for _ in range(30):
        values = worlds.rewards[0, :, 1] + kernel @ values
    steps = [5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 0]
    np.testing.assert_allclose(values, [-float(n) for n in steps], atol=1e-12)


def test_all_models_communicate_on_the_nodes_that_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Strides of 4 cells from {0, 1, 2} miss nodes 3 and 7, strides of 3 do not."""
    strides, shifts = (0.3, 0.4), (3, 4)
    whole = climbing(strides).simulators
    some = climbing(strides, states=NodeSet.REACHABLE).simulators
    assert (whole.n_states, some.n_states) == (12, 11)  # nobody stops at the goal
    assert [connected(some.transitions.array(m)) for m in range(2)] == [True, False]
    with pytest.raises(InvalidModel, match=r"moves [0-9.]+ % of the probability"):
        climbing(strides, states=NodeSet.COMMUNICATING)
    monkeypatch.setattr(module, "MOST_MOVED", 1.0)
    table = climbing(strides, states=NodeSet.COMMUNICATING)
    worlds = table.simulators
    kept = [0, 1, 2, 4, 5, 6, 8, 9]
    assert worlds.labels.states == (*(f"height={s / 10:g}" for s in kept), "end")
    assert all(connected(worlds.transitions.array(m)) for m in range(2))
    went = [max(0, s + way * n) for s, n, way in product(kept, shifts, (-1, 1))]
    moved = [after for after in went if after < 10 and after not in kept]
    assert table.one_step.moved_share == pytest.approx(len(moved) / len(went))
    assert any(n.startswith("states=communicating: 3 of 11") for n in worlds.notes)


def test_the_measures_of_one_step_are_those_of_the_rows() -> None:
    grid = StateGrid((Axis("x", -1.0, 1.0, 8),))
    table = discretise(linear((-0.1, 0.05)), grid, {"rate": (0.5, 0.8)})
    points, moves, variances = grid.points[:, 0], [], []
    for m, rate in enumerate((0.5, 0.8)):
        kernel = table.simulators.transitions.array(m)
        for a, push in enumerate((-0.1, 0.05)):
            mean = kernel[:, a] @ points
            np.testing.assert_allclose(mean, rate * points + push, atol=1e-14)
            variances.append(kernel[:, a] @ points**2 - mean**2)
            moves.append(mean - points)
    spread, motion = (float(np.sqrt(np.mean(x))) for x in (variances, np.square(moves)))
    assert table.one_step.spread[0] == pytest.approx(spread, rel=1e-10)
    assert table.one_step.motion[0] == pytest.approx(motion, rel=1e-12)
    assert spread <= grid.spacing[0] / 2
