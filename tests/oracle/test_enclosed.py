"""Certified means enclosed: lower <= truth <= upper in Fractions, without tolerance."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import BoundedOracle, GridOracle, Solver
from tests.reference.enclosure import (
    misses,
    misses_in_the_long_run,
    random_problem,
)
from tests.reference.latent import oracle_value, rational
from tests.reference.linear import solve
from tests.reference.rational import RationalMDP


@pytest.mark.parametrize("seed", range(4))
def test_no_certified_number_misses_the_truth(seed: int) -> None:
    rng = np.random.default_rng([seed, 13])
    for _ in range(35):
        latent, horizon = random_problem(rng, most_histories=40)
        assert list(misses(latent, horizon)) == []


def test_no_gain_and_no_diameter_misses_the_truth() -> None:
    rng = np.random.default_rng(14)
    for _ in range(25):
        latent, _ = random_problem(rng, most_histories=40)
        assert list(misses_in_the_long_run(latent.simulators)) == []


def test_without_outward_rounding_numbers_do_miss() -> None:
    """The control: V* as a plain float, and W* from two of them."""
    rng = np.random.default_rng(15)
    wrong = 0
    for _ in range(40):
        latent, horizon = random_problem(rng, most_histories=40)
        form, exact = loss_form(latent, horizon=horizon), rational(latent)
        best = exact.optimal(horizon)
        wrong += any(
            Fraction(float(told)) != truth
            for told, truth in zip(form.optimal, best, strict=True)
        )
    assert wrong > 10


def test_rows_are_read_as_divided_by_their_exact_sum() -> None:
    """[.1, .2, .7] sums to 1 - 2.8e-17 exactly: what that means is stated."""
    latent, horizon = random_problem(np.random.default_rng(16))
    exact = rational(latent)
    for model in exact.models:
        for pair in model.transitions:
            assert all(sum(row) == 1 for row in pair)
    assert sum(exact.prior) == 1
    form = loss_form(latent, horizon=horizon)
    assert form.defect >= 0.0
    assert isinstance(latent, LatentMDP)
    assert oracle_value(exact, horizon) <= Fraction(form.informed_ends.ends[1])


def discounted(model: RationalMDP, discount: Fraction) -> list[Fraction]:
    """Return V* with a discount: the best of all stationary policies."""
    S, A = model.n_states, model.n_actions
    best: list[Fraction] | None = None
    for actions in product(range(A), repeat=S):
        matrix = [
            [
                Fraction(int(s == t)) - discount * model.transitions[s][a][t]
                for t in range(S)
            ]
            for s, a in enumerate(actions)
        ]
        paid = [model.rewards[s][a] for s, a in enumerate(actions)]
        own = solve(matrix, paid)
        best = (
            own if best is None else [max(x, y) for x, y in zip(best, own, strict=True)]
        )
    assert best is not None
    return best


@pytest.mark.parametrize("solver", [BoundedOracle(episodes=2), GridOracle(episodes=2)])
def test_with_a_discount_no_number_misses_the_truth(solver: Solver) -> None:
    """Models move alike, so that W* is V* of the mean reward."""
    rng = np.random.default_rng(17)
    done = 0
    while done < 12:
        latent, _ = random_problem(rng, most_histories=40)
        S, A = latent.simulators.n_states, latent.simulators.n_actions
        if A**S > 30 or not 2 <= (latent.prior > 0.0).sum() <= 3:
            continue
        done += 1
        kernel = latent.simulators.transitions.array(0)
        rewards = rng.choice([1.0, -3.0, 1e6, 1e-9]) * rng.random((2, S, A))
        pair = LatentMDP.uniform(
            class_from_arrays(
                np.stack([kernel, kernel]), rewards, order=IndexOrder.STATE_ACTION
            )
        )
        discount = float(rng.choice([0.3, 0.7, 0.9]))
        exact = rational(pair)
        one, two = exact.models
        mean = tuple(
            tuple((x + y) / 2 for x, y in zip(r, q, strict=True))
            for r, q in zip(one.rewards, two.rewards, strict=True)
        )
        factor = Fraction(discount)
        value = discounted(RationalMDP(one.transitions, mean), factor)[0]
        best = [discounted(model, factor)[0] for model in exact.models]
        found = domain_randomization_oracle(pair, discount=discount, solver=solver)
        informed = sum(best, Fraction(0)) / 2
        low, high = found.value.ends
        assert Fraction(low) <= value <= Fraction(high)
        low, high = found.average_gap.ends
        assert Fraction(low) <= informed - value <= Fraction(high)
        form = loss_form(pair, discount=discount)
        for (low, high), truth in zip(form.optimal_ends.tolist(), best, strict=True):
            assert Fraction(low) <= truth <= Fraction(high)
