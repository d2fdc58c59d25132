"""The entry point: which solver is picked, what is refused, what a result holds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.instances import garnet_mixture, linear_bandit
from simgap.mdp import LatentMDP
from simgap.oracle.baselines import baselines
from simgap.oracle.baselines.minimax import solve_minimax
from simgap.oracle.entry import (
    domain_randomization_oracle,
)
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.watch import Progress
from tests.policies.cases import random_latent


def small(seed: int = 0, **how: Any) -> LatentMDP:
    return random_latent(np.random.default_rng(seed), **how)


def large(members: int = 4) -> LatentMDP:
    """Return a class with too many beliefs for the exact solver."""
    return LatentMDP.uniform(garnet_mixture(8, 3, 3, members))


@pytest.mark.parametrize(
    ("latent", "horizon", "discount", "words"),
    [
        (small(), 4, None, "exact"),
        (large(2), 40, None, "grid"),
        (large(3), 40, None, "bounded"),
        (large(4), 40, None, "bounded"),
        (small(members=2), None, 0.9, "grid"),
        (small(members=4), None, 0.9, "bounded"),
        (small(members=1), None, 0.9, "bounded"),
    ],
)
def test_the_solver_that_suits_is_picked(
    latent: LatentMDP, horizon: int | None, discount: float | None, words: str
) -> None:
    solver = AutoOracle(time_limit=0.3, episodes=2)
    result = domain_randomization_oracle(
        latent, horizon=horizon, discount=discount, solver=solver
    )
    assert result.solver.startswith(words)
    assert (result.horizon, result.discount) == (horizon, discount or 1.0)
    assert result.settings == solver


@pytest.mark.parametrize("seed", range(6))
def test_a_result_fits_together(seed: int) -> None:
    latent = small(seed, without_prior=seed % 2)
    solvers: list[Solver] = [ExactOracle(), BoundedOracle(time_limit=0.5)]
    for solver in solvers:
        result = domain_randomization_oracle(latent, horizon=5, solver=solver)
        form = loss_form(latent, horizon=5)
        gap, value = result.average_gap, result.value
        assert gap.lower is not None
        assert gap.upper is not None
        assert value == form.informed_ends - gap
        known = ~np.isnan(result.gaps)
        assert known[latent.prior > 0.0].all()
        reached = result.optimal - result.values
        assert reached[known] == pytest.approx(result.gaps[known], abs=1e-12)
        low, high = result.gap_intervals[known].T
        assert (low <= result.gaps[known] + 1e-9).all()
        assert (low >= 0.0).all()
        if result.outcome is Outcome.EXACT:  # its policy is one of the optimal ones
            assert (result.gaps[known] <= high + 1e-9).all()
        assert (result.gaps[known] >= -1e-12).all()
        below, above = result.pair_prices_lower, result.pair_prices_upper
        assert below.shape == above.shape == (3, 3)
        assert result.statistics.seconds > 0.0
        assert result.statistics.compile_seconds >= 0.0
        for name in ("gaps", "values", "gap_intervals", "pair_prices_lower"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(result, name)[...] = 0.0


@pytest.mark.parametrize("discount", [None, 0.8])
def test_no_optimal_policy_has_a_gap_outside_its_interval(
    discount: float | None,
) -> None:
    """Bounded intervals must hold what the exact solver finds for optimal policies."""
    for seed in range(8):
        latent, horizon = small(seed), None if discount else 4
        bounded = domain_randomization_oracle(
            latent, horizon=horizon, discount=discount, solver=BoundedOracle(episodes=2)
        )
        if discount:
            assert (bounded.gaps <= bounded.gap_intervals[:, 1] * 1.1 + 1e-6).all()
            continue
        exact = domain_randomization_oracle(
            latent, horizon=4, solver=ExactOracle(episodes=2)
        )
        wide, right = bounded.gap_intervals, exact.gap_intervals
        assert (wide[:, 0] <= right[:, 0] + 1e-12).all()
        assert (wide[:, 1] >= right[:, 1] - 1e-12).all()


def test_four_models_do_not_fit_a_grid() -> None:
    with pytest.raises(InvalidArgument, match="over 4 models"):
        domain_randomization_oracle(small(members=4), horizon=3, solver=GridOracle())


def test_a_class_that_does_not_fit_is_refused() -> None:
    solver = BoundedOracle(max_memory=1e6)
    with pytest.raises(InvalidArgument, match="the losses of all steps alone take"):
        domain_randomization_oracle(small(), horizon=1000, solver=solver)


def test_progress_tells_the_bracket_and_never_takes_it_back() -> None:
    told: list[Progress] = []
    result = domain_randomization_oracle(
        large(),
        horizon=20,
        solver=BoundedOracle(time_limit=1.0, gap_tolerance=1e-3, episodes=2),
        progress=told.append,
    )
    assert len(told) >= 3
    for before, after in pairwise(told):
        assert before.lower <= after.lower <= after.upper <= before.upper
        assert before.seconds <= after.seconds
    assert (told[-1].lower, told[-1].upper) == (
        result.statistics.trace[-1].lower,
        result.statistics.trace[-1].upper,
    )
    assert result.average_gap.lower == told[-1].lower
    assert result.average_gap.upper == pytest.approx(told[-1].upper, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_equal_seeds_give_equal_bytes(seed: int) -> None:
    """Runs that end at their tolerance; nothing in them depends on the clock."""
    latent = LatentMDP.uniform(garnet_mixture(5, 2, 3, 4, seed=seed))
    solver = BoundedOracle(gap_tolerance=0.1, time_limit=60.0, seed=seed, episodes=50)
    arguments: dict[str, Any] = {"horizon": 12} if seed % 2 else {"discount": 0.9}
    one, two = (
        domain_randomization_oracle(latent, **arguments, solver=solver)
        for _ in range(2)
    )
    assert one.outcome is Outcome.SOLVED
    assert one.average_gap == two.average_gap
    assert one.estimated_gap == two.estimated_gap
    for name in ("node_state", "rule_until", "rule_action", "next_node"):
        left, right = getattr(one.policy, name), getattr(two.policy, name)
        assert left.tobytes() == right.tobytes()
    assert one.belief_policy.vectors.tobytes() == two.belief_policy.vectors.tobytes()
    assert one.pair_prices_upper.tobytes() == two.pair_prices_upper.tobytes()


def test_the_worst_gap_is_in_a_model_that_can_be_real() -> None:
    """A model of prior zero counts neither in the worst gap nor in the least worst."""
    for seed in range(6):
        latent = small(seed, without_prior=1)
        likely = latent.prior > 0.0
        for solver in (ExactOracle(), BoundedOracle(episodes=2)):
            found = domain_randomization_oracle(latent, horizon=4, solver=solver)
            assert found.worst_gap == found.gaps[likely].max()
            if found.least_worst_gap is not None:
                room = found.statistics.rounding + 1e-7
                assert found.least_worst_gap <= found.worst_gap + room
        for each in baselines(loss_form(latent, horizon=4), effort=0.02):
            gaps = each.gaps
            if not isinstance(gaps, tuple) and gaps.size:
                assert each.worst_gap == gaps[likely].max()


def test_the_least_worst_gap_is_that_of_average_optimal_policies() -> None:
    """Theory row 23: 4.5 or more if the average is least, 0.45 by minimax."""
    latent = LatentMDP.uniform(linear_bandit(45))
    found = domain_randomization_oracle(latent, horizon=10)
    assert found.least_worst_gap == pytest.approx(4.5)
    least = solve_minimax(loss_form(latent, horizon=10)).worst_gap
    assert least.ends[1] < 0.5
