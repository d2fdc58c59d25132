"""The twins agree with one another before anything else is compared with them."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from tests.reference import average_reward, episodic, travel
from tests.reference.rational import (
    COMMUNICATING,
    Family,
    RationalMDP,
    frozen,
    scattered_model,
    stored,
)

SHAPES = ((1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (4, 2), (3, 3))


def tiny_models(family: Family) -> list[RationalMDP]:
    rng = np.random.default_rng(7)
    return [family(rng, S, A, n) for S, A in SHAPES for n in (8, 12)]


@pytest.mark.parametrize("family", COMMUNICATING)
def test_families_called_communicating_are(family: Family) -> None:
    assert all(travel.communicating(model.transitions) for model in tiny_models(family))


@pytest.mark.parametrize("family", [*COMMUNICATING, scattered_model])
def test_hitting_times_by_iteration_and_by_enumeration_agree(family: Family) -> None:
    for model in tiny_models(family):
        for target in range(model.n_states):
            P = model.transitions
            enumerated = travel.hitting_times_by_enumeration(P, target)
            assert travel.hitting_times(P, target) == enumerated


def test_a_path_past_a_trap_is_not_a_finite_time() -> None:
    """From 0 one reaches 1 with probability 1/2 and is lost in 2 otherwise."""
    half, one, nil = Fraction(1, 2), Fraction(1), Fraction(0)
    P = [[[nil, half, half]], [[nil, one, nil]], [[nil, nil, one]]]
    assert travel.hitting_times(P, 1) == [inf, 0, inf]
    assert travel.hitting_times_by_enumeration(P, 1) == [inf, 0, inf]


@pytest.mark.parametrize("family", COMMUNICATING)
def test_gain_by_enumeration_and_by_linear_program_agree(family: Family) -> None:
    for model in tiny_models(family):
        P, R = model.transitions, model.rewards
        gain, bias = average_reward.optimal_gain_and_bias(P, R)
        assert not any(average_reward.equation_defects(P, R, gain, bias))
        by_program, _ = average_reward.gain_by_linear_program(*model.arrays())
        assert by_program == pytest.approx(float(gain), abs=1e-9)


def test_no_policy_has_a_larger_gain() -> None:
    for model in tiny_models(COMMUNICATING[1]):
        P, R = model.transitions, model.rewards
        gain = average_reward.optimal_gain(P, R)
        for action in range(model.n_actions):
            policy = [action] * model.n_states
            assert max(average_reward.policy_gain(P, R, policy)) <= gain


@pytest.mark.parametrize("horizon", [0, 1, 2, 3])
def test_backward_induction_and_all_policies_agree(horizon: int) -> None:
    rng = np.random.default_rng(3)
    for family in COMMUNICATING:
        model = family(rng, 2, 2, 4)
        P, R = model.transitions, model.rewards
        induced = episodic.optimal_values(P, R, horizon)[0]
        for start in range(2):
            listed = episodic.optimal_value_by_enumeration(P, R, horizon, start)
            assert induced[start] == listed


def test_policy_values_by_induction_and_by_trajectories_agree() -> None:
    rng = np.random.default_rng(5)
    half = Fraction(1, 2)
    for family in COMMUNICATING:
        model = family(rng, 3, 2, 6)
        policy = [[[half, half], [Fraction(1), Fraction(0)], [half, half]]] * 4
        P, R = model.transitions, model.rewards
        values = episodic.policy_values(P, R, policy)[0]
        for start in range(3):
            summed = episodic.policy_value_by_trajectories(P, R, policy, start)
            assert values[start] == summed


def test_floats_and_fractions_agree() -> None:
    rng = np.random.default_rng(9)
    for family in COMMUNICATING:
        model = family(rng, 4, 3, 16)
        exact = episodic.optimal_values(model.transitions, model.rewards, 20)
        floats = episodic.optimal_values_in_floats(*model.arrays(), 20)
        assert floats == pytest.approx(np.array(exact, np.float64), rel=1e-13)


def test_dyadic_models_are_stored_without_rounding() -> None:
    rng = np.random.default_rng(11)
    for family in COMMUNICATING[:4]:
        model = family(rng, 5, 2, 16)
        assert stored(model.simulator()) == model


def test_rows_that_are_not_distributions_are_refused() -> None:
    with pytest.raises(ValueError, match="not a distribution"):
        frozen([[[Fraction(1, 2)]]], [[Fraction(0)]])
