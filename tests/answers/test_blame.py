"""Which parameter is to blame: against brute force in Fractions, and by structure."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simgap.answers.blame.blame import blame
from simgap.answers.blame.hidden_parts import hidden_parts
from simgap.answers.blame.ignored_losses import (
    ignored_losses,
    nominal_plan,
)
from simgap.intervals import Certified, Estimate
from simgap.mdp import LatentMDP
from simgap.records.blame import Blame, BlamedParameter
from tests.answers.hidden_cases import costly_class, ends, holds, sharp, with_prior
from tests.reference import blame as brute
from tests.reference.latent import exact_gap
from tests.reference.shapley import dual, shapley_by_orders

SAMPLED: Any = {"exact_up_to": 0, "permutations": 60}
TINY = 1e-9

CASES = [
    ({"a": 2, "b": 2}, 3, False),
    ({"a": 3, "b": 2}, 3, True),
    ({"a": 2, "b": 2, "c": 2}, 3, False),
    ({"a": 2, "b": 3}, 2, True),
]


@pytest.mark.parametrize(("sizes", "horizon", "rewards_differ"), CASES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shares_are_those_of_the_game_by_brute_force(
    sizes: dict[str, int], horizon: int, rewards_differ: bool, seed: int
) -> None:
    """Every class that may be left is planned in Fractions, then all orders."""
    rng = np.random.default_rng(seed)
    latent = costly_class(seed, sizes, horizon, rewards_differ=rewards_differ)
    if seed:  # correlated parameters, and models that cannot be real
        prior = rng.integers(0 if seed == 2 else 1, 5, len(latent.simulators))
        prior[0] = 1
        latent = with_prior(latent, prior.astype(float))
    found = blame(latent, horizon)
    game = brute.hidden_game(latent, horizon)
    n, whole = len(sizes), game[-1]
    assert sharp(found.whole, whole)
    exact = shapley_by_orders(n, game)
    assert shapley_by_orders(n, dual(n, game)) == exact
    for player, each in enumerate(found.parameters):
        assert sharp(each.share, exact[player])
        assert sharp(each.alone, game[1 << player])
        without = game[(2**n - 1) ^ 1 << player]
        assert sharp(each.information, whole - without)
        if whole:
            assert holds(each.part, exact[player] / whole)
    assert sum(exact) == whole
    assert sum(ends(each.share)[1] for each in found.parameters) == pytest.approx(
        float(whole), abs=TINY
    )


def test_hiding_more_never_costs_less() -> None:
    """What the brute force says, and what `narrowed` relies on."""
    for seed in range(6):
        latent = costly_class(seed, {"a": 2, "b": 2, "c": 2}, 3)
        game = brute.hidden_game(latent, 3)
        for s in range(8):
            for p in range(3):
                assert game[s | 1 << p] >= game[s]
        assert game[0] == 0


@pytest.mark.parametrize("seed", range(4))
def test_what_ignoring_parts_costs_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(40 + seed)
    latent = costly_class(seed, {"a": 2, "b": 3}, 4, rewards_differ=seed % 2 == 1)
    if seed > 1:
        latent = with_prior(latent, rng.integers(1, 5, 6).astype(float))
    parts, nominal = hidden_parts(latent), 3
    plan = nominal_plan(parts, nominal, 4)
    exact = brute.ignored_game(latent, nominal, plan.actions)
    assert exact[0] == 0 < exact[-1]  # the plan is optimal where it was made
    game = ignored_losses(parts, plan)
    assert game is not None
    np.testing.assert_allclose(game, [float(each) for each in exact], atol=1e-12)
    shares = shapley_by_orders(2, exact)
    found = blame(latent, 4, nominal=nominal)
    assert found.nominal == found.names[nominal]
    assert found.ignored_whole == pytest.approx(float(exact[-1]), abs=1e-12)
    for each, truth in zip(found.parameters, shares, strict=True):
        assert sharp(each.ignored, truth)


def test_pair_prices_are_those_of_the_models_as_named() -> None:
    """Merging equal models changes their weights, not the price of a pair."""
    latent = costly_class(11, {"a": 2, "label": 2}, 3, idle=("label",))
    found = blame(latent, 3)
    assert found.pair_prices.upper[0][1] == 0.0
    assert_prices(found, latent, 3)


def assert_prices(found: Blame, latent: LatentMDP, horizon: int) -> None:
    for i, j in ((0, 2), (0, 3), (1, 2)):
        pair = np.zeros(4)
        pair[[i, j]] = 0.5
        price = exact_gap(with_prior(latent, pair), horizon)
        assert found.pair_prices.lower[i][j] <= price + Fraction(1, 10**9)
        assert found.pair_prices.upper[i][j] >= price - Fraction(1, 10**9)


def test_curves_average_to_the_whole_and_to_what_telling_leaves() -> None:
    rng = np.random.default_rng(12)
    latent = costly_class(12, {"a": 2, "b": 3}, 3)
    latent = with_prior(latent, rng.integers(1, 5, 6).astype(float))
    found = blame(latent, 3)
    game = brute.hidden_game(latent, 3)
    for player, each in enumerate(found.parameters):
        codes = latent.simulators.theta.values[:, player]
        chance = [float(latent.prior[codes == x.value].sum()) for x in each.curve]
        losses = [x.loss for x in each.curve]
        assert np.dot(chance, losses) == pytest.approx(float(game[-1]), abs=TINY)
        told = [ends(x.told)[1] for x in each.curve]
        left = float(game[3 ^ 1 << player])
        assert np.dot(chance, told) == pytest.approx(left, abs=TINY)


def test_sampled_shares_hold_the_exact_ones() -> None:
    """All intervals of a class hold together at 95 %; here in every one of six."""
    narrow = 0
    for seed in range(6):
        latent = costly_class(70 + seed, {"a": 2, "b": 2, "c": 2}, 2)
        exact = shapley_by_orders(3, brute.hidden_game(latent, 2))
        found = blame(latent, 2, seed=seed, **SAMPLED)
        assert found.method == "sampled"
        assert found.permutations == 60
        for each, truth in zip(found.parameters, exact, strict=True):
            assert isinstance(each.share, Estimate)
            assert holds(each.share, truth)
            low, high = ends(each.share)
            narrow += high - low < 0.9 * ends(found.whole)[1]
        total = sum(
            each.share.estimate
            for each in found.parameters
            if isinstance(each.share, Estimate)
        )
        assert total == pytest.approx(sum(ends(found.whole)) / 2, abs=1e-9)
    assert narrow > 8  # and they say something


def parameter(name: str, low: float, high: float, **more: Any) -> BlamedParameter:
    none = Certified(0.0, 0.0)
    share: Any = more.get("share", Certified(low, high))
    return BlamedParameter(name, 2, share, share, none, none, none, ())
