"""The exact oracle on thousands of random cases, and on rows that take longer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
from simgap.oracle.exact import solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from tests.reference.latent import (
    exact_gap,
    gap_intervals,
    random_latent,
    rational,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(10))
def test_the_oracle_is_that_of_the_slow_twin(seed: int) -> None:
    """250 random latent MDPs for each seed, half of them exact as floats."""
    rng = np.random.default_rng([seed, 4])
    for i in range(250):
        exact_floats = i % 2 == 0
        latent, horizon = random_latent(
            rng, denominator=16 if exact_floats else 10, most_histories=1_000
        )
        form = loss_form(latent, horizon=horizon)
        planned = solve_exact(form, ExactOracle())
        gap = exact_gap(latent, horizon)
        assert Fraction(planned.lower) <= gap <= Fraction(planned.upper)
        assert graph_gaps(form, planned.policy) == pytest.approx(
            planned.gaps, abs=1e-12
        )
        assert planned.gap_intervals is not None
        judged = np.array(
            [
                [float(low), float(high)]
                for low, high in gap_intervals(rational(latent), horizon)
            ]
        )
        found = planned.gap_intervals
        assert (found[:, 0] <= judged[:, 0] + 1e-11).all()
        assert (found[:, 1] >= judged[:, 1] - 1e-11).all()
        if exact_floats:  # ties of the twin are ties
            inside = latent.prior > 0.0
            assert found[inside] == pytest.approx(judged[inside], abs=1e-11)


@pytest.mark.parametrize("horizon", [5, 20, 60])
def test_two_switches_are_a_recursion_over_two_differences(horizon: int) -> None:
    form = loss_form(LatentMDP.uniform(switch_pair(0.4, 0.01)), horizon=horizon)
    planned = solve_exact(form, ExactOracle())
    by_table = switch_pair_gap(0.4, 0.01, form.losses[:, 0, 1, 0])
    assert planned.lower <= by_table * (1 + 1e-13)
    assert by_table <= planned.upper * (1 + 1e-13)
    assert planned.upper == pytest.approx(by_table, rel=1e-9)


def test_two_switches_for_very_long() -> None:
    """Theory row 21b: too long for the tree of beliefs, not for a table of it."""
    form = loss_form(LatentMDP.uniform(switch_pair(0.4, 0.01)), horizon=500)
    gap = switch_pair_gap(0.4, 0.01, form.losses[:, 0, 1, 0])
    assert form.informed == pytest.approx(252.4615150, abs=5e-8)
    assert gap == pytest.approx(1.4081236, abs=5e-8)
    assert form.informed - gap == pytest.approx(251.0533914, abs=5e-8)


def switch_pair(delta: float, e: float) -> SimulatorClass:
    """Two switches that differ in which action is the good one (theory row 21)."""
    kernel = np.empty((2, 2, 2, 2))
    kernel[:, 1] = (delta, 1.0 - delta)
    for model in range(2):
        kernel[model, 0] = (1.0 - delta, delta)
        kernel[model, 0, model] = (1.0 - delta - e, delta + e)
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def switch_pair_gap(delta: float, e: float, losses: FloatArray) -> float:
    """Return the average gap of two switches from a table over two differences.

    Evidence is how much oftener action 0 than action 1 has flipped the switch (u), and
    how much oftener it has failed to (f). `losses[h]` is the price of the bad action.
    """
    horizon = losses.size
    up, fail = np.log((delta + e) / delta), np.log((1.0 - delta - e) / (1.0 - delta))
    u = np.arange(-horizon, horizon + 1)[:, None]
    f = np.arange(-horizon, horizon + 1)[None, :]
    first = 1.0 / (1.0 + np.exp(-(u * up + f * fail)))  # belief in model 0
    zero = np.zeros((2 * horizon + 1, 2 * horizon + 1))  # G in state 0 and state 1
    one = zero.copy()
    for h in range(horizon - 1, -1, -1):
        part = slice(horizon - h, horizon + h + 1)
        belief = first[part, part]
        more = slice(horizon - h + 1, horizon + h + 2)
        less = slice(horizon - h - 1, horizon + h)
        flip = delta + e * belief  # by action 0
        play_0 = (1.0 - belief) * losses[h]
        play_0 += flip * one[more, part] + (1.0 - flip) * zero[part, more]
        flip = delta + e * (1.0 - belief)  # by action 1
        play_1 = belief * losses[h]
        play_1 += flip * one[less, part] + (1.0 - flip) * zero[part, less]
        stay = delta * zero[part, part] + (1.0 - delta) * one[part, part]
        zero[part, part] = np.minimum(play_0, play_1)
        one[part, part] = stay
    return float(zero[horizon, horizon])
