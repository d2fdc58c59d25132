"""What a plan for the average reward claims: units, ranges, residuals, ties."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simgap._kernels.time_limit import time_limited
from simgap.arrays import FloatArray
from simgap.errors import NotSolved, OutOfTime
from simgap.instances import cycle, garnet, riverswim, slip_grid
from simgap.mdp import (
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    class_from_arrays,
    mdp_from_arrays,
)
from simgap.planning import average_reward, solve_average_reward
from simgap.planning.average_exact import ExactGain
from tests.reference.kernel_rows import entries, exact

EPS = 2.0**-52


def two_states(stay_pays: tuple[float, float], move_pays: float) -> TabularMDP:
    """Stay in either state or move to the other."""
    rows = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    rewards = [[pays, move_pays] for pays in stay_pays]
    return mdp_from_arrays(rows, rewards, order=IndexOrder.STATE_ACTION)


def with_bracket(monkeypatch: pytest.MonkeyPatch, lower: float, upper: float) -> None:
    """Let policy iteration end with this bracket."""

    def found(*_: Any) -> ExactGain:
        return ExactGain(lower, upper, np.zeros(2), np.zeros(2, np.int32))

    monkeypatch.setattr(average_reward, "exact_gain", found)


def test_the_tolerance_counts_in_units_of_the_rewards() -> None:
    """In units of 1 or of their spread, and never below the rounding of the largest."""
    for low, high, asked, wanted in (
        (0.0, 0.5, 1e-9, 1e-9),
        (0.0, 100.0, 1e-9, 1e-7),
        (-50.0, 50.0, 1e-9, 1e-7),
        (1e6, 1e6 + 0.5, 1e-15, 16.0 * 6.0 * EPS * (1e6 + 0.5)),
        (-1e6, 0.5 - 1e6, 1e-15, 16.0 * 6.0 * EPS * 1e6),
    ):
        model = two_states((low, high), low)
        plan = solve_average_reward(model, tolerance=asked)
        assert plan.tolerance == pytest.approx(wanted, rel=1e-12, abs=0.0)
        assert plan.gain[0] == pytest.approx(high, rel=1e-12)


def test_a_gain_that_leaves_the_rewards_is_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the tolerance, on either side; as far as that it may be rounding."""
    model = two_states((1.0, 2.0), 1.0)
    for shift, good in ((0.009, True), (0.011, False)):
        for gain in (1.0 - shift, 2.0 + shift):
            with_bracket(monkeypatch, gain, gain)
            if good:
                plan = solve_average_reward(model, tolerance=0.01)
                assert plan.gain[0] == pytest.approx(gain)
            else:
                with pytest.raises(AssertionError):
                    solve_average_reward(model, tolerance=0.01)


def test_a_bracket_that_stays_open_is_told_as_far_as_rewards_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = two_states((1.0, 2.0), 1.0)
    for ends, told in (
        ((1.25, 1.75), (1.25, 1.75)),
        ((-5.0, 1.5), (1.0, 1.5)),
        ((1.5, np.inf), (1.5, 2.0)),
        ((np.nan, np.nan), (1.0, 2.0)),
    ):
        with_bracket(monkeypatch, *ends)
        with pytest.raises(NotSolved) as caught:
            solve_average_reward(model, tolerance=0.4)
        assert caught.value.result == told
    with_bracket(monkeypatch, 1.25, 1.75)
    plan = solve_average_reward(model, tolerance=0.51)
    assert (plan.gain_lower[0], plan.gain_upper[0]) == (1.25, 1.75)


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_stay_that_pays_almost_as_much_leaves_the_bias_open(unit: float) -> None:
    """Within a billionth of the spread of rewards it counts as tied."""
    for loss, unique in ((0.0, False), (2e-10, False), (1e-7, True), (0.5, True)):
        model = two_states((unit, unit * (1.0 - loss)), 0.0)
        assert solve_average_reward(model).unique_bias.tolist() == [unique]
        shifted = two_states((unit * 8.0, unit * (8.0 - loss)), 7.0 * unit)
        assert solve_average_reward(shifted).unique_bias.tolist() == [unique]


