"""Gaps over horizons: the same numbers as each horizon alone, and as brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from simgap.answers.class_facts import measured_class
from simgap.answers.over_horizons import (
    over_horizons,
)
from simgap.answers.stakes import stakes
from simgap.arrays import FloatArray
from simgap.bounds import applicable
from simgap.instances import riverswim
from simgap.intervals import Certified
from simgap.mdp import (
    IndexOrder,
    LatentMDP,
    SimulatorClass,
    class_from_arrays,
)
from simgap.oracle.settings import AutoOracle
from simgap.planning import optimal_values, policy_values
from tests.reference.latent import exact_gap

QUICK = AutoOracle(gap_tolerance=0.05, time_limit=20.0, episodes=10)


def tiny(seed: int, members: int = 2) -> LatentMDP:
    generator = np.random.default_rng(seed)
    kernel = generator.dirichlet(np.ones(2), size=(members, 2, 2))
    rewards = generator.uniform(size=(2, 2))
    prior = generator.dirichlet(np.ones(members))
    worlds = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    return LatentMDP(worlds, prior)


def values_of_all_markov_policies(worlds: SimulatorClass, horizon: int) -> FloatArray:
    """Return V^pi of every deterministic policy of state and step, (policies, M)."""
    found = []
    for code in product(range(2), repeat=2 * horizon):
        table = np.array(code, np.int32).reshape(horizon, 2)
        found.append(policy_values(worlds, table, horizon).start)
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_every_number_is_that_of_brute_force(seed: int) -> None:
    latent = tiny(seed)
    worlds = latent.simulators
    found = over_horizons(latent, (1, 3), solver=QUICK)
    for each in found:
        values = values_of_all_markov_policies(worlds, each.horizon)
        best = optimal_values(worlds, each.horizon).start
        assert each.informed == pytest.approx(latent.prior @ best)
        exact = exact_gap(latent, each.horizon)  # in Fractions
        low, high = each.average_gap.lower, each.average_gap.upper
        assert low is not None
        assert high is not None
        assert low - 1e-12 <= exact <= high + 1e-12
        least = (best - values) @ latent.prior
        assert each.memoryless.lower <= least.min() + 1e-12
        assert each.memoryless.upper == pytest.approx(least.min(), abs=1e-12)
        for i, row in enumerate(each.train):  # some optimal policy of i loses this in j
            optimal = values[:, i] >= best[i] - 1e-12
            lost = best - values[optimal]
            assert np.abs(lost - row).max(axis=1).min() < 1e-12


def test_promises_are_those_of_the_bounds_in_the_rewards_of_the_class() -> None:
    rivers = riverswim(4, (0.3, 0.5, 0.7))
    plain = measured_class(LatentMDP.uniform(rivers), 1000).facts
    scaled = replace(rivers, rewards=100.0 + 8.0 * rivers.rewards)
    latent = LatentMDP.uniform(scaled)
    measured = measured_class(latent, 1000)
    found = over_horizons(latent, (10, 1000), solver=QUICK, measured=measured)
    for each in found:
        bounds = {b.claim: b.value for b in applicable(measured.facts, each.horizon)}
        assert each.bounds
        for one in applicable(plain, each.horizon):  # for rewards in [0, 1]
            assert bounds[one.claim] == pytest.approx(8.0 * one.value)
        for bound in each.bounds:
            assert bound.value == bounds[bound.name]
            assert bound.value >= each.average_gap.lower


def test_stakes_are_the_gap_of_a_coin_and_do_not_move_with_rewards() -> None:
    latent = tiny(5, members=3)
    worlds = latent.simulators
    found = stakes(latent, 4)
    half = np.full((2, 2), 0.5)
    lost = optimal_values(worlds, 4).start - policy_values(worlds, half, 4).start
    for gap, each in zip(lost, found.models, strict=True):
        assert each.lower <= gap <= each.upper
    assert found.average.upper == pytest.approx(latent.prior @ lost)
    part = found.part(Certified(0.01, 0.02))
    assert part is not None
    assert part.lower == pytest.approx(0.01 / (latent.prior @ lost))
