"""The diameter: which targets are looked at again, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances import cycle, riverswim
from simgap.planning import all_travel_times, diameter, travel_times


def test_progress_of_a_diameter_ends_with_every_target() -> None:
    """Targets that are dropped count when their model is done."""
    seen: list[tuple[int, int]] = []
    diameter(riverswim(20, (0.3, 0.4)), progress=lambda *x: seen.append(x))
    assert {whole for _, whole in seen} == {40}
    done = [count for count, _ in seen]
    assert done == sorted(done)
    assert done[0] == 0
    assert {20, 40} <= set(done)
    assert done[-1] == 40
    assert max(np.diff(done[: done.index(20)])) == 1


def test_the_narrowest_tolerance_is_met_where_every_step_is_certain() -> None:
    """Rings of two and three: one step and two, to the last digit or two."""
    for states in (2, 3):
        wide = diameter(cycle(states), tolerance=1e-14)
        assert wide.lower <= states - 1 <= wide.upper <= wide.lower * (1.0 + 2e-14)
    one = travel_times(cycle(3), 0, tolerance=1e-14)
    every = all_travel_times(cycle(3), tolerance=1e-14)
    for found in (one.upper[0], every.upper[0, 0]):
        assert found == pytest.approx(np.array([0.0, 2.0, 1.0]), rel=2e-14)
