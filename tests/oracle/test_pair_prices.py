"""Prices of pairs: bounds of the average gap of two models alone."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.mdp import LatentMDP
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.pair_prices import pair_prices
from simgap.oracle.settings import BoundedOracle, GridOracle
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import discounted_gap, rebuilt
from tests.reference.latent import exact_gap


def two_of(latent: LatentMDP, i: int, j: int) -> LatentMDP:
    prior = latent.prior[[i, j]]
    return rebuilt(latent, prior=prior / prior.sum(), order=(i, j))


def check_shape(below: object, above: object, members: int) -> None:
    for prices in (np.asarray(below), np.asarray(above)):
        assert prices.shape == (members, members)
        assert prices == pytest.approx(prices.T, rel=1e-12, abs=1e-300)
        assert (np.diag(prices) == 0.0).all()
        assert (prices >= 0.0).all()
    assert (np.asarray(below) <= np.asarray(above)).all()


@pytest.mark.parametrize("seed", range(12))
def test_prices_hold_the_exact_gap_of_two_models(seed: int) -> None:
    """Model-dependent starts and rewards; a model without a prior costs nothing."""
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=3, members=3, without_prior=seed % 2)
    form = loss_form(latent, horizon=4)
    solver = BoundedOracle(time_limit=0.2, episodes=2)
    result = domain_randomization_oracle(latent, horizon=4, solver=solver)
    both = [
        pair_prices(form),
        (result.pair_prices_lower, result.pair_prices_upper),
    ]
    positive = 0
    for below, above in both:
        check_shape(below, above, 3)
        for i in range(3):
            for j in range(i):
                if latent.prior[i] * latent.prior[j] == 0.0:
                    assert above[i, j] <= 2.0 * form.rounding + 1e-12
                    continue
                exact = exact_gap(two_of(latent, i, j), 4)
                assert below[i, j] <= exact <= above[i, j]
                positive += exact > 0
    assert positive > 0 or seed % 2


@pytest.mark.parametrize("seed", range(9))
def test_discounted_prices_hold_the_gap_of_two_models(seed: int) -> None:
    """To the last digit, though vectors are only brought near their fixed point."""
    rng = np.random.default_rng(seed)
    discount = (0.3, 0.6, 0.9)[seed % 3]
    latent = random_latent(rng, states=2, members=3)
    below, above = pair_prices(loss_form(latent, discount=discount))
    check_shape(below, above, 3)
    for i in range(3):
        for j in range(i):
            pair = two_of(latent, i, j)
            low, high = discounted_gap(loss_form(pair, discount=discount), 5)
            assert below[i, j] <= high + 1e-12
            assert above[i, j] >= low - 1e-12
            solver = GridOracle(gap_tolerance=1e-4, time_limit=1.0, episodes=2)
            found = domain_randomization_oracle(pair, discount=discount, solver=solver)
            assert found.average_gap.lower is not None
            assert above[i, j] >= found.average_gap.lower - 1e-12


def test_models_that_are_the_same_cost_nothing() -> None:
    latent = random_latent(np.random.default_rng(5), members=2)
    twice = rebuilt(latent, prior=np.array([0.25, 0.5, 0.25]), order=(0, 1, 0))
    below, above = pair_prices(loss_form(twice, horizon=5))
    assert above[0, 2] < 1e-12
    assert above[0, 1] == pytest.approx(above[2, 1], rel=1e-9)
    assert below[0, 1] > 0.0


def test_one_model_has_no_price() -> None:
    below, above = pair_prices(
        loss_form(random_latent(np.random.default_rng(0), members=1), horizon=3)
    )
    assert below.tolist() == above.tolist() == [[0.0]]
