"""Brackets of every solver against exact arithmetic on small latent MDPs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.instances import absorbing_doors
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import OracleResult, Outcome
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from tests.reference.belief_bounds import discounted_gap, hostile_latent
from tests.reference.latent import exact_gap, oracle_value, random_latent, rational

TIGHT = 1e-6
SHORT = {"time_limit": 0.2, "gap_tolerance": TIGHT, "negligible": 0.0, "episodes": 2}


def solvers(latent: LatentMDP, seed: int = 0) -> list[Solver]:
    """Return every solver that takes this latent MDP."""
    found: list[Solver] = [
        BoundedOracle(**SHORT, seed=seed),  # type: ignore[arg-type]
        AutoOracle(**SHORT),  # type: ignore[arg-type]
        ExactOracle(episodes=2),
    ]
    if (latent.prior > 0.0).sum() <= 3:
        found.append(GridOracle(**SHORT))  # type: ignore[arg-type]
    return found


def check(result: OracleResult, gap: Fraction, value: Fraction, scale: float) -> None:
    """Both brackets hold the truth; ends that meet are off by rounding at most."""
    lower, upper = result.average_gap.lower, result.average_gap.upper
    low, high = result.value.lower, result.value.upper
    assert lower is not None
    assert upper is not None
    assert low is not None
    assert high is not None
    room = Fraction(1e-13 * scale) if result.outcome is Outcome.EXACT else Fraction(0)
    assert Fraction(lower) - room <= gap <= Fraction(upper) + room
    room += Fraction(1e-14 * scale)  # of the optimal values and of one difference
    assert Fraction(low) - room <= value <= Fraction(high) + room
    assert 0.0 <= lower <= upper
    if result.outcome is Outcome.SOLVED:
        assert upper - lower <= TIGHT * upper + 1e-12 * scale + 1e-300
    best = float(result.belief_policy.prior @ np.nan_to_num(result.values))
    assert best == pytest.approx(low, abs=1e-12 * scale + 1e-300)


def scale_of(latent: LatentMDP, horizon: int) -> float:
    return float(np.abs(latent.simulators.rewards).max()) * max(horizon, 1)


@pytest.mark.parametrize("part", range(10))
def test_every_bracket_holds_the_exact_gap(part: int) -> None:
    """10 latent MDPs each, all solvers."""
    for seed in range(10 * part, 10 * (part + 1)):
        rng = np.random.default_rng([seed, 1])
        latent, horizon = random_latent(rng, denominator=16, most_histories=400)
        gap = exact_gap(latent, horizon)
        value = oracle_value(rational(latent), horizon)
        for solver in solvers(latent, seed):
            result = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
            check(result, gap, value, scale_of(latent, horizon))


@pytest.mark.parametrize("part", range(10))
def test_brackets_hold_in_hostile_cases(part: int) -> None:
    """Tiny priors, sure kernels, rewards of all sizes and signs, no steps at all."""
    for seed in range(8 * part, 8 * (part + 1)):
        latent, horizon = hostile_latent(np.random.default_rng([seed, 2]))
        gap = exact_gap(latent, horizon)
        value = oracle_value(rational(latent), horizon)
        for solver in solvers(latent, seed):
            result = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
            check(result, gap, value, scale_of(latent, horizon))


@pytest.mark.parametrize("seed", range(30))
def test_discounted_brackets_meet_those_of_deep_backups(seed: int) -> None:
    latent, _ = hostile_latent(np.random.default_rng([seed, 3]))
    discount = (0.05, 0.3, 0.5)[seed % 3]
    form = loss_form(latent, discount=discount)
    branching = form.pattern.n_actions * int(np.diff(form.pattern.indptr).max())
    depth = min(12, int(np.log(600.0) / np.log(max(branching, 2))))
    low, high = discounted_gap(form, depth)
    room = 1e-13 * scale_of(latent, 1) / (1.0 - discount)
    for solver in solvers(latent, seed):
        if isinstance(solver, ExactOracle):
            continue
        result = domain_randomization_oracle(latent, discount=discount, solver=solver)
        lower, upper = result.average_gap.lower, result.average_gap.upper
        assert lower is not None
        assert upper is not None
        assert lower <= high + room
        assert upper >= low - room
        if result.outcome is Outcome.SOLVED:
            assert upper - lower <= TIGHT * upper + 1e3 * room + 1e-300


def arms(members: int) -> LatentMDP:
    """Return a class in which arm m of model m wins for sure, and no other does."""
    kernel = np.zeros((members, 2, members, 2))
    kernel[:, :, :, 0] = 1.0
    for m in range(members):
        kernel[m, :, m] = (0.0, 1.0)
    rewards = np.array([[0.0] * members, [1.0] * members])
    simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    return LatentMDP.uniform(simulators)


@pytest.mark.parametrize(("members", "discount"), [(2, 0.9), (3, 0.8), (5, 0.95)])
def test_a_needle_costs_one_try_after_another(members: int, discount: float) -> None:
    """Theory row 17 with a discount: the j-th arm tried loses the first j wins."""
    each = [discount * (1 - discount**j) / (1 - discount) for j in range(members)]
    solver = BoundedOracle(gap_tolerance=1e-4, negligible=0.0, time_limit=5.0)
    found = domain_randomization_oracle(
        arms(members), discount=discount, solver=solver
    ).average_gap
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= sum(each) / members <= found.upper
    assert found.upper <= sum(each) / members * 1.001


@pytest.mark.parametrize(("members", "horizon"), [(2, 6), (3, 8), (4, 8), (6, 40)])
def test_an_irrevocable_choice_costs_most_of_the_horizon(
    members: int, horizon: int
) -> None:
    """Theory row 22: (H - 2)(1 - 1 / M), which pairs of models alone do not see."""
    result = domain_randomization_oracle(
        LatentMDP.uniform(absorbing_doors(members)),
        horizon=horizon,
        solver=BoundedOracle(gap_tolerance=1e-6, time_limit=5.0),
    )
    gap = (horizon - 2) * (1.0 - 1.0 / members)
    assert result.outcome is Outcome.SOLVED
    assert result.average_gap.lower == pytest.approx(gap, rel=1e-6)
    assert result.average_gap.upper == pytest.approx(gap, rel=1e-6)


@pytest.mark.parametrize("seed", [4, 7, 15, 26, 36, 37])
def test_actions_that_look_dear_at_once_may_still_be_the_best(seed: int) -> None:
    """Horizons of two or three steps, on which the lower side once stood still."""
    rng = np.random.default_rng([seed, 13])
    latent, horizon = random_latent(rng, denominator=16, most_histories=600)
    solver = BoundedOracle(gap_tolerance=1e-3, negligible=0.0, time_limit=5.0)
    found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    assert found.outcome is Outcome.SOLVED


def test_brackets_of_wrong_numbers_would_be_noticed() -> None:
    """A control: most brackets are narrower than a thousandth of the gap."""
    narrow = count = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 1])
        latent, horizon = random_latent(rng, denominator=16, most_histories=400)
        solver = solvers(latent, seed)[0]
        found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
        lower, upper = found.average_gap.lower, found.average_gap.upper
        assert lower is not None
        assert upper is not None
        if upper > 1e-6:
            count += 1
            narrow += upper - lower < 1e-3 * upper
    assert count >= 10
    assert narrow >= 0.8 * count
