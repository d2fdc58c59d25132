"""Guarantees of the improved agents: formulas, and every step that can be checked."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import ceil, inf, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.bounds import (
    Bound,
    Quantity,
    likelihood_gap,
    likelihood_regret,
    most_episodes,
    optimistic_gap,
    sampling_gap,
    sampling_regret,
    variance_gap,
    variance_regret,
)
from simgap.errors import InvalidArgument
from tests.strategies import STEADY

SPANS = [4.0, 1.0, 2.5]


# --- optimism with likelihood ratios


def test_the_regret_of_likelihood_ratios_is_the_formula_of_its_theorem() -> None:
    H, M, rivals = 1000, 3, 4.0**2 + 2.5**2
    wanted = sqrt(3 * H * log(M * H) * rivals) + 2 * sum(SPANS) - 1.0
    wanted += 4.0 * sqrt((M - 1) / (2 * M)) + 2 * (M - 1) / M
    found = likelihood_regret(horizon=H, spans=SPANS)
    assert found.value == pytest.approx(wanted, rel=1e-14)
    gap = likelihood_gap(horizon=H, spans=SPANS)
    assert gap.value == pytest.approx(wanted + 1.0, rel=1e-14)
    coarse = 4 * sqrt(3 * (M - 1) * H * log(M * H)) + (2 * M - 1) * 4 + 4 / sqrt(2) + 2
    assert likelihood_regret(horizon=H, spans=[4.0] * M).value <= coarse
    assert likelihood_regret(horizon=H, spans=[3.0]).value == 3.0  # one model


def test_affinities_add_up_to_no_more_than_the_ratio_allows() -> None:
    """Step 2 of the proof, over all paths of an arm rule that looks at the data."""
    steps, level = 14, 2.0 * 14
    p, q = np.array([0.7, 0.4]), np.array([0.5, 0.55])  # real and rival, per arm
    bc = np.sqrt(p * q) + np.sqrt((1 - p) * (1 - q))
    broken, largest = 0.0, 0.0
    for outcomes in product((0, 1), repeat=steps):
        arm, chance, ratio, spent = 0, 1.0, 0.0, 0.0  # ratio = log L_* / L_k
        seen = False
        for win in outcomes:
            under_p = p[arm] if win else 1 - p[arm]
            under_q = q[arm] if win else 1 - q[arm]
            chance *= under_p
            ratio += log(under_p / under_q)
            spent -= log(bc[arm])
            largest = max(largest, spent - 0.5 * ratio)
            seen = seen or spent >= log(level) + 0.5 * ratio
            arm = arm if win else 1 - arm
        broken += chance * seen
    assert 0.0 <= broken <= 1.0 / level
    assert largest > 0.0  # not for want of trying
    tv = np.abs(p - q)
    assert (-np.log(bc) >= tv**2 / 2).all()


# --- Algorithm 3 with variances


def test_the_regret_of_variances_is_the_formula_of_its_theorem() -> None:
    H, sigma = 4000, [1.5, 0.5, 1.0]
    J = ceil(log2(H / 4))
    L = log(2 * H * (J + 1))
    ends = sum(SPANS) * (2 * L / 3 + sqrt(2 * L) + 2)
    wanted = 2 * sqrt(L * H * sum(s**2 for s in sigma)) + ends - 1.0 + 1.0
    found = variance_regret(horizon=H, spans=SPANS, deviations=sigma)
    assert found.value == pytest.approx(wanted, rel=1e-14)
    gap = variance_gap(horizon=H, spans=SPANS, deviations=sigma)
    assert gap.value == pytest.approx(wanted + 1.0, rel=1e-14)
    half = variance_gap(horizon=H, spans=SPANS, deviations=[2.0, 0.5, 1.25])
    assert variance_gap(horizon=H, spans=SPANS).value == half.value
    with pytest.raises(InvalidArgument, match="at most half"):
        variance_gap(horizon=H, spans=SPANS, deviations=[2.1, 0.5, 1.0])


def test_small_variances_beat_hoeffding() -> None:
    H = 10**6
    quiet = variance_gap(horizon=H, spans=[10.0] * 4, deviations=[0.5] * 4).value
    assert quiet < optimistic_gap(horizon=H, spans=[10.0] * 4).value / 3


# --- posterior sampling


def test_the_regret_of_sampling_is_the_formula_of_its_theorem() -> None:
    H, M, P, rho = 5000, 3, 12, 0.3
    rivals, K = 4.0**2 + 2.5**2, most_episodes(5000, 12)
    m = 1 + int(P * (1 + log2(H / P)))
    assert int((sqrt(m * m + 8 * m * H) - m) / 2) == K
    assert sqrt(2 * m * H) >= K
    wanted = sqrt((6 * log(M * H) + 1) * H * rivals) + 4.0 * K + (K - 1) * (1 - rho)
    wanted += 4.0 * (M - 1) / M * (2 + (K - 1) / H)
    found = sampling_regret(horizon=H, spans=SPANS, pairs=P, mean_gain=rho)
    assert found.value == pytest.approx(wanted, rel=1e-14)
    assert found.quantity is Quantity.MEAN_REGRET
    gap = sampling_gap(horizon=H, spans=SPANS, pairs=P, mean_gain=rho)
    assert gap.value == pytest.approx(wanted + 4.0, rel=1e-14)
    assert sampling_regret(horizon=H, spans=[3.0], pairs=P).value == 3.0


def longest_run_of_episodes(horizon: int, pairs: int, *, strict: bool) -> int:
    """Return the greatest number of episodes over all sequences of pairs."""

    @cache
    def most(left: int, old: tuple[tuple[int, int], ...], last: int, now: int) -> int:
        """`old` has (count before the episode, count in it) per pair, sorted."""
        if left == 0:
            return 0
        best = 0
        for at in range(pairs):
            if at and old[at] == old[at - 1]:
                continue
            before, inside = old[at]
            inside += 1
            doubled = inside > before if strict else inside >= max(1, before)
            counts = sorted((*old[:at], (before, inside), *old[at + 1 :]))
            if doubled or now + 1 == last + 1:
                fresh = tuple(sorted((b + i, 0) for b, i in counts))
                # the episode after this one is counted when it begins
                found = (1 if left > 1 else 0) + most(left - 1, fresh, now + 1, 0)
            else:
                found = most(left - 1, tuple(counts), last, now + 1)
            best = max(best, found)
        return best

    return 1 + most(horizon, ((0, 0),) * pairs, 0, 0)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("pairs", "horizon"), [(1, 40), (2, 16), (3, 11), (4, 9)])
def test_no_sequence_of_pairs_makes_more_episodes(
    pairs: int, horizon: int, strict: bool
) -> None:
    for steps in range(1, horizon + 1):
        worst = longest_run_of_episodes(steps, pairs, strict=strict)
        assert worst <= most_episodes(steps, pairs)


@STEADY
@given(st.integers(0, 2**32 - 1), st.booleans(), st.floats(0.1, 6.0))
def test_doubling_keeps_what_an_episode_adds_small(
    seed: int, strict: bool, budget: float
) -> None:
    """Step 5: models drawn inside the set add up to at most 2 B + 1 each."""
    rng = np.random.default_rng(seed)
    pairs, models = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    weight = rng.random((models, pairs)) ** 4  # TV^2 at each pair
    count, spent = np.zeros(pairs), np.zeros(models)
    last = 0
    for _ in range(60):
        inside = np.flatnonzero(weight @ count <= budget)
        if inside.size == 0:
            break
        m = int(rng.choice(inside))
        played, favourite = np.zeros(pairs), int(rng.integers(pairs))
        length, longest = 0, last + 1
        while length < longest:
            length += 1
            at = favourite if rng.random() < 0.8 else int(rng.integers(pairs))
            played[at] += 1
            spent[m] += weight[m, at]
            before = count[at]
            if played[at] > before if strict else played[at] >= max(1, before):
                break
        count += played
        last = length
    assert spent.max() <= 2 * budget + 1 + 1e-9


# --- all three


def bounds_at(horizon: int) -> list[Bound]:
    return [
        likelihood_gap(horizon=horizon, spans=SPANS),
        variance_gap(horizon=horizon, spans=SPANS),
        sampling_gap(horizon=horizon, spans=SPANS, pairs=12),
    ]


def test_bounds_grow_with_the_horizon_and_speak_from_the_horizon_they_say() -> None:
    grid = [*range(1, 400), 10**3, 10**4, 10**6, 10**9, 10**12]
    for bound in bounds_at(10):
        values = [bound.at(h) for h in grid]
        assert values == sorted(values)
        begin = bound.non_vacuous_from
        assert begin is not None
        assert begin < inf
        assert bound.at(int(begin)) < begin
        assert all(
            bound.at(h) >= h for h in range(max(1, int(begin) - 400), int(begin))
        )
