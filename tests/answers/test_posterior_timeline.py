"""Mean posteriors of the real model: all histories, the martingale, and sampling."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings

from simgap._kernels.beliefs.posterior_paths import Rules, follow_posteriors
from simgap._kernels.walking.streams import episode_keys, uniform
from simgap.answers.identify.posterior_timeline import (
    PosteriorTimeline,
    posterior_timeline,
)
from simgap.instances import riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from simgap.policies.graph import GraphPolicy
from tests.reference import posterior_timeline as twin
from tests.reference.rational import RationalMDP, dense_model, sparse_model
from tests.strategies import STEADY, as_class, rational_classes

PRIORS = {2: (3, 5), 3: (1, 2, 5)}  # parts of 8
ROUNDING = 1e-9


def planned(latent: LatentMDP, horizon: int) -> GraphPolicy:
    solver = ExactOracle(episodes=2)
    return domain_randomization_oracle(latent, horizon=horizon, solver=solver).policy


def case(models: list[RationalMDP], start: object = 0) -> LatentMDP:
    parts = PRIORS[len(models)]
    return LatentMDP(as_class(models, start), np.array(parts) / 8.0)


def estimates(
    found: PosteriorTimeline,
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the estimates of every model and step."""
    return np.array([[e.estimate for e in each.posterior] for each in found.models])


@given(rational_classes(members=(2, 3), most=(3, 2), denominators=(2, 8, 16)))
@settings(STEADY, max_examples=15)
def test_means_are_those_of_all_histories(models: list[RationalMDP]) -> None:
    horizon, states = 4, models[0].n_states
    law = [Fraction(1, states)] * states
    latent = case(models, [float(p) for p in law])
    policy = planned(latent, horizon)
    found = posterior_timeline(latent, policy)
    prior = [Fraction(part, 8) for part in PRIORS[len(models)]]
    kernels = [model.transitions for model in models]
    tables = twin.mean_posteriors(kernels, prior, [law] * 3, policy, horizon)
    assert found.steps == tuple(range(horizon + 1))
    assert found.computed == horizon + 1
    assert found.episodes is None
    for m, row in enumerate(estimates(found)):
        exact = [float(table[m][m]) for table in tables]
        np.testing.assert_allclose(row, exact, atol=ROUNDING)
    for table in tables:  # the posterior is a martingale under the mixture
        for i, nu in enumerate(prior):
            mean = sum(p * table[m][i] for m, p in enumerate(prior))
            assert mean == nu


def two_rivers(horizon: int) -> tuple[LatentMDP, GraphPolicy]:
    latent = LatentMDP(riverswim(states=3, success=(0.3, 0.6)), np.array([0.25, 0.75]))
    return latent, planned(latent, horizon)


def test_what_is_believed_of_the_real_model_rises_and_balances() -> None:
    """b_t(m) is a submartingale under m; nu_0 E_0[b(1)] = nu_1 E_1[b(0)]."""
    latent, policy = two_rivers(30)
    found = posterior_timeline(latent, policy)
    assert found.computed == len(found.steps)
    first, second = estimates(found)
    for row in (first, second):
        assert all(after >= before - ROUNDING for before, after in pairwise(row))
        assert row[-1] > row[0] + 0.1
    np.testing.assert_allclose(0.25 * (1 - first), 0.75 * (1 - second), atol=ROUNDING)
    assert (first[0], second[0]) == (0.25, 0.75)


@pytest.mark.parametrize("states", [2, 3])
def test_sampled_intervals_hold_the_exact_means_and_not_those_of_another_model(
    states: int,
) -> None:
    latent = LatentMDP(
        riverswim(states=states, success=(0.3, 0.6)), np.array([0.25, 0.75])
    )
    policy = planned(latent, 30)
    exact = estimates(posterior_timeline(latent, policy))
    wrong = 0
    for seed in range(4):
        found = posterior_timeline(
            latent, policy, most_numbers=0, seed=seed, confidence=1 - 1e-6
        )
        assert found.computed == 1
        assert found.episodes == 5000
        for m, each in enumerate(found.models):
            for k, told in enumerate(each.posterior):
                assert told.lower <= exact[m, k] <= told.upper
                assert 0.0 <= told.lower <= told.estimate <= told.upper <= 1.0
                wrong += not told.lower <= exact[1 - m, k] <= told.upper
    assert wrong > 4 * len(found.steps)  # the control: the other model's means


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_interval_is_that_of_maurer_and_pontil_on_both_sides(
    confidence: float,
) -> None:
    """Of models that move alike nothing is learned: no variance, 7 L / (3 (n - 1)).

    Two sides, each of which fails with half of the chance: L = log(4 / delta).
    """
    latent = LatentMDP(riverswim(states=3, success=(0.4, 0.4)), np.array([0.25, 0.75]))
    policy = planned(latent, 6)
    found = posterior_timeline(
        latent, policy, most_numbers=0, episodes=1001, confidence=confidence
    )
    half = 7.0 * log(4.0 / (1.0 - confidence)) / 3000.0
    for each, prior in zip(found.models, (0.25, 0.75), strict=True):
        told = each.posterior[-1]
        assert told.estimate == pytest.approx(prior, abs=1e-12)
        assert told.upper - told.estimate == pytest.approx(half, rel=1e-9)
        assert told.lower == pytest.approx(prior, abs=1e-6)  # it never falls


def test_the_kernel_follows_episodes_as_its_twin() -> None:
    rng = np.random.default_rng(8)
    for family in (sparse_model, dense_model):
        models = [family(rng, 3, 2, 8) for _ in range(3)]
        latent, horizon = case(models), 5
        policy = planned(latent, horizon)
        kernel = latent.simulators.transitions
        laws = np.zeros((3, 3))
        laws[0] = 1.0
        keys = episode_keys(np.uint64(11), 0, 20)
        for real in range(3):
            out = np.empty((20, horizon + 1))
            lost = follow_posteriors(
                kernel.indptr,
                np.ascontiguousarray(kernel.values.T),
                latent.prior[np.arange(3)],
                laws,
                Rules(
                    policy.node_state,
                    policy.start_node,
                    policy.rule_offsets,
                    policy.rule_until,
                    policy.rule_action,
                    policy.next_offsets,
                    policy.next_node,
                ),
                real,
                keys,
                np.arange(horizon + 1),
                out,
            )
            assert lost == -1
            for i, key in enumerate(keys):
                luck = [uniform(key, h + 1) for h in range(horizon)]
                slow = twin.followed(
                    [model.transitions for model in models],
                    latent.prior.tolist(),
                    0,
                    policy,
                    real,
                    luck,
                )
                np.testing.assert_allclose(out[i], slow, rtol=1e-12)
