"""Posteriors after real data, exactly on small classes (theory 7.4, row 35)."""

from __future__ import annotations

from itertools import product
from math import comb, exp, inf

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.bounds import (
    fine_tuned_gap,
    mean_inverse_posterior,
    posterior_gap,
    posterior_tail,
    rival_weight,
)
from simgap.errors import InvalidArgument

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
    assert found == pytest.approx([mean_inverse_posterior(nu) for nu in PRIOR])


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
    Q = rival_weight(weights, 0)
    bound = posterior_tail(x, rivals=Q, visits=n, separation=delta)
    assert excess_chance(n, means, weights, x) <= bound
    union = 2**1.5 * x**-0.5 * exp(-n * delta**2 / 8)  # as in the spec, uniform prior
    if prior[0] == prior[1]:
        assert abs(Q - 2.0) < 1e-12
        assert bound <= union


def mean_posterior_gap(C: float, n: int, horizon: int) -> float:
    """Return E[min(H, C/nu_t)] for three arms of means as above, uniform prior."""
    means, total = np.array([0.5, 0.7, 0.25]), 0.0
    for k in range(n + 1):
        likely = means**k * (1 - means) ** (n - k)
        inverse = float(likely.sum() / likely[0])
        total += comb(n, k) * float(likely[0]) * min(horizon, C * inverse)
    return total


@pytest.mark.parametrize("n", [10, 60, 200])
@pytest.mark.parametrize("C", [0.5, 4.0])
def test_the_mean_gap_after_fine_tuning_is_as_promised(n: int, C: float) -> None:
    horizon, delta = 1000, 0.4
    found = fine_tuned_gap(C, horizon=horizon, rivals=2.0, visits=n, separation=delta)
    assert mean_posterior_gap(C, n, horizon) <= found.value
    weaker = 2 * C + horizon * 2**1.5 * exp(-n * delta**2 / 8)
    assert found.value <= weaker
    grid = np.geomspace(1e-6, 1e6, 4000)
    missed = horizon * 2.0 * exp(-n * delta**2 / 8)
    least = float(((1 + grid) * C + missed / np.sqrt(grid)).min())
    assert found.value == pytest.approx(min(horizon, least), rel=1e-4)


def test_data_only_help() -> None:
    values = [
        fine_tuned_gap(2.0, horizon=500, rivals=3.0, visits=n, separation=0.5).value
        for n in (0, 10, 100, 1000)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(2.0, abs=1e-3)
    nothing = fine_tuned_gap(0.0, horizon=500, rivals=3.0, visits=1, separation=0.5)
    assert nothing.value == 0.0


def test_a_posterior_bounds_the_gap() -> None:
    assert posterior_gap(3.0, posterior=0.5, horizon=100).value == 6.0
    assert posterior_gap(3.0, posterior=0.01, horizon=100).value == 100.0
    assert posterior_gap(3.0, posterior=0.0, horizon=100).value == 100.0
    assert mean_inverse_posterior(0.0) == inf
    assert rival_weight([0.0, 1.0], 0) == inf
    with pytest.raises(InvalidArgument, match="a prior sums to 1"):
        rival_weight([0.2, 0.2], 0)
