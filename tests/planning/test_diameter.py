"""The diameter at the narrowest tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances import cycle
from simgap.planning import all_travel_times, diameter, travel_times


def test_the_narrowest_tolerance_is_met_where_every_step_is_certain() -> None:
    """Rings of two and three: one step and two, to the last digit or two."""
    for states in (2, 3):
        wide = diameter(cycle(states), tolerance=1e-14)
        assert wide.lower <= states - 1 <= wide.upper <= wide.lower * (1.0 + 2e-14)
    one = travel_times(cycle(3), 0, tolerance=1e-14)
    every = all_travel_times(cycle(3), tolerance=1e-14)
    for found in (one.upper[0], every.upper[0, 0]):
        assert found == pytest.approx(np.array([0.0, 2.0, 1.0]), rel=2e-14)
