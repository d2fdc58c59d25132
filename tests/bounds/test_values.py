"""Lemmas 2 and 3 and the distance of values in nearby models, on random models."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.bounds import (
    bias_span,
    universal_lipschitz,
    value_span,
)
from simgap.instances import cycle
from simgap.planning import (
    diameter,
    optimal_values,
    policy_values,
    solve_average_reward,
)
from tests.reference.rational import RationalMDP
from tests.strategies import STEADY, as_class, rational_classes, rational_models

ROUNDING = 1e-8


@STEADY
@given(rational_models(), st.integers(1, 25))
def test_lemmas_2_and_3_bound_what_they_say(model: RationalMDP, horizon: int) -> None:
    one = as_class([model])
    plan, D = solve_average_reward(one), diameter(one).upper
    gain, span = float(plan.gain[0]), float(plan.bias_span[0])
    low, high = float(one.rewards.min()), float(one.rewards.max())
    above = bias_span(D, max(gain, low), least_reward=low)
    assert span <= above.value + ROUNDING
    values = optimal_values(one, horizon).values[0]
    wide = value_span(D, least_reward=low, greatest_reward=high).value
    assert values.max() - values.min() <= wide + ROUNDING
    start = float(plan.bias[0, 0])
    most = horizon * gain + start  # Lemma 2, min l = 0
    value = optimal_values(one, horizon).start[0]
    assert most - span - ROUNDING <= value <= most + ROUNDING


def test_a_cycle_attains_lemma_3() -> None:
    """Theory row 3: sp(l) = D (rho - min R) = (S - 1)/S."""
    for states in (2, 5, 9):
        one = cycle(states)
        D = diameter(one).upper
        span = solve_average_reward(one).bias_span[0]
        assert bias_span(D, 1.0 / states).value == pytest.approx((states - 1) / states)
        assert span == pytest.approx((states - 1) / states)


@STEADY
@given(
    rational_classes(members=(2, 2), most=(3, 2)),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
)
def test_values_of_nearby_models_are_near(
    models: list[RationalMDP], horizon: int, seed: int
) -> None:
    """Theory row 38, for a random policy and for the optimal values."""
    shared = [RationalMDP(m.transitions, models[0].rewards) for m in models]
    two = as_class(shared)
    distance = float(
        np.abs(two.transitions.array(0) - two.transitions.array(1)).sum(axis=-1).max()
    )
    rng = np.random.default_rng(seed)
    shape = (horizon, two.n_states, two.n_actions)
    policy = rng.dirichlet(np.ones(two.n_actions), size=shape[:2])
    for table in (policy, (policy > 0.5).argmax(axis=2).astype(np.int32)):
        values = policy_values(two, table, horizon).start
        bound = distance * horizon * (horizon - 1) / 4.0
        assert abs(values[0] - values[1]) <= bound + ROUNDING
    best = optimal_values(two, horizon).start
    D = float(diameter(two).model_upper.min())
    bound = distance * D * (horizon - 1) / 2.0 if distance and horizon > 1 else 0.0
    assert abs(best[0] - best[1]) <= bound + ROUNDING


def test_the_universal_constant_adds_both() -> None:
    assert universal_lipschitz(horizon=10, diameter=3.0) == 10 * 9 / 4 + 9 * 3 / 2
    assert universal_lipschitz(horizon=1, diameter=inf) == 0.0
