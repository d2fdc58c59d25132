"""Losses of agents as numbers of a claim: worst models, ratios, intervals together."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.fixed import uniformly_random
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.paper.optimistic import optimistic_exploration
from simgap.errors import InvalidArgument
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


def test_regret_is_averaged_over_models_with_all_intervals_at_once() -> None:
    agent = likelihood_optimism(ARMS.known, 100)
    found = ARMS.losses(agent, 100, runs=50, seed=1)
    each = [one.regret for one in found.found if one.regret is not None]
    mean = found.mean_regret
    assert mean.estimate == pytest.approx(np.mean([one.estimate for one in each]))
    assert mean.upper == pytest.approx(np.mean([one.upper for one in each]))
    assert found.worst_regret.estimate == max(one.estimate for one in each)
    assert found.settled == all((o.runs.identified >= 0).all() for o in found.found)


def test_an_agent_without_a_theorem_has_no_slack() -> None:
    policy = uniformly_random(ARMS.simulators)
    found = ARMS.losses(policy, 20, runs=5, seed=0)
    with pytest.raises(InvalidArgument, match="nothing is claimed of any path"):
        _ = found.slack


def test_the_oracle_is_the_same_every_time_and_its_worst_gap_holds_all() -> None:
    """Theory row 18: with needles every gap from 0 to M - 1 belongs to some oracle."""
    found = solved_oracle(needle(3), 8)
    low, high = worst_of_oracles(found).ends
    assert low == found.average_gap.lower
    assert high == pytest.approx(2.0)
    rivers = riverswim(3, (0.2, 0.5, 0.8), left_reward=0.7, uniform=True)
    one, two = (solved_oracle(rivers, 30) for _ in range(2))
    assert one.average_gap == two.average_gap
