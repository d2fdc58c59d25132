"""Rewards as multiples of a unit: what is found, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import NotSolved
from simgap.gap.reward_lattice import reward_lattice


@pytest.mark.parametrize(
    ("rewards", "base", "unit", "jumps"),
    [
        ([0.7], 0.7, 1.0, [0]),
        ([0.3, 0.3], 0.3, 1.0, [0, 0]),
        ([0.0, 1.0, 0.0], 0.0, 1.0, [0, 1, 0]),
        ([0.7, 1.0], 0.7, 1.0 - 0.7, [0, 1]),
        ([2.0**0.5, np.pi], 2.0**0.5, np.pi - 2.0**0.5, [0, 1]),
        ([0.0, 0.7, 1.0], 0.0, 0.1, [0, 7, 10]),
        ([0.1, 0.2, 0.3, 0.7], 0.1, 0.1, [0, 1, 2, 6]),
        ([1.0, 0.005, 0.0], 0.0, 0.005, [200, 1, 0]),
        ([-1.0, 1 / 3, 2 / 3], -1.0, 1 / 3, [0, 4, 5]),
        ([1000.0, 1000.25, 1001.0], 1000.0, 0.25, [0, 1, 4]),
    ],
)
def test_the_coarsest_unit_is_found(
    rewards: list[float], base: float, unit: float, jumps: list[int]
) -> None:
    found = reward_lattice(np.array(rewards))
    assert found.base == base
    assert found.unit == pytest.approx(unit, rel=1e-12)
    assert found.jumps.tolist() == jumps
    places = found.base + found.unit * found.jumps
    assert np.abs(places - rewards).max() <= found.error + 4e-16 * np.abs(rewards).max()
    assert found.error <= 1e-15 * max(1.0, np.abs(rewards).max())


@pytest.mark.parametrize(
    "rewards", [[0.0, 2.0**-0.5, 1.0], [0.0, 1e-5, 1.0], [0.0, 0.1, 0.2 + 1e-9, 1.0]]
)
def test_three_rewards_without_a_unit_are_refused(rewards: list[float]) -> None:
    with pytest.raises(NotSolved, match="no multiples of one unit"):
        reward_lattice(np.array(rewards))
