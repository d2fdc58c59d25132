"""Brackets of every solver on thousands of random latent MDPs."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import BoundedOracle, ExactOracle
from tests.oracle.test_bounded import check, scale_of, solvers
from tests.reference.belief_bounds import discounted_gap, hostile_latent
from tests.reference.latent import exact_gap, oracle_value, random_latent, rational

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", range(20))
def test_brackets_hold_the_exact_gap(part: int) -> None:
    """60 random and 60 hostile latent MDPs each, all solvers: 2400 in all."""
    for seed in range(60 * part, 60 * (part + 1)):
        rng = np.random.default_rng([seed, 11])
        cases = [
            random_latent(rng, denominator=16, most_histories=600),
            hostile_latent(rng),
        ]
        for latent, horizon in cases:
            gap = exact_gap(latent, horizon)
            value = oracle_value(rational(latent), horizon)
            for solver in solvers(latent, seed):
                result = domain_randomization_oracle(
                    latent, horizon=horizon, solver=solver
                )
                check(result, gap, value, scale_of(latent, horizon))


@pytest.mark.parametrize("part", range(5))
def test_discounted_brackets_meet_deep_backups(part: int) -> None:
    """60 hostile latent MDPs each, discounts up to 0.9."""
    for seed in range(60 * part, 60 * (part + 1)):
        latent, _ = hostile_latent(np.random.default_rng([seed, 12]))
        discount = (0.1, 0.4, 0.6, 0.9)[seed % 4]
        form = loss_form(latent, discount=discount)
        branching = form.pattern.n_actions * int(np.diff(form.pattern.indptr).max())
        depth = min(14, int(np.log(1500.0) / np.log(max(branching, 2))))
        low, high = discounted_gap(form, depth)
        room = 1e-13 * scale_of(latent, 1) / (1.0 - discount)
        for solver in solvers(latent, seed):
            if isinstance(solver, ExactOracle):
                continue
            found = domain_randomization_oracle(
                latent, discount=discount, solver=solver
            ).average_gap
            assert found.lower is not None
            assert found.upper is not None
            assert found.lower <= high + room
            assert found.upper >= low - room


def test_most_brackets_close_in_a_second() -> None:
    """Small problems are solved to a thousandth nearly always."""
    solved = count = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 13])
        latent, horizon = random_latent(rng, denominator=16, most_histories=600)
        solver = BoundedOracle(gap_tolerance=1e-3, time_limit=1.0, episodes=2)
        found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
        count += 1
        solved += found.outcome.name == "SOLVED"
    assert solved >= 0.95 * count
