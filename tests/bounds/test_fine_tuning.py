"""Posteriors after real data, exactly on small classes (theory 7.4, row 35)."""

from __future__ import annotations

from itertools import product
from math import comb, exp

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.bounds import posterior_gap

PRIOR = np.array([0.2, 0.3, 0.5])


def inverse_posteriors(
    kernels: FloatArray, prior: FloatArray, steps: int
) -> FloatArray:
    """Return E_m[1 / nu_t(m)] after so many steps of an agent that looks at the data.

    It alternates actions whenever it comes back to state 0: kernels are (M, S, A, S).
    """
    members, states = len(prior), kernels.shape[1]
    mean = np.zeros(members)
    for path in product(range(states), repeat=steps):
        chance, state, action = np.ones(members), 0, 0
        for after in path:
            chance = chance * kernels[:, state, action, after]
            action = 1 - action if after == 0 else action
            state = after
        evidence = float(prior @ chance)
        seen = chance > 0.0
        mean[seen] += evidence / prior[seen]  # P_m(path) / nu_t(m)
    return mean


def test_the_mean_of_the_inverse_posterior_does_not_move() -> None:
    """Theory row 35: 5, 10/3 and 2 for kernels of full support, after 5 steps."""
    rng = np.random.default_rng(7)
    kernels = rng.dirichlet(np.ones(3), size=(3, 3, 2))
    found = inverse_posteriors(kernels, PRIOR, 5)
    assert found == pytest.approx([5.0, 10.0 / 3.0, 2.0], rel=1e-12)


def test_zeros_can_only_lower_it() -> None:
    rng = np.random.default_rng(8)
    kernels = rng.dirichlet(np.ones(3), size=(3, 3, 2))
    kernels[0, :, :, 2] = 0.0  # model 0 never goes to state 2
    kernels /= kernels.sum(axis=-1, keepdims=True)
    found = inverse_posteriors(kernels, PRIOR, 4)
    assert found[0] < 5.0 - 0.1
    assert (found <= 1.0 / PRIOR + 1e-12).all()


def excess_chance(n: int, means: FloatArray, prior: FloatArray, x: float) -> float:
    """Return P_0(1/nu_t(0) > 1 + x) after n pulls of an arm, exactly."""
    total = 0.0
    for k in range(n + 1):
        likely = means**k * (1 - means) ** (n - k)
        if float(prior @ likely) / (prior[0] * likely[0]) > 1 + x:
            total += comb(n, k) * float(likely[0])
    return total


@pytest.mark.parametrize("n", [5, 40, 150])
@pytest.mark.parametrize("x", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("prior", [(1 / 3, 1 / 3, 1 / 3), (0.1, 0.3, 0.6)])
def test_the_posterior_concentrates_as_promised(
    n: int, x: float, prior: tuple[float, ...]
) -> None:
    means, weights = np.array([0.5, 0.7, 0.25]), np.array(prior)
    delta = 2 * 0.2
    Q = float(np.sqrt(weights[1:] / weights[0]).sum())
    bound = Q * x**-0.5 * exp(-n * delta**2 / 8)
    assert excess_chance(n, means, weights, x) <= bound


def test_a_posterior_bounds_the_gap() -> None:
    assert posterior_gap(3.0, posterior=0.5, horizon=100).value == 6.0
    assert posterior_gap(3.0, posterior=0.01, horizon=100).value == 100.0
    assert posterior_gap(3.0, posterior=0.0, horizon=100).value == 100.0
