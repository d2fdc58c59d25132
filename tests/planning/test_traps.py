"""Instances on which solvers in use give wrong answers (mdp-solving 2d and 5).

Each is solved rightly or refused by name here; comments say who fails on it and how.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.errors import NotCommunicating
from simgap.instances import (
    cycle,
    cycle_known,
    near_multichain,
    near_multichain_known,
    riverswim,
    riverswim_known,
    slip_grid,
    slip_grid_known,
    switch_tree,
    switch_tree_known,
    trap_door,
    trap_door_known,
    two_optima,
)
from simgap.mdp import (
    IndexOrder,
    TabularMDP,
    class_from_models,
    mdp_from_arrays,
    mdp_from_edges,
)
from simgap.planning import (
    communicating_components,
    diameter,
    solve_average_reward,
)
from tests.planning.known_answers import assert_known
from tests.reference.kernel_rows import exact_changes

# Periodicity: value iteration without a self-loop returns gain 0 or never stops


@pytest.mark.parametrize("states", [2, 3, 20, 97])
def test_a_cycle_has_its_gain_and_bias(states: int) -> None:
    assert_known(cycle(states), cycle_known(states))


# Slow chains: a stop on small steps is wrong by any amount


@pytest.mark.parametrize("scale", [1.0, 1e-2, 1e-4, 1e-6])
def test_a_slow_trap_door_is_solved_at_any_speed(scale: float) -> None:
    leaks, climbs = (1e-2 * scale, 1e-1 * scale), (1e-1 * scale, 3e-1 * scale)
    assert_known(trap_door(leaks, climbs), trap_door_known(leaks, climbs))


def deep_pit(states: int, climb: float) -> TabularMDP:
    """A hall that pays 1 to work in; a fall ends at the foot of a long ladder."""
    P = np.zeros((states, 2, states))
    P[0, 0, [0, states - 1]] = 0.999, 0.001  # work
    P[0, 1, 0] = 1.0  # wait
    for s in range(1, states):
        P[s, :, s - 1], P[s, :, s] = climb, 1.0 - climb
    R = np.zeros((states, 2))
    R[0] = 1.0, 0.5
    return mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)


@pytest.mark.parametrize("states", [20, 100])
@pytest.mark.parametrize("climb", [0.9, 0.1, 0.01])
def test_a_pit_with_a_ladder_is_worth_what_the_climb_costs(
    states: int, climb: float
) -> None:
    """Work earns 1000 a round and loses (S - 1) / climb steps; waiting earns 1/2."""
    model = deep_pit(states, climb)
    plan = solve_average_reward(model)
    leak, steps = 1.0 - 0.999, (states - 1) / climb
    worked = (1.0 / leak) / (1.0 / leak + steps)
    gain = max(0.5, worked)
    assert plan.gain[0] == pytest.approx(gain, abs=1e-9)
    assert plan.policy[0, 0] == (0 if worked > 0.5 else 1)
    longest = (states - 2) / climb + 1.0 / leak
    assert diameter(model).upper == pytest.approx(max(longest, steps), rel=1e-9)


@pytest.mark.parametrize("room", [2, 7, 10])
@pytest.mark.parametrize("coupling", [1e-1, 1e-3, 1e-6, 1e-9])
def test_rooms_that_are_almost_two_chains_are_still_one(
    room: int, coupling: float
) -> None:
    """Storm's value iteration is 6 % off here and its bounds take 28 s a target."""
    simulators = near_multichain(room, coupling)
    assert_known(simulators, near_multichain_known(room, coupling), bias=1e-10)
    plan = solve_average_reward(simulators)
    assert plan.gain_upper[0] - plan.gain_lower[0] <= 1e-12


def test_a_bias_certificate_holds_for_the_bias_returned() -> None:
    """A bias of 1e9 cannot hold its equation to 1e-16; the residual must say so."""
    base = near_multichain(7, 1e-9 / 3.0)[0]
    model = mdp_from_arrays(
        base.transitions.array(0), 0.3 * base.rewards + 0.1,
        order=IndexOrder.STATE_ACTION,
    )  # fmt: skip
    plan = solve_average_reward(model)
    kernel = model.transitions
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    changes = exact_changes(rows, 1, model.rewards.reshape(-1), plan.bias[0])
    middle = Fraction(float(plan.gain[0]))
    worst = max(abs(change - middle) for change in changes)
    assert worst > 1e-8
    assert worst <= Fraction(float(plan.residual[0]))


