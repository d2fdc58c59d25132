"""Chains without or against the drift: LU loses the digits, sweeps stop early."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import NotSolved
from simgap.instances import (
    adverse,
    adverse_known,
    chain,
    chain_known,
    nodrift,
    nodrift_known,
)
from simgap.mdp import (
    IndexOrder,
    TabularMDP,
    mdp_from_arrays,
)
from simgap.planning import (
    all_travel_times,
    diameter,
    solve_average_reward,
    travel_times,
)
from tests.planning.known_answers import assert_known


def test_a_chain_without_drift_has_diameter_s_times_s_minus_1() -> None:
    """Storm's value iteration is off by 4e-4 on this one."""
    assert_known(nodrift(200), nodrift_known(200), bias=1e-8)
    width = diameter(nodrift(200))
    assert (int(width.source[0]), int(width.target[0])) in {(0, 199), (199, 0)}


def exact_climb(states: int, up: float, down: float) -> Fraction:
    """The time from end to end, of the probabilities as floats hold them."""
    rise, fall = Fraction(up), Fraction(down)
    step = total = Fraction(1) / rise
    for _ in range(states - 2):
        step = (1 + fall * step) / rise
        total += step
    return total


def with_worse_action(model: TabularMDP, *, first: bool) -> TabularMDP:
    """Add an action that moves half as often and pays nothing."""
    P = model.transitions.array(0)
    lazy = 0.5 * (P + np.eye(model.n_states)[:, None, :])
    pair = (lazy, P) if first else (P, lazy)
    zero = np.zeros_like(model.rewards)
    rewards = (zero, model.rewards) if first else (model.rewards, zero)
    return mdp_from_arrays(
        np.concatenate(pair, axis=1), np.hstack(rewards), order=IndexOrder.STATE_ACTION
    )


@pytest.mark.parametrize("states", [30, 40, 60])
def test_against_the_drift_all_digits_are_right(states: int) -> None:
    """D = 5e9, 5e12, 6e18: LU is off by 2e-7, 2e-4 and 1, Storm by 2e11."""
    base = adverse(states)[0]
    exact = exact_climb(states, 0.2, 0.4)
    for model in (
        base,
        with_worse_action(base, first=True),
        with_worse_action(base, first=False),
    ):
        width = diameter(model)
        room = Fraction(1, 10**15)  # rows divided by their sums on input
        assert Fraction(width.lower) * (1 - room) <= exact
        assert exact <= Fraction(width.upper) * (1 + room)
        assert abs(Fraction(width.upper) / exact - 1) <= 1e-10
        found = travel_times(model, states - 1)
        assert Fraction(float(found.lower[0, 0])) * (1 - room) <= exact
        assert exact <= Fraction(float(found.upper[0, 0])) * (1 + room)
        assert abs(Fraction(float(found.upper[0, 0])) / exact - 1) <= 1e-9
        assert (int(width.source[0]), int(width.target[0])) == (0, states - 1)


@pytest.mark.parametrize("states", [30, 40, 60])
def test_a_gain_of_almost_nothing_is_bracketed(states: int) -> None:
    """rho = 1 / (2^S - 1): 1e-9 down to 1e-18."""
    known = adverse_known(states)
    plan = solve_average_reward(adverse(states))
    assert known.gain is not None
    assert plan.gain_lower[0] <= known.gain[0] * (1.0 + 1e-14)
    assert known.gain[0] * (1.0 - 1e-14) <= plan.gain_upper[0]
    assert plan.gain_upper[0] - plan.gain_lower[0] <= 1e-15


@pytest.mark.parametrize(("up", "down"), [(0.1, 0.3), (0.3, 0.1), (0.01, 0.02)])
def test_chains_of_any_drift_are_their_birth_death_sums(up: float, down: float) -> None:
    assert_known(chain(25, up, down), chain_known(25, up, down), bias=1e-8)


def test_times_beyond_30_digits_are_refused_with_what_is_known() -> None:
    """D = 6e30 is past double-double: a lower bound and an error, not a number."""
    with pytest.raises(NotSolved, match="tolerance") as caught:
        diameter(adverse(100))
    bracket = caught.value.result
    assert isinstance(bracket, tuple)
    assert 1.0 <= bracket[0] <= exact_climb(100, 0.2, 0.4) <= bracket[1]


def test_times_that_overflow_are_refused_and_never_not_a_number() -> None:
    """From 0.1 and 0.8 a state takes 8 times as long as the one before: 8^399."""
    with pytest.raises(NotSolved):
        travel_times(chain(400, 0.1, 0.8), 399)


def test_a_proper_first_policy_that_arrives_by_slips_is_no_trap() -> None:
    """Fewest edges would go by way of a slip of 1e-9; the sane way is longer."""
    n = 70
    P = np.zeros((n, 2, n))
    for s in range(n):
        P[s, 0, s] += 1.0 - 1e-9
        P[s, 0, n - 1] += 1e-9  # the rare slip, first in order
        P[s, 1, (s + 1) % n] = 1.0
    model = mdp_from_arrays(P, np.zeros((n, 2)), order=IndexOrder.STATE_ACTION)
    found = travel_times(model, n - 1)
    wanted: FloatArray = np.arange(n - 1, -1, -1.0)
    assert found.upper[0] == pytest.approx(wanted, rel=1e-7)
    assert (found.policy[0, :-1] == 1).all()


@pytest.mark.parametrize("stay", [0.0, 0.9, 0.999_999])
def test_self_loops_only_stretch_time(stay: float) -> None:
    """Without taking them out, sweeps need 1 / (1 - stay) times as many."""
    n = 18
    P = np.zeros((n, 2, n))
    for s in range(n):
        P[s, 0, s] = 1.0  # never leaves: skipped, not divided by 0
        P[s, 1, s] += stay
        P[s, 1, (s + 1) % n] += 1.0 - stay
    model = mdp_from_arrays(P, np.zeros((n, 2)), order=IndexOrder.STATE_ACTION)
    leave = 1.0 - stay
    assert diameter(model).upper == pytest.approx((n - 1) / leave, rel=1e-9)
    times = all_travel_times(model)
    assert times.upper[0, 0, 1] == pytest.approx((n - 1) / leave, rel=1e-9)
    assert times.upper[0, 1, 0] == pytest.approx(1.0 / leave, rel=1e-9)
