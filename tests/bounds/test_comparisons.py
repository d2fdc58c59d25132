"""Lemmas 4 to 7: sample sizes, exact errors against their bounds, travel."""

from __future__ import annotations

from itertools import product
from math import ceil, exp, factorial, floor, inf, log, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray, IndexArray
from simgap.bounds import (
    Bhattacharyya,
    Chernoff,
    PaperSamples,
    Travel,
    error_of_affinity,
    error_of_separation,
    fits_from,
    stage_one,
)
from simgap.bounds.lower import bernoulli_kl
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning import diameter, travel_times
from tests.strategies import STEADY


@STEADY
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 6))
def test_errors_of_multinomial_data_are_bounded(
    seed: int, outcomes: int, n: int
) -> None:
    """Lemma 5, replaced: every split of n draws, zeros included."""
    rng = np.random.default_rng(seed)
    p, q = rng.multinomial(8, np.full(outcomes, 1 / outcomes), size=2) / 8.0
    exact = 0.0
    for counts in product(range(n + 1), repeat=outcomes):
        if sum(counts) != n or any(
            c and not pi for c, pi in zip(counts, p, strict=True)
        ):
            continue
        ways = factorial(n) // prod(factorial(c) for c in counts)
        under_p = prod(float(x) ** c for x, c in zip(p, counts, strict=True))
        under_q = prod(float(x) ** c for x, c in zip(q, counts, strict=True))
        if under_q >= under_p * (1.0 - 1e-12):
            exact += ways * under_p
    bc, delta = float(np.sqrt(p * q).sum()), float(np.abs(p - q).sum())
    rounding = 1e-12
    assert exact <= error_of_affinity(n, min(bc, 1.0)) + rounding
    assert bc**n <= error_of_separation(n, min(delta, 2.0)) + rounding
    assert error_of_separation(n, min(delta, 2.0)) <= exp(-n * delta**2 / 8) + rounding


def test_the_printed_sample_size_is_no_less_than_needed() -> None:
    """c0 = 67, with and without delta in the logarithm (errata E15)."""
    for delta, states, members, horizon in product(
        (0.01, 0.3, 1.0, 2.0), (2, 5, 100), (2, 30), (1, 10, 10**6)
    ):
        needed = Chernoff(delta).samples(horizon, members)
        assert PaperSamples(delta, states).samples(horizon, members) >= needed
        squared = log(states * members * horizon / delta) ** 2
        other = ceil(67 * squared * log(members * horizon) / delta**4)
        assert other >= needed
    assert PaperSamples(2.0, 2, c0=1.0).samples(1, 2) < Chernoff(2.0).samples(1, 2)


@pytest.mark.parametrize("travel", list(Travel))
def test_stage_one_is_a_sum_over_comparisons(travel: Travel) -> None:
    """n0 sum_j (4 j D + 1) over candidate sets of size M, M - 1, ..., 2."""
    D, members, rule = 7.5, 6, Chernoff(0.4)
    n0 = rule.samples(50, members)
    sizes = range(2, members + 1)
    each = [4 * (members if travel is Travel.ALL else j) * D + 1 for j in sizes]
    bound = stage_one(rule, horizon=50, members=members, diameter=D, travel=travel)
    assert bound.value == pytest.approx(n0 * sum(each), rel=1e-14)
    assert bound.holds


def steps_to_target(
    real: TabularMDP, policies: IndexArray, budget: int, target: int
) -> FloatArray:
    """Return E[steps] to a target, policies tried in turn for `budget` steps each."""
    P, S = real.transitions.array(0), real.n_states
    phases = len(policies) * budget
    moves, cost = np.zeros((phases * S, phases * S)), np.ones(phases * S)
    for phase, s in product(range(phases), range(S)):
        at = phase * S + s
        if s == target:
            moves[at], cost[at] = 0.0, 0.0
            continue
        after = (phase + 1) % phases
        for t in range(S):
            moves[at, after * S + t] += P[s, policies[phase // budget][s], t]
    moves[:, target::S] = 0.0
    return np.asarray(np.linalg.solve(np.eye(phases * S) - moves, cost)[:S], float)


def class_of_rivers() -> SimulatorClass:
    return riverswim(4, success=(0.4, 0.6, 0.8))


def test_travel_of_a_class_is_as_short_as_promised() -> None:
    """Lemma 7: a sample costs at most 2 j floor(2D) + 1 steps, in every real model."""
    rivers = class_of_rivers()
    D = diameter(rivers).upper
    budget, members = floor(2.0 * D), len(rivers)
    for target in range(rivers.n_states):
        policies = travel_times(rivers, target).policy
        for real in rivers:
            found = steps_to_target(real, policies, budget, target)
            assert found.max() <= 2 * members * budget
            assert found[target] == 0.0


def test_comparisons_fit_where_a_scan_says() -> None:
    for rule in (Chernoff(0.7), Bhattacharyya(0.05), PaperSamples(1.5, 3)):
        for rounds in (1, 3):
            first = fits_from(rule, members=4, comparisons=rounds)
            assert rounds * rule.samples(int(first), 4) <= first
            near = range(max(1, int(first) - 2000), int(first))
            assert all(rounds * rule.samples(h, 4) > h for h in near)
    assert fits_from(Chernoff(0.0), members=2) == inf
    assert fits_from(Chernoff(0.5), members=1, comparisons=0) == 1


def test_what_lemma_7_asks_for_is_said() -> None:
    far = stage_one(Chernoff(0.5), horizon=9, members=2, diameter=inf)
    assert far.value == inf
    assert "finite diameter" in far.unmet[0]
    same = stage_one(Chernoff(0.0), horizon=9, members=2, diameter=3.0)
    assert same.value == inf
    assert "two models are equal" in same.unmet[0]
    weak = PaperSamples(0.5, 4, c0=1.0)
    assert "67" in stage_one(weak, horizon=9, members=2, diameter=3.0).unmet[0]


def test_e23_the_norm_of_lemma_6_fails_for_a_fair_coin() -> None:
    """sup_p (E X^p)^(1/p) / p of X = log 1/P is log 2, not 1/e, and grows with S."""

    def norm(law: FloatArray) -> float:
        x = -np.log(law)
        return max(float((law @ x**p) ** (1.0 / p)) / p for p in range(1, 40))

    assert norm(np.array([0.5, 0.5])) == pytest.approx(log(2.0))
    assert log(2.0) > exp(-1.0)
    norms, variances = [], []
    for states in (11, 101, 1001):
        law = np.full(states, 0.5 / (states - 1))
        law[0] = 0.5
        norms.append(norm(law))
        spread = -np.log(law) + float(law @ np.log(law))
        variances.append(float(law @ spread**2))
        assert variances[-1] == pytest.approx(log(states - 1) ** 2 / 4)
    assert norms == sorted(norms)
    assert norms[-1] > 2 * norms[0] > 4 * exp(-1.0)


@pytest.mark.parametrize("delta", [0.1, 0.5, 1.0])
def test_e24_half_the_distance_has_an_eighth_of_the_drift(delta: float) -> None:
    """Pinsker at delta/2: KL >= delta^2/8, while the printed delta^2/2 is false."""
    divergence = bernoulli_kl(0.5, 0.5 + delta / 4)  # delta/2 apart in L1
    assert delta**2 / 8 <= divergence < delta**2 / 2
