"""A cycle attains the bias span of Lemma 3."""

from __future__ import annotations

import pytest

from simgap.bounds import (
    bias_span,
)
from simgap.instances import cycle
from simgap.planning import (
    diameter,
    solve_average_reward,
)


def test_a_cycle_attains_lemma_3() -> None:
    """Theory row 3: sp(l) = D (rho - min R) = (S - 1)/S."""
    for states in (2, 5, 9):
        one = cycle(states)
        D = diameter(one).upper
        span = solve_average_reward(one).bias_span[0]
        assert bias_span(D, 1.0 / states).value == pytest.approx((states - 1) / states)
        assert span == pytest.approx((states - 1) / states)
