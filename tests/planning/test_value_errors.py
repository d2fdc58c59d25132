"""What values over H steps claim of their own rounding, ties and range."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import (
    Details,
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    Transitions,
    class_from_arrays,
    mdp_from_arrays,
)
from simgap.planning import (
    episodic,
    optimal_values,
    policy_values,
    solve_episodic,
)
from simgap.planning.episodic import checked_horizon, start_defect, start_rounding

EPS = 2.0**-52


def three_states() -> SimulatorClass:
    """Two models of which every row has three entries that sum to 1 exactly."""
    rows = np.tile([0.25, 0.5, 0.25], (2, 3, 2, 1))
    rewards = [[[0.0, 1.0], [0.5, 0.0], [-1.0, 0.0]]] * 2
    return class_from_arrays(rows, rewards, order=IndexOrder.STATE_ACTION)


def near(wanted: object) -> object:
    """Equal to six digits, however small."""
    return pytest.approx(wanted, rel=1e-6, abs=0.0)


def one_state(rewards: list[float]) -> TabularMDP:
    return mdp_from_arrays(
        np.ones((1, len(rewards), 1)), [rewards], order=IndexOrder.STATE_ACTION
    )


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000])
def test_the_error_is_a_few_units_of_every_backup(horizon: int) -> None:
    """(b + 3) u of the greatest value so far: h max |R| with h steps to go."""
    sums = horizon * (horizon + 1) // 2
    for model, longest, largest in (
        (one_state([2.0, -3.0, 1.0]), 1, 3.0),
        (three_states(), 3, 1.0),
    ):
        wanted = (longest + 3) * EPS * largest * sums
        for found in (optimal_values(model, horizon), solve_episodic(model, horizon)):
            assert found.error == near(np.full(len(found.error), wanted))
        actions = model.n_actions
        still = policy_values(model, np.zeros(model.n_states, int), horizon)
        assert still.error == near(np.full(len(found.error), wanted))
        even = np.full((model.n_states, actions), 1.0 / actions)
        mixed = policy_values(model, even, horizon)
        wanted = (longest + actions + 5) * EPS * largest * sums
        assert mixed.error == near(np.full(len(found.error), wanted))


def test_rewards_of_nothing_have_no_error() -> None:
    assert optimal_values(one_state([0.0, 0.0]), 1000).error.tolist() == [0.0]


def test_rows_that_do_not_sum_to_1_add_what_is_missing_to_the_error() -> None:
    """Per model: the second is off by 1e-10 in one row."""
    pointers, successors = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    values = np.array([[0.5] * 4, [0.5, 0.5, 0.5 + 1e-10, 0.5]])
    every = SimulatorClass(
        transitions=Transitions(2, 1, pointers, successors, values),
        rewards=np.array([[[0.0], [1.0]]]),
        start=np.zeros(1, np.int64),
    )
    exact, off = optimal_values(every, 10).error
    assert exact == near(5 * EPS * 55)
    assert off == pytest.approx(1e-10 * 55, rel=1e-4, abs=0.0)


def test_many_first_states_round_their_mean_and_miss_some_of_it() -> None:
    """Tenths do not sum to 1; a single first state is known without any error."""
    rows, rewards = np.eye(10)[None, :, None], np.ones((10, 1))
    laws = np.array([[0.5, 0.5, *[0.0] * 8], [0.1] * 10, [0.3, 0.7, *[0.0] * 8]])
    order = IndexOrder.STATE_ACTION
    mixed, single = (
        class_from_arrays(
            np.repeat(rows, 3, axis=0), rewards, order=order,
            details=Details(start=start),
        )
        for start in (laws, np.array([1, 2, 3]))
    )  # fmt: skip
    assert (start_defect(single), start_rounding(single)) == (0.0, 0.0)
    laws = mixed.start.tolist()
    missing = [abs(1 - sum(map(Fraction, law), Fraction(0))) for law in laws]
    assert max(missing) > min(missing)
    assert max(missing) <= Fraction(start_defect(mixed)) <= max(missing) * (1 + EPS)
    assert start_rounding(mixed) == near(11 * EPS + float(max(missing)))
    error = optimal_values(mixed, 4).error - optimal_values(single, 4).error
    assert error == near(np.full(3, 4.0 * start_rounding(mixed)))


def test_values_that_leave_what_rewards_allow_are_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each model has the range of its own rewards, and no other's."""
    every = class_from_arrays(
        np.ones((2, 1, 2, 1)), [[[-1.0, 2.0]], [[-10.0, 20.0]]],
        order=IndexOrder.STATE_ACTION,
    )  # fmt: skip
    for value, good in ((10.0, True), (-5.0, True), (10.001, False), (-5.001, False)):
        wrong: FloatArray = np.array([[value], [60.0]])
        monkeypatch.setattr(
            episodic, "_optimal", lambda _, m, __, found=wrong: found[m]
        )
        if good:
            assert optimal_values(every, 5).values.tolist() == wrong.tolist()
        else:
            with pytest.raises(AssertionError):
                optimal_values(every, 5)


def test_actions_are_tied_within_the_rounding_of_their_own_model() -> None:
    """2 (b + 3) u |R| a step: 8 u for rewards of 1, whatever another model pays."""
    units = np.array([0.0, 6.0, 12.0]) * EPS
    for horizon, better in ((1, 2), (2, 2), (5, 2)):
        rewards = np.array([[1.0 - 12.0 * EPS * horizon] * 3, [-1e6] * 3])
        rewards[0] += units * horizon
        every = class_from_arrays(
            np.ones((2, 1, 3, 1)), rewards[:, None], order=IndexOrder.STATE_ACTION
        )
        assert solve_episodic(every, horizon).policy[0, 0, 0] == 1
        assert solve_episodic(every[0], horizon).policy[0, 0, 0] == 1
        assert np.argmax(every.rewards[0, 0]) == better


def test_a_table_fits_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three models of six states, four values each."""
    every = riverswim(6, (0.1, 0.35, 0.6))
    monkeypatch.setattr(episodic, "LARGEST_PLAN", 3 * 4 * 6)
    assert solve_episodic(every, 3).values.shape == (3, 4, 6)
    monkeypatch.setattr(episodic, "LARGEST_PLAN", 3 * 4 * 6 - 1)
    with pytest.raises(InvalidArgument):
        solve_episodic(every, 3)


def test_horizons_are_whole_numbers_up_to_a_billion() -> None:
    for horizon in (0, 10**9, np.int32(7)):
        found = checked_horizon(horizon)  # type: ignore[arg-type]
        assert type(found) is int
        assert found == horizon
    for wrong in (-1, 10**9 + 1):
        with pytest.raises(InvalidArgument):
            checked_horizon(wrong)


def test_a_policy_is_followed_whatever_kind_of_numbers_it_is_written_in() -> None:
    """One step from state 0: action a pays a, half of each pays 1/2."""
    model = one_state([0.0, 1.0])
    for policy, pays in (
        (np.array([1], np.uint8), 1.0),
        (np.array([[1]], np.int64), 1.0),
        (np.array([[0.5, 0.5]], np.float32), 0.5),
        (np.array([[0.25, 0.75 + 2e-10]]), 0.75),
    ):
        found = policy_values(model, policy, 1).values[0, 0]
        assert found == pytest.approx(pays, abs=1e-9)
    with pytest.raises(InvalidArgument):
        policy_values(model, np.array([[0.25, 0.75 + 2e-9]]), 1)
