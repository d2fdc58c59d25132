"""Losses of agents as numbers of a claim: worst models, ratios, intervals together."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.paper.optimistic import optimistic_exploration
from simgap.experiments.framework.agent_losses import (
    CONFIDENCE,
    KnownClass,
    solved_oracle,
    worst_of_oracles,
)
from simgap.gap import gaps
from simgap.instances import best_arm, needle, riverswim

ARMS = KnownClass.of("three arms", best_arm(3, 0.3))


def test_the_numbers_of_a_class_are_at_their_safe_ends() -> None:
    assert ARMS.members == 3
    assert 0.6 * (1.0 - 1e-10) < ARMS.separation <= 0.6  # L1, two times 0.3
    assert 2.0 <= ARMS.diameter < 2.0 + 1e-9
    assert np.allclose(ARMS.spans, 1.0)


def test_the_worst_gap_is_that_of_the_worst_model() -> None:
    agent = optimistic_exploration(ARMS.known, 200)
    found = ARMS.losses(agent, 200, runs=400, seed=1)
    exact = gaps(ARMS.simulators, agent, 200)
    worst = max(each.upper or 0.0 for each in exact)
    assert found.worst_gap.lower <= worst <= found.worst_gap.upper
    assert found.worst_gap.estimate == max(each.gap.estimate for each in found.found)
    assert found.worst_gap.confidence == CONFIDENCE
    assert found.slack <= 1.0
    assert found.paths == 3 * 400 - sum(
        int(each.runs.truth_eliminated.sum()) for each in found.found
    )
    assert found.dropped.lower <= 1.0 / 200
    # one model alone is one of them
    (alone,) = ARMS.losses(agent, 200, runs=400, seed=1, models=[2]).found
    assert alone.gap.estimate == found.found[2].gap.estimate


def test_the_oracle_is_the_same_every_time_and_its_worst_gap_holds_all() -> None:
    """Theory row 18: with needles every gap from 0 to M - 1 belongs to some oracle."""
    found = solved_oracle(needle(3), 8)
    low, high = worst_of_oracles(found).ends
    assert low == found.average_gap.lower
    assert high == pytest.approx(2.0)
    rivers = riverswim(3, (0.2, 0.5, 0.8), left_reward=0.7, uniform=True)
    one, two = (solved_oracle(rivers, 30) for _ in range(2))
    assert one.average_gap == two.average_gap
