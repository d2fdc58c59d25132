"""V* - H g: against Fractions, against plain values, and over very long horizons."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap._kernels.time_limit import time_limited
from simgap.errors import InvalidArgument, OutOfTime
from simgap.instances import cycle, riverswim
from simgap.mdp import SimulatorClass
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


def test_values_stop_where_their_time_is_over() -> None:
    simulators = cycle(3)
    plan = solve_average_reward(simulators)
    with time_limited(0.0), pytest.raises(OutOfTime):
        relative_values(simulators, 1, plan)
