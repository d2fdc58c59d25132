"""Memory keeps the gap flat; the bound without it against every table of actions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simgap.bounds.lower import memoryless_lower
from simgap.experiments.framework.without_memory import (
    memory_gaps,
    one_good_arm,
)
from simgap.experiments.remarks import control, memory_matters
from simgap.planning import optimal_values, policy_values
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = memory_matters.Settings(
    classes=(memory_matters.Arms("three needles", 3, 0.0, 1.0, (8, 16, 32, 64)),),
    lakes=(100,),
)


def best_table(members: int, other: float, better: float, horizon: int) -> float:
    """Return the least average gap of every table of actions, one by one."""
    simulators = one_good_arm(members, other, better)
    optimal = optimal_values(simulators, horizon).start
    pulls = horizon - 1  # the last action is idle, and the start is not won
    best = np.inf
    for chosen in product(range(members), repeat=2 * pulls - 1):
        table = np.zeros((horizon, 2), np.int32)
        table[:pulls].flat[: 2 * pulls] = [chosen[0], *chosen]
        lost = optimal - policy_values(simulators, table, horizon).start
        best = min(best, float(lost.mean()))
    return best


def test_with_memory_flat_without_linear() -> None:
    found = memory_matters.measured(TINY, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is memory_matters.CLAIM.expected


def test_arms_that_cannot_be_told_apart_in_time_refute_it() -> None:
    """The control: memory is no use before the better arm can be noticed."""
    alike = memory_matters.Arms("alike", 2, 0.5, 0.02, (8, 16, 32))
    few = memory_matters.Settings(classes=(alike,), lakes=(100,))
    assert memory_matters.measured(few, 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize(
    ("members", "other", "better"),
    [(2, 0.1, 0.8), (2, 0.3, 0.4), (2, 0.0, 1.0), (3, 0.0, 1.0), (3, 0.2, 0.5)],
)
@pytest.mark.parametrize("horizon", [2, 3, 4])
def test_no_table_of_actions_is_below_the_bound(
    members: int, other: float, better: float, horizon: int
) -> None:
    known = memoryless_lower(horizon=horizon, members=members, better=better)
    bound = known.value
    exact = best_table(members, other, better, horizon)
    assert bound <= exact + 1e-12
    _, bracket = memory_gaps(members, other, better, horizon)
    low, high = bracket.ends
    assert low <= exact + 1e-12 and exact <= high + 1e-12


@pytest.mark.parametrize("horizon", [2, 5, 40])
def test_three_needles_cost_a_third_of_every_step(horizon: int) -> None:
    """The bound is met: H/3; with memory it is (M - 1)/2 = 1 (theory row 17)."""
    remembering, forgetting = memory_gaps(3, 0.0, 1.0, horizon)
    known = memoryless_lower(horizon=horizon, members=3, better=1.0)
    assert known.value == pytest.approx(horizon / 3)
    assert forgetting.middle == pytest.approx(horizon / 3)
    assert remembering.middle == pytest.approx(1.0 if horizon > 2 else 2 / 3)


def test_the_wrong_claim_is_refuted() -> None:
    settings = control.Settings(horizons=(8, 16, 32))
    found = control.measured(settings, 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is control.CLAIM.expected
    assert [check.verdict for check in found.checks] == [
        ClaimVerdict.HOLDS,
        ClaimVerdict.REFUTED,
    ]
    assert found.key_number.value.middle == pytest.approx(4.0)


def test_the_same_sentence_about_an_agent_with_memory_holds() -> None:
    settings = control.Settings(horizons=(8, 16, 32), with_memory=True)
    assert control.measured(settings, 0, silent).verdict is ClaimVerdict.HOLDS
