"""V* - H g: against Fractions, against plain values, and over very long horizons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap._kernels.time_limit import time_limited
from simgap.errors import InvalidArgument, OutOfTime
from simgap.instances import cycle, riverswim
from simgap.mdp import IndexOrder, SimulatorClass, Transitions, mdp_from_arrays
from simgap.planning import optimal_values, solve_average_reward
from simgap.planning.relative_values import RelativeValues, relative_values
from tests.reference import episodic as twin
from tests.reference.rational import RationalMDP, stored
from tests.strategies import STEADY, as_class, rational_classes, start_laws


def solved(
    simulators: SimulatorClass, horizon: int, last_steps: int = 0
) -> RelativeValues:
    plan = solve_average_reward(simulators)
    return relative_values(simulators, horizon, plan, last_steps=last_steps)


@STEADY
@given(rational_classes(members=(1, 3)), st.integers(0, 25), st.data())
def test_values_are_within_their_error_of_exact_ones(
    models: list[RationalMDP], horizon: int, data: st.DataObject
) -> None:
    law = data.draw(start_laws(models[0].n_states))
    simulators = as_class(models, start=np.array(law))
    found = solved(simulators, horizon, last_steps=min(horizon, 7))
    for m, model in enumerate(simulators):
        exact = stored(model)
        wanted = twin.optimal_values(exact.transitions, exact.rewards, horizon)
        gain, error = Fraction(float(found.gain[m])), Fraction(float(found.error[m]))
        relative = [v - horizon * gain for v in wanted[0]]
        for s, value in enumerate(relative):
            assert abs(Fraction(float(found.values[m, s])) - value) <= error
        mean = sum(Fraction(p) * v for p, v in zip(law, relative, strict=True))
        assert abs(Fraction(float(found.start[m])) - mean) <= error
        for n in range(found.last.shape[1]):
            for s, value in enumerate(wanted[horizon - n]):
                near = Fraction(float(found.last[m, n, s])) + n * gain
                assert abs(near - value) <= error
        assert 0.0 <= float(found.error[m]) < 1e-9


def test_a_cycle_stays_within_the_span_of_its_bias() -> None:
    """Theory row 2: V*_1(0) = floor(H / S), gain 1 / S."""
    simulators = cycle(3)
    for horizon in (0, 1, 2, 20, 3_000_001):
        found = solved(simulators, horizon)
        wanted = Fraction(horizon // 3) - horizon * Fraction(float(found.gain[0]))
        assert abs(Fraction(float(found.start[0])) - wanted) <= found.error[0]
        assert found.error[0] <= 1e-15 * 100 * max(1, horizon)


def test_rounding_is_measured_by_the_bias_and_not_by_the_horizon() -> None:
    """Plain values at H = 10^5 are certain to 1e-5, their differences to 1e-8."""
    simulators = riverswim(6, (0.1, 0.35, 0.6), left_reward=0.7, uniform=True)
    horizon = 100_000
    found, plain = solved(simulators, horizon), optimal_values(simulators, horizon)
    room = plain.error + found.error + 1e-15 * horizon
    difference = plain.values - horizon * found.gain[:, None] - found.values
    assert (np.abs(difference) <= room[:, None]).all()
    assert (found.error < 1e-8).all()
    assert (found.error < 1e-2 * plain.error).all()


def test_one_model_is_solved_like_a_class_of_one() -> None:
    simulators = riverswim(6, (0.2, 0.5))
    model = simulators[1]
    alone = relative_values(model, 50, solve_average_reward(model))
    assert (alone.values[0] == solved(simulators, 50).values[1]).all()


def test_the_plan_of_another_class_is_refused() -> None:
    plan = solve_average_reward(riverswim(6, (0.2, 0.5)))
    with pytest.raises(InvalidArgument, match="other models"):
        relative_values(riverswim(6, (0.2, 0.4)), 10, plan)
    with pytest.raises(InvalidArgument, match="other models"):
        relative_values(riverswim(5, (0.2, 0.5)), 10, plan)


@pytest.mark.parametrize("last_steps", [-1, 11, True, 2.0])
def test_a_table_longer_than_the_horizon_is_refused(last_steps: int) -> None:
    simulators = riverswim(6, 0.35)
    with pytest.raises(InvalidArgument, match="last_steps"):
        solved(simulators, 10, last_steps=last_steps)


def test_the_error_counts_backups_by_the_size_of_what_they_add_up() -> None:
    """A backup of two numbers: seven units of |R - g| + |W|, which is the pay here."""
    errors = {}
    for pays, shift in ((1.0, 0.0), (1.0, -100.0), (8.0, 300.0)):
        model = mdp_from_arrays(
            [[[0.0, 1.0]], [[1.0, 0.0]]], [[shift], [pays + shift]],
            order=IndexOrder.STATE_ACTION,
        )  # fmt: skip
        plan = solve_average_reward(model)
        for horizon in (1, 1000):
            found = relative_values(model, horizon, plan)
            errors[pays, shift, horizon] = float(found.error[0])
    one = errors[1.0, 0.0, 1]
    assert one == pytest.approx(7.0 * 2.0**-52, rel=1e-9, abs=0.0)
    assert errors[1.0, 0.0, 1000] == pytest.approx(1000.0 * one, rel=1e-9, abs=0.0)
    for horizon in (1, 1000):
        assert errors[1.0, -100.0, horizon] == pytest.approx(
            horizon * one, rel=1e-2, abs=0.0
        )
        assert errors[8.0, 300.0, horizon] == pytest.approx(
            8 * horizon * one, rel=1e-2, abs=0.0
        )


def test_many_first_states_add_the_rounding_of_their_mean() -> None:
    model = riverswim(6, 0.35)
    plan = solve_average_reward(model)
    fixed = relative_values(model, 0, plan)
    assert fixed.error.tolist() == [0.0]
    mixed = replace(model, start=np.full((1, 6), 1.0 / 6.0))
    plan = solve_average_reward(mixed)
    error = relative_values(mixed, 0, plan).error[0]
    size = float(np.abs(model.rewards - plan.gain[0]).max() + plan.bias_span[0])
    assert 6 * 2.0**-52 * size <= error <= 96 * 2.0**-52 * size


def test_values_that_leave_the_span_of_the_bias_are_a_defect() -> None:
    """W of a cycle goes through all of it: with less of a bias it is too large."""
    simulators = cycle(5)
    plan = solve_average_reward(simulators)
    relative_values(simulators, 9, plan)
    with pytest.raises(AssertionError):
        relative_values(simulators, 9, replace(plan, bias=0.99 * plan.bias))
    relative_values(
        simulators, 9, replace(plan, bias=0.99 * plan.bias, residual=np.full(1, 1e-3))
    )


def test_a_plan_is_of_other_models_if_any_number_is_another() -> None:
    """Rings in two directions differ by their successors alone."""
    forward, back = (
        Transitions(
            3, 1, np.arange(4), np.array(after, np.int32),
            np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
        )
        for after in ([1, 2, 0], [2, 0, 1])
    )  # fmt: skip
    rewards = np.array([[[0.0], [0.0], [1.0]], [[0.5], [0.0], [1.0]]])
    ring = SimulatorClass(transitions=forward, rewards=rewards, start=np.zeros(1, int))
    plan = solve_average_reward(ring)
    assert relative_values(replace(ring, rewards=rewards.copy()), 5, plan).horizon == 5
    river = riverswim(3, (0.2, 0.5))
    others = [
        (replace(ring, transitions=back), plan),
        (replace(ring, rewards=rewards + np.eye(3)[0, :, None]), plan),
        (riverswim(3, (0.2, 0.4)), solve_average_reward(river)),
        (riverswim(3, 0.2), solve_average_reward(river)),
    ]
    for other, known in others:
        with pytest.raises(InvalidArgument):
            relative_values(other, 5, known)


def test_values_stop_where_their_time_is_over() -> None:
    simulators = cycle(3)
    plan = solve_average_reward(simulators)
    with time_limited(0.0), pytest.raises(OutOfTime):
        relative_values(simulators, 1, plan)
