"""Two coupled copies against their twin in Fractions, which merges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.beliefs.coupled_copies import carried, couple
from simgap.arrays import FloatArray
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.coupled import coupled_pair, model_table
from simgap.oracle.loss_form import LossForm, loss_form
from tests.reference.coupled import Law, Memory, best_coupling, pair_bound
from tests.reference.latent import random_latent

WORK = 1e9


def cases(seed: int, count: int, longest: int = 3) -> Iterator[tuple[LatentMDP, int]]:
    """Return problems with two models or more, few steps, rows of any law."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        denominator = int(rng.choice([7, 8, 10]))
        latent, horizon = random_latent(
            rng, denominator=denominator, most_histories=100
        )
        if len(latent.simulators) > 1 and latent.simulators.n_states < 4:
            found += 1
            yield latent, min(horizon, longest)


def bounded(
    form: LossForm, weight: float, window: int = 0, work: float = WORK
) -> float:
    one, two = (model_table(form, m) for m in (0, 1))
    return coupled_pair(form, one, two, window, work).bound(weight)


@pytest.mark.parametrize("window", [0, 1, 2])
def test_the_recursion_is_its_twin_from_below(window: int) -> None:
    rng = np.random.default_rng(window)
    for latent, horizon in cases(10 + window, 8):
        form = loss_form(latent, horizon=horizon)
        weight = float(rng.random())
        found = bounded(form, weight, window)
        twin = pair_bound(form, (0, 1), weight, steps=horizon, window=window)
        assert Fraction(found) <= twin
        assert found == pytest.approx(float(twin), rel=1e-12, abs=1e-200)


def test_with_a_discount_the_first_steps_count() -> None:
    for latent, _ in cases(20, 15):
        form = loss_form(latent, discount=0.5)
        found = bounded(form, 0.5)
        least = pair_bound(form, (0, 1), 0.5, steps=4)
        most = pair_bound(form, (0, 1), 0.5, steps=5) + Fraction(
            float(form.losses.max()) * 0.5**4
        )
        assert float(least) <= found * (1.0 + 1e-12) + 1e-200
        assert Fraction(found) <= most


def coupled(cost: FloatArray, one: FloatArray, two: FloatArray) -> tuple[float, float]:
    """Return what our coupling is worth, and how far its sums are above the rows."""
    mass = np.zeros(cost.shape)
    states = np.arange(max(cost.shape), dtype=np.int32)
    rows, lines = cost.shape
    couple(states, states, cost, rows, lines, one.copy(), two.copy(), mass)
    over = np.concatenate([mass.sum(axis=1) - one, mass.sum(axis=0) - two])
    assert (mass >= 0.0).all()
    return float(carried(cost, rows, lines, mass)), float(over.max())


def law(row: FloatArray) -> Law:
    return [((at, ()), Fraction(float(p))) for at, p in enumerate(row)]


def worth(cost: FloatArray) -> Callable[[Memory, Memory], Fraction]:
    return lambda one, two: Fraction(float(cost[one[0], two[0]]))


def test_short_rows_have_the_best_coupling() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        rows, lines = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        cost = rng.integers(0, 9, (rows, lines)) / 8.0
        one, two = (rng.multinomial(16, [1 / n] * n) / 16.0 for n in (rows, lines))
        best = best_coupling(law(one), law(two), worth(cost))
        value, over = coupled(cost, one, two)
        assert value == float(best)
        assert over <= 0.0
