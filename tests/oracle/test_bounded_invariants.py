"""What must not change a gap, and what must change it in a known way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.mdp import LatentMDP, class_from_arrays
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.settings import BoundedOracle
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import rebuilt

SOLVER = BoundedOracle(gap_tolerance=1e-3, time_limit=0.3, episodes=2)
PROBLEMS: list[dict[str, Any]] = [{"horizon": 5}, {"horizon": 9}, {"discount": 0.8}]


def bracket(latent: LatentMDP, **problem: Any) -> tuple[float, float]:
    found = domain_randomization_oracle(latent, **problem, solver=SOLVER).average_gap
    assert found.lower is not None
    assert found.upper is not None
    return found.lower, found.upper


def overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Two brackets of the same number must have a number in common."""
    room = 1e-12 * max(one[1], other[1])
    return one[0] <= other[1] + room and other[0] <= one[1] + room


def narrow(one: tuple[float, float]) -> bool:
    return one[1] - one[0] <= 0.2 * one[1]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_order_of_models_does_not_matter(problem: dict[str, Any]) -> None:
    telling = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        latent = random_latent(rng, members=4, without_prior=seed % 2)
        order = rng.permutation(4)
        mixed = rebuilt(latent, prior=latent.prior[order], order=order.tolist())
        one, other = bracket(latent, **problem), bracket(mixed, **problem)
        assert overlap(one, other)
        telling += narrow(one) and narrow(other)
    assert telling >= 4


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_duplicate_model_changes_nothing(problem: dict[str, Any]) -> None:
    for seed in range(8):
        latent = random_latent(np.random.default_rng(seed), members=3)
        share = 0.3 * latent.prior[1]
        prior = np.append(latent.prior, share)
        prior[1] -= share
        twice = rebuilt(latent, prior=prior, order=(0, 1, 2, 1))
        assert overlap(bracket(latent, **problem), bracket(twice, **problem))


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
@pytest.mark.parametrize("problem", PROBLEMS[1:])
def test_larger_rewards_make_larger_gaps(
    factor: float, problem: dict[str, Any]
) -> None:
    for seed in range(5):
        latent = random_latent(np.random.default_rng(seed), members=3)
        scaled = rebuilt(latent, reward=lambda R: factor * R)
        lower, upper = bracket(latent, **problem)
        assert overlap((factor * lower, factor * upper), bracket(scaled, **problem))


def test_a_large_constant_does_not_make_a_wide_bracket_count_as_solved() -> None:
    """A millionth of the value is negligible, less what every policy gets."""
    solver = BoundedOracle(gap_tolerance=0.05, time_limit=None, episodes=2)
    rng = np.random.default_rng(0)
    kernel, rewards = rng.dirichlet(np.full(6, 0.3), size=(3, 6, 2)), rng.random((6, 2))
    worlds = class_from_arrays(kernel, 1e6 + rewards)
    latent = LatentMDP.uniform(worlds)
    found = domain_randomization_oracle(latent, horizon=12, solver=solver).average_gap
    assert found.lower is not None and found.upper is not None
    assert 0.0 < found.upper - found.lower <= 0.05 * found.upper


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_gap_is_concave_in_the_prior(problem: dict[str, Any]) -> None:
    """Not knowing which of two priors is right can only cost more."""
    telling = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        latent = random_latent(rng, members=3)
        one, two = rng.dirichlet(np.ones(3), 2)
        ends = [bracket(rebuilt(latent, prior=p), **problem) for p in (one, two)]
        middle = bracket(rebuilt(latent, prior=0.5 * (one + two)), **problem)
        assert middle[1] >= 0.5 * (ends[0][0] + ends[1][0]) * (1.0 - 1e-9)
        telling += middle[1] < ends[0][1] + ends[1][1]
    assert telling >= 1


def test_an_agent_told_the_model_loses_nothing() -> None:
    for seed in range(4):
        latent = random_latent(np.random.default_rng(seed), members=3)
        for m in range(3):
            lower, upper = bracket(rebuilt(latent, prior=np.eye(3)[m]), horizon=5)
            assert lower == 0.0
            assert upper < 1e-12


def test_what_is_known_at_the_start_can_only_help() -> None:
    """Splitting a class by a first observation lowers the average gap."""
    for seed in range(6):
        latent = random_latent(np.random.default_rng(seed), members=4)
        whole = bracket(latent, horizon=5)
        parts = 0.0
        for half in ((0, 1), (2, 3)):
            prior = latent.prior[list(half)]
            part = rebuilt(latent, prior=prior / prior.sum(), order=half)
            parts += float(prior.sum()) * bracket(part, horizon=5)[0]
        assert parts <= whole[1] * (1.0 + 1e-9) + 1e-12
