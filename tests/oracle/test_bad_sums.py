"""Gaps where every sum over successors rounds in one direction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.mdp import LatentMDP, SimulatorClass, Transitions
from simgap.oracle.baselines.table import baselines
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from tests.bad_sums import bad_numbers, encloses, law

K = 8
LEAVES = 2**K
SOLVERS: tuple[Solver, ...] = (
    ExactOracle(episodes=2),
    BoundedOracle(gap_tolerance=0.2, time_limit=20.0, episodes=2),
    GridOracle(gap_tolerance=0.2, time_limit=20.0, episodes=2),
    AutoOracle(episodes=2),
)


def hidden_fan(number: float) -> LatentMDP:
    """One action leads to 2^K leaves that pay a number, the other to nothing.

    Which one is hidden, and each as likely: whatever is done, half of it is lost.
    """
    leaves = range(1, LEAVES + 1)
    both = [*leaves, LEAVES + 1]  # of either action in state 0
    successors = np.array(both * 2 + [0] * (2 * LEAVES + 2), np.int32)
    lengths = np.array([0, *[len(both)] * 2, *[1] * (2 * LEAVES + 2)])
    good, bad = np.append(law(K), 0.0), np.append(0.0 * law(K), 1.0)
    back = np.ones(2 * LEAVES + 2)
    values = np.stack(
        [np.concatenate([good, bad, back]), np.concatenate([bad, good, back])]
    )
    rewards = np.full((1, LEAVES + 2, 2), number)
    rewards[0, [0, -1]] = 0.0
    worlds = SimulatorClass(
        transitions=Transitions(LEAVES + 2, 2, np.cumsum(lengths), successors, values),
        rewards=rewards,
        start=np.zeros(1, np.int64),
    )
    return LatentMDP.uniform(worlds)


@pytest.mark.parametrize("number", bad_numbers(K)[::2])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda each: type(each).__name__)
def test_the_gap_over_long_rows_is_enclosed(solver: Solver, number: float) -> None:
    latent = hidden_fan(number)
    found = domain_randomization_oracle(latent, horizon=2, solver=solver)
    lost = Fraction(number) / 2
    assert encloses(found.average_gap.ends, lost)
    room = Fraction(found.statistics.rounding)
    assert all(abs(Fraction(each) - Fraction(number)) <= room for each in found.optimal)
    form = loss_form(latent, horizon=2)
    assert encloses(form.informed_ends.ends, Fraction(number))


def test_baselines_over_long_rows_are_enclosed() -> None:
    """No policy does better than half, and none of these does worse."""
    for number in bad_numbers(K)[::2]:
        form = loss_form(hidden_fan(number), horizon=2)
        told = {each.name: each.average_gap for each in baselines(form, effort=0.02)}
        for name in ("memoryless", "minimax", "mean-model", "single-simulator"):
            ends = told[name].lower, told[name].upper
            assert ends[0] is not None and ends[1] is not None
            assert encloses((ends[0], ends[1]), Fraction(number) / 2), name
