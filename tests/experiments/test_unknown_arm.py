"""The infinite class of an unknown arm: closed forms, a slow twin, all its balls."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.unknown_arm import HALF, UnknownArm
from simgap.instances import bandit


def best_of_all_policies(arm: UnknownArm) -> Fraction:
    """W* - n/2 over all policies: the second arm may be pulled after the first."""
    a = Fraction(1, arm.power)

    @cache
    def most(left: int, s: int, f: int) -> Fraction:
        if left == 0:
            return Fraction(0)
        win = (a + s) / (a + 1 + s + f)
        pull = win * most(left - 1, s + 1, f) + (1 - win) * most(left - 1, s, f + 1)
        return max(most(left - 1, s, f), win - HALF + pull)

    return most(arm.pulls, 0, 0)


@pytest.mark.parametrize("horizon", [1, 2, 3, 6, 11])
@pytest.mark.parametrize("power", [1, 2, 3, 12])
def test_the_oracle_is_the_best_of_all_policies(horizon: int, power: int) -> None:
    arm = UnknownArm(horizon, power)
    assert arm.advantage == best_of_all_policies(arm)
    assert arm.idle == (arm.advantage == 0)
    assert arm.idle or not arm.never_pulled


@pytest.mark.parametrize("power", [1, 2])
def test_gaps_integrate_to_their_mean_and_are_never_negative(power: int) -> None:
    """Simpson's rule in u on both sides of the kink, against the closed form."""
    arm = UnknownArm(7, power)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    turn, total = 0.5 ** (1.0 / power), 0.0
    for low, high in ((0.0, turn), (turn, 1.0)):
        for x, w in zip(nodes, weights, strict=True):
            u = low + (high - low) * (x + 1.0) / 2.0
            gap = arm.gap(Fraction(float(u)) ** power)
            assert gap >= 0
            total += float(gap) * w * (high - low) / 2.0
    low, high = arm.mean_gap.ends
    assert low - 1e-9 <= total <= high + 1e-9


def test_a_fine_grid_of_the_class_has_nearly_its_oracle() -> None:
    """200 members at the middles of equal parts of u, solved by the library."""
    arm, u = UnknownArm(6, 2), (np.arange(200) + 0.5) / 200
    found = exact_oracle(bandit(np.column_stack([np.full(200, 0.5), u**2])), 6)
    value = arm.pulls / 2.0 + float(arm.advantage)
    assert found.value.ends[0] == pytest.approx(value, abs=2e-4)


@pytest.mark.parametrize("horizon", [2, 3, 20, 1000, 10**6])
def test_as_many_powers_as_steps_and_it_is_never_pulled(horizon: int) -> None:
    arm = UnknownArm(horizon, horizon)
    assert arm.never_pulled
    assert arm.gap(Fraction(1)) == Fraction(horizon - 1, 2)
    assert arm.gap(Fraction(1, 3)) == 0


def test_brackets_of_all_balls_hold_what_finer_grids_find() -> None:
    arm = UnknownArm(20, 20)
    for share in (0.2, 0.5, 1.0):
        coarse, fine = (
            arm.excess(arm.mean_gap, share * arm.gap_constant, cells=c, radii=c).ends
            for c in (100, 800)
        )
        assert coarse[0] <= fine[0] + 1e-9
        assert fine[0] <= fine[1] <= coarse[1] + 1e-9