def exact_defects(model: TabularMDP, bias: FloatArray) -> list[Fraction]:
    """T l - l in Fractions, rows divided by their sums."""
    kernel, h = model.transitions, exact(bias)
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    totals = []
    for row, reward in enumerate(model.rewards.reshape(-1).tolist()):
        law = [(t, Fraction(p)) for t, p in entries(rows, row)]
        whole = sum((p for _, p in law), Fraction(0))
        mean = sum((p * h[t] for t, p in law), Fraction(0)) / whole
        totals.append(Fraction(reward) + mean)
    A = model.n_actions
    return [max(totals[s * A : s * A + A]) - h[s] for s in range(model.n_states)]


def holds(simulators: SimulatorClass, tolerance: float) -> set[str]:
    """Check the residual of every model in Fractions; return the methods."""
    plan = solve_average_reward(simulators, tolerance=tolerance)
    for m, model in enumerate(simulators):
        middle = Fraction(float(plan.gain[m]))
        worst = max(abs(x - middle) for x in exact_defects(model, plan.bias[m]))
        residual = Fraction(float(plan.residual[m]))
        assert worst <= residual
        assert residual <= worst + 2 * Fraction(tolerance) + Fraction(1, 10**12)
        assert min(plan.bias[m]) == 0.0
    return set(plan.method)


@pytest.mark.parametrize("tolerance", [1e-13, 1e-9, 0.1])
def test_the_residual_of_every_method_holds_in_fractions(
    tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone and side by side, as narrow as floats allow and as wide as a tenth."""
    monkeypatch.setattr(average_reward, "SHARPEN_UP_TO", 10)
    seen = holds(riverswim(6, 0.35), tolerance)
    seen |= holds(garnet(20, 2, 3, 1, seed=3), tolerance)
    seen |= holds(garnet(20, 2, 3, 3, separation=0.2), tolerance)
    seen |= holds(slip_grid(5, 5, 0.2), tolerance)
    seen |= holds(riverswim(20, 0.35), tolerance)
    assert seen >= {"sweeps", "policy iteration"}
    assert "returns" in seen or tolerance == 0.1


def test_a_plan_knows_its_middle_and_its_span() -> None:
    plan = solve_average_reward(cycle(4))
    wide = replace(
        plan,
        gain_lower=np.array([1.0]),
        gain_upper=np.array([2.0]),
        bias=np.array([[3.0, 1.0, 7.0, 2.0]]),
    )
    assert wide.gain.tolist() == [1.5]
    assert wide.bias_span.tolist() == [6.0]


def test_gains_stop_where_their_time_is_over() -> None:
    with time_limited(0.0), pytest.raises(OutOfTime):
        solve_average_reward(cycle(65))


def test_small_models_are_solved_to_the_last_digits_and_larger_ones_swept() -> None:
    for states, method in ((60, "policy iteration"), (61, "sweeps")):
        plan = solve_average_reward(garnet(states, 2, 3, 1))
        assert plan.method == (method,)
        assert plan.gain_upper[0] - plan.gain_lower[0] <= 1e-9


def test_three_models_are_swept_side_by_side_and_two_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(average_reward, "SHARPEN_UP_TO", 10)
    asked: list[int] = []
    alone = average_reward._solve

    def counted(every: SimulatorClass, member: int, *rest: Any) -> Any:
        asked.append(member)
        return alone(every, member, *rest)

    monkeypatch.setattr(average_reward, "_solve", counted)
    for members, wanted in ((2, [0, 1]), (3, [])):
        asked.clear()
        plan = solve_average_reward(garnet(20, 2, 3, members, separation=0.2))
        assert asked == wanted
        assert plan.method == ("sweeps",) * members


@pytest.mark.parametrize("members", [1, 3])
def test_sweeps_take_the_lowest_action_within_a_tenth_of_the_tolerance(
    members: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(average_reward, "SHARPEN_UP_TO", 0)
    for loss, action in ((0.05e-3, 0), (0.5e-3, 1)):
        rows = np.full((members, 2, 2, 2), 0.5)
        rewards = [[0.5 - loss, 0.5], [1.0 - loss, 1.0]]
        every = class_from_arrays(rows, rewards, order=IndexOrder.STATE_ACTION)
        plan = solve_average_reward(every, tolerance=1e-3)
        assert plan.method == ("sweeps",) * members
        assert (plan.policy == action).all()
        assert plan.gain_upper[0] - plan.gain_lower[0] <= 1e-4
