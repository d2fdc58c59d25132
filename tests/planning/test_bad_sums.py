"""Values, gains and travel times where every sum rounds in one direction."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simgap.mdp import (
    Details,
    IndexOrder,
    SimulatorClass,
    Transitions,
    class_from_arrays,
)
from simgap.planning import (
    all_travel_times,
    diameter,
    optimal_values,
    policy_values,
    solve_average_reward,
    solve_episodic,
    travel_times,
)
from simgap.planning.relative_values import relative_values
from tests.bad_sums import bad_numbers, encloses, law

K = 13
LEAVES = 2**K
SMALL = 2**9


def fan(
    members: int, number: float = 0.0, back: float = 1.0, k: int = K
) -> SimulatorClass:
    """State 0 leads to one of 2^k leaves, which pay and lead back with some chance."""
    leaves = 2**k
    home = [[0, leaf] if back < 1.0 else [0] for leaf in range(1, leaves + 1)]
    chances = [1.0 * back, 1.0 - back] if back < 1.0 else [1.0]
    lengths = np.array([0, leaves, *(len(each) for each in home)])
    successors = np.array([*range(1, leaves + 1), *(s for row in home for s in row)])
    row = np.concatenate([law(k), np.tile(chances, leaves)])
    rewards = np.full((1, leaves + 1, 1), number)
    rewards[0, 0] = 0.0
    return SimulatorClass(
        transitions=Transitions(
            leaves + 1,
            1,
            np.cumsum(lengths),
            successors.astype(np.int32),
            np.stack([row] * members),
        ),
        rewards=rewards,
        start=np.zeros(1, np.int64),
    )


@pytest.mark.parametrize("number", bad_numbers(K))
@pytest.mark.parametrize("members", [1, 3])
def test_values_over_long_rows_are_enclosed(number: float, members: int) -> None:
    """Two steps from state 0 are worth a leaf, four of them two."""
    for horizon in (2, 4):
        worth = Fraction(number) * (horizon // 2)
        made = fan(members, number)
        still = np.zeros((horizon, LEAVES + 1), np.int32)
        for found in (
            optimal_values(made, horizon),
            solve_episodic(made, horizon),
            policy_values(made, still, horizon),
        ):
            assert (found.error > 0.0).all()
            for start, error in zip(found.start, found.error, strict=True):
                assert abs(Fraction(start) - worth) <= Fraction(error)
    assert encloses(optimal_values(made, 2).start_ends[-1], Fraction(number))


@pytest.mark.parametrize("number", bad_numbers(9))
def test_values_of_many_first_states_are_enclosed(number: float) -> None:
    """Every state stays and pays the same, and any of them may be the first."""
    made = class_from_arrays(
        np.eye(SMALL)[None, :, None],
        np.full((SMALL, 1), number),
        order=IndexOrder.STATE_ACTION,
        details=Details(start=law(9)),
    )
    assert encloses(optimal_values(made, 1).start_ends[0], Fraction(number))


@pytest.mark.parametrize("number", bad_numbers(K))
@pytest.mark.parametrize("members", [1, 3])
def test_gains_over_long_rows_are_enclosed(number: float, members: int) -> None:
    """One leaf in two steps."""
    plan = solve_average_reward(fan(members, number))
    for ends in zip(plan.gain_lower, plan.gain_upper, strict=True):
        assert encloses(ends, Fraction(number) / 2)
    found = relative_values(plan.simulators, 2, plan)
    for start, gain, error in zip(found.start, found.gain, found.error, strict=True):
        assert abs(Fraction(start) + 2 * Fraction(gain) - Fraction(number)) <= error


@pytest.mark.parametrize("back", [0.75, 1.0 - 2.0**-20, 2.0**-7 + 2.0**-30])
def test_travel_over_long_rows_is_enclosed(back: float) -> None:
    """From a leaf to another: home, out, and again until it is the right one.

    Home takes b = 1 / back steps. From state 0 it is t = 1 + (1 - 1/n) (b + t), that is
    n + (n - 1) b, and from another leaf b more.
    """
    made = fan(1, back=back, k=9)
    home = 1 / Fraction(back)
    found = travel_times(made, 1)
    assert encloses((found.lower[0, 2], found.upper[0, 2]), SMALL + SMALL * home)
    assert encloses((found.lower[0, 0], found.upper[0, 0]), SMALL * (1 + home) - home)


@pytest.mark.parametrize("off", [0.0, 1e-13, -4e-10])
def test_laws_that_do_not_sum_to_one_are_read_as_divided_by_their_sums(
    off: float,
) -> None:
    """Every state pays 1, so that H steps are worth H whatever the rows are."""
    pointers, successors = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    rows = Transitions(2, 1, pointers, successors, np.array([[0.5, 0.5 + off] * 2]))
    made = SimulatorClass(
        transitions=rows, rewards=np.ones((1, 2, 1)), start=np.array([[0.5 + off, 0.5]])
    )
    single = replace(made, start=np.zeros(1, np.int64))
    for horizon in (1, 7):
        for each in (made, single):
            found = optimal_values(each, horizon)
            assert encloses(found.start_ends[0], Fraction(horizon))
            assert found.error[0] < 1e-13 + 2.0 * abs(off) * horizon**2


def two_states(rows: list[list[float]]) -> SimulatorClass:
    """Models (stay, leave, leave, stay) of two states that pay 1 and 3."""
    pointers, successors = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    return SimulatorClass(
        transitions=Transitions(2, 1, pointers, successors, np.array(rows)),
        rewards=np.array([[[1.0], [3.0]]]),
        start=np.zeros(1, np.int64),
    )


def crossings(rows: list[float]) -> tuple[Fraction, Fraction]:
    """Expected steps from either state to the other, rows divided by their sums."""
    stay, up, down, rest = map(Fraction, rows)
    return (stay + up) / up, (down + rest) / down


OFF = 3e-10
ROWS = [
    [0.5, 0.5 + OFF, 0.25 + OFF, 0.75],
    [0.5, 0.5 - OFF, 0.25 - OFF, 0.75],
    [0.99 - OFF, 0.01, 0.5, 0.5],
    [0.99 + OFF, 0.01, 0.5, 0.5],
    [0.99 + OFF, 0.01, 0.01, 0.99 - OFF],
]


@pytest.mark.parametrize("rows", ROWS)
def test_times_are_those_of_rows_divided_by_their_sums(rows: list[float]) -> None:
    """A long stay that is off by 3e-10 was taken for 3e-8 of the time to leave."""
    made = two_states([[0.5, 0.5, 0.25, 0.75], rows])
    wide = diameter(made, tolerance=1e-12)
    every = all_travel_times(made, tolerance=1e-12)
    for m, times in enumerate(((Fraction(2), Fraction(4)), crossings(rows))):
        room = 4.1 * OFF * float(max(times)) if m else 1e-11
        far = wide.model_lower[m], wide.model_upper[m]
        assert encloses(far, max(times))
        assert far[1] - far[0] <= room
        for source, target in ((0, 1), (1, 0)):
            found = travel_times(made, target, tolerance=1e-12)
            for ends in (
                (found.lower[m, source], found.upper[m, source]),
                (every.lower[m, target, source], every.upper[m, target, source]),
            ):
                assert encloses(ends, times[source])
                assert ends[1] - ends[0] <= room
