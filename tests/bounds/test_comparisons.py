"""Lemmas 4 to 7: sample sizes, exact errors against their bounds, travel."""

from __future__ import annotations

from itertools import product
from math import ceil, comb, exp, factorial, floor, inf, log, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray, IndexArray
from simgap.bounds import (
    Anytime,
    Bhattacharyya,
    Chernoff,
    PaperSamples,
    Travel,
    TruncatedRatio,
    error_of_affinity,
    error_of_separation,
    fits_from,
    late_arrival,
    stage_one,
)
from simgap.bounds.lower import bernoulli_kl
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning import diameter, travel_times
from tests.strategies import STEADY, as_class, rational_models


def affinity(p: float, q: float) -> float:
    return sqrt(p * q) + sqrt((1.0 - p) * (1.0 - q))


def binomial(n: int, k: int, p: float) -> float:
    return exp(
        log(comb(n, k))
        + (k * log(p) if k else 0)
        + ((n - k) * log1m(p) if k < n else 0)
    )


def log1m(p: float) -> float:
    return log(1.0 - p)


def wrong_ratio(n: int, p: float, q: float) -> float:
    """P(q is at least as likely as p on n draws from p), exactly."""
    up, down = log(q / p), log((1.0 - q) / (1.0 - p))
    return sum(
        binomial(n, k, p) for k in range(n + 1) if k * up + (n - k) * down >= -1e-12
    )


@pytest.mark.parametrize(
    ("p", "q", "members", "horizon", "n0", "n_bc", "error"),
    [
        (0.5, 0.6, 4, 100, 1199, None, 2.620e-4),
        (0.1, 0.2, 4, 100, 1199, 594, 3.357e-7),
        (0.35, 0.25, 2, 10, 600, 500, 4.163e-3),
    ],
)
def test_sample_sizes_and_exact_errors(
    p: float,
    q: float,
    members: int,
    horizon: int,
    n0: int,
    n_bc: int | None,
    error: float,
) -> None:
    """Theory rows 29 to 31; 1 / (MH) is promised."""
    delta, bc = 2.0 * abs(p - q), affinity(p, q)
    assert Chernoff(delta).samples(horizon, members) == n0
    pairwise = int(Bhattacharyya(-log(bc)).samples(horizon, members))
    if n_bc is not None:
        assert pairwise == n_bc
    exact = wrong_ratio(n0, p, q)
    assert exact == pytest.approx(error, rel=5e-4)
    promised = 1.0 / (members * horizon)
    assert exact <= error_of_affinity(n0, bc) <= promised
    assert error_of_affinity(n0, bc) <= error_of_separation(n0, delta)
    assert error_of_separation(n0, delta) <= exp(-n0 * delta**2 / 8) <= promised
    assert wrong_ratio(pairwise, p, q) <= error_of_affinity(pairwise, bc) <= promised
    # One sample fewer no longer has the promise: the rounding is not generous.
    assert error_of_affinity(pairwise - 1, bc) > promised


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


def sequential_test(
    p: float, q: float, level: float, last: int
) -> tuple[float, float, FloatArray]:
    """Return P(p loses), E[samples] of the truncated ratio test under p, exactly."""
    up, down = log(p / q), log((1.0 - p) / (1.0 - q))
    alive = {0: 1.0}  # successes -> probability
    wrong, mean = 0.0, 0.0
    left = np.zeros(last + 1)
    for n in range(1, last + 1):
        mean += sum(alive.values())
        after: dict[int, float] = {}
        for k, chance in alive.items():
            for more, part in ((1, p), (0, 1.0 - p)):
                total = (k + more) * up + (n - k - more) * down
                if abs(total) >= level or n == last:
                    wrong += chance * part if total < 0.0 else 0.0
                else:
                    after[k + more] = after.get(k + more, 0.0) + chance * part
        alive = after
        left[n] = sum(alive.values())
    return wrong, mean, left


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.6), (0.1, 0.3), (0.9, 0.5)])
@pytest.mark.parametrize(("members", "horizon"), [(2, 5), (4, 20)])
def test_the_truncated_ratio_keeps_its_error_and_its_length(
    p: float, q: float, members: int, horizon: int
) -> None:
    rule = TruncatedRatio(2.0 * abs(p - q))
    last = int(rule.samples(horizon, members))
    wrong, mean, _ = sequential_test(p, q, log(2 * members * horizon), last)
    assert 0.0 < wrong <= 1.0 / (members * horizon)
    log_odds = log(2 * members * horizon)
    assert mean <= (4.0 * log_odds + 8.0) / (2.0 * abs(p - q)) ** 2 + 2.0
    assert mean < last  # it does stop early


@pytest.mark.parametrize("delta", [0.4, 1.0])
def test_all_data_need_no_more_than_promised(delta: float) -> None:
    """The rival is delta/2 away and starts with the ratio it may at most start with."""
    members, horizon, p = 3, 50, 0.5
    q = p + delta / 4.0
    level = 2.0 * log(members * horizon)  # from -log(MH) up to log(MH)
    up, down = log(p / q), log((1.0 - p) / (1.0 - q))
    chances, mean = {0: 1.0}, 0.0
    for n in range(1, 20_000):
        mean += sum(chances.values())
        after: dict[int, float] = {}
        for k, chance in chances.items():
            for more, part in ((1, p), (0, 1.0 - p)):
                if (k + more) * up + (n - k - more) * down < level:
                    after[k + more] = after.get(k + more, 0.0) + chance * part
        chances = {k: c for k, c in after.items() if c > 1e-15}
        if not chances:
            break
    assert mean <= Anytime(delta).samples(horizon, members)
    assert mean > level / (-p * log(q / p) - (1 - p) * log((1 - q) / (1 - p))) - 1.0


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


def test_nothing_to_compare_needs_one_sample_and_equal_models_no_number() -> None:
    assert Chernoff(1.0).samples(1, 1) == 1.0
    assert Bhattacharyya(inf).samples(100, 5) == 1.0
    assert Chernoff(0.0).samples(100, 2) == inf
    assert error_of_separation(0, 2.0) == 1.0
    assert error_of_separation(3, 2.0) == 0.0


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


@STEADY
@given(rational_models(most=(4, 3)))
def test_half_of_all_trips_arrive_within_twice_the_diameter(model: object) -> None:
    """Theory row 36, and Markov's own number is no better than 1/2 by much."""
    one = as_class([model])  # type: ignore[list-item]
    D = diameter(one).upper
    late = late_arrival(D)
    assert late < 0.5
    P = one[0].transitions.array(0)
    for target in range(one.n_states):
        policy = travel_times(one, target).policy[0]
        walk = np.array([P[s, policy[s]] for s in range(one.n_states)])
        walk[target] = np.eye(one.n_states)[target]
        arrived = np.linalg.matrix_power(walk, floor(2.0 * D))[:, target]
        assert arrived.min() >= 1.0 - late - 1e-9


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


@pytest.mark.parametrize("delta", [-0.1, 2.1, float("nan")])
def test_distances_outside_their_range_are_refused(delta: float) -> None:
    for rule in (Chernoff, TruncatedRatio, Anytime):
        with pytest.raises(InvalidArgument, match="separation is"):
            rule(delta)


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