# More than one optimum, ties everywhere: policy iteration cycles on these


@pytest.mark.parametrize("states", [2, 5, 6, 40, 80])
def test_two_places_to_stay_leave_the_bias_open_and_say_so(states: int) -> None:
    plan = solve_average_reward(two_optima(states))
    assert plan.gain[0] == pytest.approx(1.0, abs=1e-9)
    assert plan.residual[0] <= 1e-9
    assert not plan.unique_bias[0]
    assert diameter(two_optima(states)).upper == pytest.approx(states - 1.0, rel=1e-12)
    model = two_optima(states)[0]
    kernel = model.transitions
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    changes = exact_changes(rows, 2, model.rewards.reshape(-1), plan.bias[0])
    assert max(abs(float(change) - 1.0) for change in changes) <= 1e-9


def test_a_tree_of_switches_that_ties_but_at_one_pair_is_solved() -> None:
    arguments = {"delta": 0.02, "null": True}
    simulators = switch_tree(8, 3, 0.01, 4, **arguments)  # type: ignore[arg-type]
    known = switch_tree_known(8, 3, 0.01, 4, **arguments)  # type: ignore[arg-type]
    plan = solve_average_reward(simulators)
    assert known.gain is not None
    assert plan.gain == pytest.approx(np.asarray(known.gain), rel=1e-10)
    assert known.diameter is not None
    width = diameter(simulators)
    assert width.model_upper == pytest.approx(np.asarray(known.diameter), rel=1e-10)


@pytest.mark.parametrize("side", [3, 6, 9])
def test_a_floor_without_slip_ties_everywhere_and_is_solved(side: int) -> None:
    """quantecon's policy iteration cycles on grids until its cap."""
    assert_known(slip_grid(side, slip=0.0), slip_grid_known(side, slip=0.0))


def test_a_long_river_is_solved_from_end_to_end() -> None:
    """mdpsolver hangs at 50 states; a discount near 1 has the bias wrong by 2e-3."""
    assert_known(riverswim(200), riverswim_known(200), bias=1e-6)


# Not communicating: an error with names, and infinity without numerics


def two_islands(size: int) -> TabularMDP:
    """Two rings; the first can be left for the second, and there is no way back."""
    here = np.arange(2 * size)
    first = size * (here // size)
    ring = np.column_stack([here, np.zeros_like(here), first + (here + 1) % size])
    move = np.column_stack([here, np.ones_like(here), first + (here + 1) % size])
    move[0, 2] = size
    return mdp_from_edges(
        np.concatenate([ring, move]), np.ones(4 * size), np.zeros((2 * size, 2)),
        shape=(2 * size, 2),
    )  # fmt: skip


def test_models_that_do_not_communicate_are_refused_by_name() -> None:
    model = two_islands(3)
    with pytest.raises(NotCommunicating) as caught:
        solve_average_reward(model)
    message = str(caught.value)
    assert "2 components" in message
    assert "0, 1, 2" in message
    assert "3, 4, 5" in message
    parts = communicating_components(model)
    assert {frozenset(part) for part in parts} == {
        frozenset({0, 1, 2}),
        frozenset({3, 4, 5}),
    }


def test_one_model_apart_makes_the_class_infinite_and_keeps_the_others() -> None:
    ring = cycle(6)[0]
    both = mdp_from_arrays(
        np.repeat(ring.transitions.array(0), 2, axis=1), np.zeros((6, 2)),
        order=IndexOrder.STATE_ACTION,
    )  # fmt: skip
    width = diameter(class_from_models([both, two_islands(3)]))
    assert width.model_upper.tolist() == [pytest.approx(5.0), np.inf]
    assert width.model == 1


# Rewards in any unit
