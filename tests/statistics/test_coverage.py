"""Intervals hold the truth as often as they say, for laws that are hard to sample.

The approximate label is held to laws whose rare events stand out from numbers that are
alike, or whose tails are met; what it cannot do has a test of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from simgap.intervals import Estimate
from simgap.statistics import Part, estimated_mean, mean as rule
from tests.statistics.laws import (
    LAWS,
    Law,
    hidden,
    most_misses,
    plain_t,
    room_above_only,
    sampled,
)

FAST = [law for law in LAWS if law.name.startswith(("rare", "ties", "beta"))][::2]
Interval = Callable[[Law, int], tuple[float, float]]


def misses(law: Law, seeds: int, interval: Interval) -> int:
    """Return how many of some intervals do not hold the mean; rounding is allowed."""
    ends = [interval(law, seed) for seed in range(seeds)]
    room = 1e-12 * (law.high - law.low)
    return sum(not low - room <= law.mean <= high + room for low, high in ends)


def estimate(law: Law, seed: int, n: int, *, guaranteed: bool = False) -> Estimate:
    return estimated_mean(
        [Part(sampled(law, seed, n), law.low, law.high)],
        0.95,
        least=law.low,
        greatest=law.high,
        guaranteed=guaranteed,
    )


def guaranteed(n: int) -> Interval:
    def interval(law: Law, seed: int) -> tuple[float, float]:
        found = estimate(law, seed, n, guaranteed=True)
        assert found.label == "guaranteed"
        return found.lower, found.upper

    return interval


def approximate(n: int, monkeypatch: pytest.MonkeyPatch) -> Interval:
    """Return the approximate interval wherever the other would be affordable."""
    monkeypatch.setattr(rule, "WIDER", 0.0)
    monkeypatch.setattr(rule, "PART", 0.0)

    def interval(law: Law, seed: int) -> tuple[float, float]:
        found = estimate(law, seed, n)
        assert found.label == "approximate" or found.lower == found.upper
        return found.lower, found.upper

    return interval


def by_rule(n: int) -> Interval:
    def interval(law: Law, seed: int) -> tuple[float, float]:
        found = estimate(law, seed, n)
        return found.lower, found.upper

    return interval


def t_at(confidence: float, n: int) -> Interval:
    return lambda law, seed: plain_t(sampled(law, seed, n), confidence)


@pytest.mark.parametrize("law", FAST, ids=lambda law: law.name)
def test_few_intervals_of_both_labels_miss(
    law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds, n = 60, 200
    allowed = most_misses(seeds)
    assert misses(law, seeds, guaranteed(n)) <= allowed
    assert misses(law, seeds, by_rule(n)) <= allowed
    assert misses(law, seeds, approximate(n, monkeypatch)) <= allowed
    assert misses(law, seeds, t_at(0.4, n)) > allowed  # the control


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("chance", [0.02, 0.3, 0.5, 0.98])
def test_approximate_intervals_of_two_points_cover_by_summing_all_samples(
    chance: float, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No chance of seeds: every number of ones, with its probability."""

    def coverage() -> float:
        total = 0.0
        for ones in range(n + 1):
            weight = float(binom.pmf(ones, n, chance))
            if weight > 1e-9:
                values = np.repeat([0.0, 1.0], [n - ones, ones])
                found = estimated_mean([Part(values, 0.0, 1.0)], 0.95)
                total += weight * (found.lower <= chance <= found.upper)
        return total

    monkeypatch.setattr(rule, "WIDER", 0.0)
    monkeypatch.setattr(rule, "PART", 0.0)
    assert coverage() >= 0.95
    monkeypatch.setattr(rule, "log", lambda _: 0.0)  # no room for what was not met
    if chance in (0.02, 0.98):
        assert coverage() < 0.95  # the control


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_intervals_of_both_labels_hold_at_their_rate(
    law: Law, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = 300
    allowed = most_misses(seeds)
    assert misses(law, seeds, guaranteed(n)) <= allowed
    assert misses(law, seeds, by_rule(n)) <= allowed
    assert misses(law, seeds, approximate(n, monkeypatch)) <= allowed
    if not law.name.startswith("constant"):
        assert misses(law, seeds, t_at(0.5, n)) > allowed  # the control


@pytest.mark.parametrize("chance", [1e-5, 1e-4])
def test_room_on_one_side_misses_a_rare_good_event(chance: float) -> None:
    """The control that was: losses of 1 but for a rare event, room above only."""
    (law,) = (law for law in LAWS if law.name == f"rare good, {chance:g}")
    seeds, n = 60, 400

    def old(law: Law, seed: int) -> tuple[float, float]:
        return room_above_only(sampled(law, seed, n), 0.95, 1.0)

    assert misses(law, seeds, old) > 45
    assert misses(law, seeds, guaranteed(n)) == 0
    assert misses(law, seeds, by_rule(n)) == 0


@pytest.mark.parametrize("law", [hidden(3e-3, 0.001), hidden(1e-2, 0.0001)])
def test_an_event_hidden_in_noise_is_beyond_the_approximate_label(
    law: Law, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that was met tells of it; the guaranteed interval holds all the same."""
    seeds, n = 60, 100
    assert misses(law, seeds, guaranteed(n)) <= most_misses(seeds)
    assert misses(law, seeds, approximate(n, monkeypatch)) > most_misses(seeds)


def test_strata_of_unequal_weights_are_covered_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A rare event in the part that has most weight, and few samples."""
    by_name = {law.name: law for law in LAWS}
    laws = [by_name[name] for name in ("rare bad, 0.01", "uniform", "rare good, 0.1")]
    weights, counts = (0.6, 0.3, 0.1), (50, 200, 20)
    mean = sum(w * law.mean for w, law in zip(weights, laws, strict=True))
    seeds = 100

    def parts(seed: int) -> list[Part]:
        return [
            Part(sampled(law, 3 * seed + k, n), 0.0, 1.0, w)
            for k, (law, n, w) in enumerate(zip(laws, counts, weights, strict=True))
        ]

    def missed(*, guaranteed: bool = False, stopped: bool = False) -> int:
        found = [
            estimated_mean(parts(s), 0.95, guaranteed=guaranteed, stopped=stopped)
            for s in range(seeds)
        ]
        return sum(not each.lower <= mean <= each.upper for each in found)

    assert missed(guaranteed=True) <= most_misses(seeds)
    assert missed() <= most_misses(seeds)
    assert missed(guaranteed=True, stopped=True) <= most_misses(seeds)
    monkeypatch.setattr(rule, "WIDER", 0.0)
    monkeypatch.setattr(rule, "PART", 0.0)
    assert missed() <= most_misses(seeds)
    pooled = [np.concatenate([part.values for part in parts(s)]) for s in range(seeds)]
    ends = [plain_t(values, 0.95) for values in pooled]  # the control: no weights
    assert sum(not low <= mean <= high for low, high in ends) > most_misses(seeds)


def test_stopping_when_the_interval_looks_good_is_covered() -> None:
    """Sampling goes on until the mean seems to be above 1/2, which it is not."""
    seeds, longest = 150, 400
    wrong = fooled = 0
    for seed in range(seeds):
        values = (np.random.default_rng(seed).random(longest) < 0.5).astype(float)
        for n in range(20, longest, 20):
            part = [Part(values[:n], 0.0, 1.0)]
            found = estimated_mean(part, 0.95, guaranteed=True, stopped=True)
            if found.lower > 0.5:
                wrong += 1
                break
        fooled += any(
            plain_t(values[:n], 0.95)[0] > 0.5 for n in range(20, longest, 20)
        )
    assert wrong <= most_misses(seeds)
    assert fooled > most_misses(seeds)  # the control: a fixed number's interval
