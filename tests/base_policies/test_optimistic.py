"""Algorithm 3: the readable policy and the compiled one are the same agent."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.optimistic import Threshold, optimistic_exploration
from simgap.instances import riverswim
from simgap.simulation.observed import RewardSignal
from tests.base_policies.cases import assert_same, both_ways, random_class


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", list(Threshold))
def test_compiled_and_step_by_step_are_equal_to_the_last_bit(
    kind: Threshold, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    worlds = random_class(
        rng, members=3, own_rewards=seed % 3 == 1, random_start=seed % 2 == 1
    )
    signal = RewardSignal.UNSEEN if seed % 3 != 1 else list(RewardSignal)[seed % 2 + 1]
    agent = optimistic_exploration(
        worlds, 400, threshold=kind, one_sided=seed >= 3, signal=signal
    )
    for fast, slow in both_ways(agent, seed=seed):
        assert_same(fast, slow)


def test_row_34_the_printed_threshold_empties_the_class_in_four_steps() -> None:
    """Errata E17: zero at the first step, so that any random step contradicts."""
    rivers = riverswim(6, (0.35, 0.25, 0.45, 0.30))
    agent = optimistic_exploration(rivers, 500, literal=True)
    for fast, slow in both_ways(agent):
        assert_same(fast, slow, but=("eliminated",))  # a reset hides the last one
        assert (fast.eliminated.max(axis=1) == 4).all()
        assert (fast.resets >= 1).all()
