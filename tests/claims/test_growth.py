"""How gaps grow with the horizon: flat, like its square root, or like the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.base_policies.catalogue import build_policy
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.improved.posterior_sampling import posterior_sampling
from simgap.base_policies.outsiders.ucrl import ucrl2
from simgap.base_policies.paper.elimination import elimination
from simgap.base_policies.paper.general_optimistic import general_optimistic
from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.base_policies.without_memory import memoryless_policy
from simgap.experiments.framework.growth import growth_exponent
from simgap.gap import MonteCarlo, worst_gap
from simgap.gap.sampled import sampled_gaps
from simgap.instances import riverswim, switch_tree
from simgap.intervals import Estimate
from simgap.mdp import LatentMDP, SimulatorClass

pytestmark = pytest.mark.slow


def rivers() -> SimulatorClass:
    rates = tuple(np.linspace(0.1, 0.6, 5))
    return riverswim(6, rates, left_reward=0.7, uniform=True)


def worst(worlds: SimulatorClass, agent: Any, horizon: int, runs: int) -> Estimate:
    """Return the gap of the model in which the agent loses most."""
    evaluator = MonteCarlo(episodes=runs, seed=horizon, threads=2)
    found = [each.gap for each in sampled_gaps(worlds, agent, horizon, evaluator)]
    return max(found, key=lambda each: each.estimate)


@pytest.mark.parametrize("make", [likelihood_optimism, elimination, posterior_sampling])
def test_a_separated_class_costs_almost_the_same_at_any_horizon(make: Any) -> None:
    """Theorem 1: at most a logarithm once the models have been told apart."""
    horizons = [10**5, 3 * 10**5, 10**6, 3 * 10**6]
    lost = [worst(rivers(), make(rivers(), h), h, 60) for h in horizons]
    assert growth_exponent(horizons, lost).upper < 0.25


@pytest.mark.parametrize("make", [likelihood_optimism, posterior_sampling])
def test_the_hardest_class_of_each_horizon_costs_its_square_root(make: Any) -> None:
    """Theorems 2 and 3: the greatest gap over models as far apart as H allows."""
    horizons, lost = [10**3, 10**4, 10**5, 10**6], []
    for horizon in horizons:
        found = []
        for factor in (0.5, 1.0, 2.0, 4.0):
            e = min(0.2, factor * np.sqrt(8 * 0.2 / horizon))
            tree = switch_tree(4, 2, e=e, members=8, delta=0.2)
            found.append(worst(tree, make(tree, horizon), horizon, 100))
        lost.append(max(found, key=lambda each: each.estimate))
    exponent = growth_exponent(horizons, lost)
    assert 0.4 < exponent.estimate < 0.6
    if make is likelihood_optimism:  # posterior sampling: 0.46, a little less
        assert exponent.lower <= 0.5 <= exponent.upper


def test_without_memory_every_step_costs() -> None:
    latent = LatentMDP.uniform(rivers())
    horizons, lost = [10**5, 3 * 10**5, 10**6, 3 * 10**6], []
    for horizon in horizons:
        policy = memoryless_policy(latent, horizon)
        found = worst_gap(latent.simulators, policy, horizon)
        assert found.lower is not None
        lost.append(found.lower)
    exponent = growth_exponent(horizons, lost)
    assert exponent.estimate == pytest.approx(1.0, abs=0.02)


def test_knowing_the_class_beats_learning_it() -> None:
    """Worst gap of class-aware agents below that of UCRL2, which does not know U."""
    horizon, worlds = 10**6, rivers()
    blind = worst(worlds, ucrl2(worlds, horizon), horizon, 20)
    aware = {
        "Algorithm 1": elimination(worlds, horizon),
        "Algorithm 3": optimistic_exploration(worlds, horizon),
        "Algorithm 4": general_optimistic(worlds, horizon),
        "Algorithm 3, variance": optimistic_exploration(
            worlds, horizon, threshold=Threshold.VARIANCE
        ),
        "likelihood": likelihood_optimism(worlds, horizon),
        "posterior sampling": posterior_sampling(worlds, horizon),
    }
    lost = {name: worst(worlds, each, horizon, 20) for name, each in aware.items()}
    for name, each in lost.items():
        assert each.upper < blind.lower, name
    printed = optimistic_exploration(worlds, horizon, threshold=Threshold.PAPER)
    as_printed = worst(worlds, printed, horizon, 20)
    improved = max(lost["likelihood"].upper, lost["posterior sampling"].upper)
    assert 100.0 * improved < as_printed.lower


def test_the_printed_rules_lose_all_the_time() -> None:
    latent = LatentMDP.uniform(rivers())
    for name in ("elimination", "optimistic"):
        horizons = [10**4, 3 * 10**4, 10**5]
        lost = [
            worst(rivers(), build_policy(name, latent, h, literal=True), h, 20)
            for h in horizons
        ]
        assert growth_exponent(horizons, lost).estimate > 0.9
