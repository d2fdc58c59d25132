"""The grid solver: a lattice of beliefs for two or three models."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances import riverswim
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.result import Outcome
from simgap.oracle.settings import GridOracle


def coins(e: float) -> LatentMDP:
    """Return theory row 15: two arms, one better by e; win and lose are states."""
    kernel = np.empty((2, 2, 2, 2))
    for m in range(2):
        for a in range(2):
            win = 0.5 + e * (a == m)
            kernel[m, :, a] = (1.0 - win, win)
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    return LatentMDP.uniform(simulators)


@pytest.mark.parametrize("e", [0.1, 0.25])
def test_two_coins_have_the_values_of_the_closed_form(e: float) -> None:
    """Theory rows 15 and 16."""
    wanted = {
        2: 0.5 + e / 2,
        3: 1 + e + e**2 / 2,
        4: 1.5 + 1.5 * e + e**2 + e**3 / 2,
    }
    for horizon, value in wanted.items():
        solver = GridOracle(gap_tolerance=1e-4, negligible=0.0, time_limit=2.0)
        found = domain_randomization_oracle(coins(e), horizon=horizon, solver=solver)
        assert found.value.lower is not None
        assert found.value.upper is not None
        assert found.value.lower - 1e-12 <= value <= found.value.upper + 1e-12
        assert found.value.upper - found.value.lower < 1e-3


def test_two_coins_for_long() -> None:
    """Theory row 19: 51 steps; W* = 26.48079394, average gap 1.019206."""
    solver = GridOracle(gap_tolerance=0.01, time_limit=10.0, episodes=200)
    found = domain_randomization_oracle(coins(0.05), horizon=51, solver=solver)
    gap = found.average_gap
    assert gap.lower is not None
    assert gap.upper is not None
    assert gap.lower - 5e-7 <= 1.019206 <= gap.upper + 5e-7
    assert found.value.lower is not None
    assert found.value.upper is not None
    assert found.value.lower - 5e-9 <= 26.48079394 <= found.value.upper + 5e-9
    assert found.outcome is Outcome.SOLVED


@pytest.mark.parametrize("horizon", [200, 1000])
def test_very_long_horizons_are_bracketed(horizon: int) -> None:
    latent = LatentMDP.uniform(riverswim(success=(0.2, 0.4)))
    solver = GridOracle(gap_tolerance=0.1, time_limit=10.0, episodes=50)
    found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    assert found.outcome is Outcome.SOLVED
