"""Intervals hold the truth as often as they say.

Guaranteed ones are held to laws that are hard to sample; the others to laws whose tails
are sampled, and to a warning where they are not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simgap.intervals import Estimate, Interval
from simgap.statistics import Part, estimated_mean
from tests.statistics.laws import LAWS, Law, hidden, most_misses, plain_t, sampled

BY_NAME = {law.name: law for law in LAWS}
USUAL = ("uniform", "narrow", "1 beta(20, 4)", "1 beta(0.1, 0.1)", "two points, 0.3")
FAST = [law for law in LAWS if law.name.startswith(("rare", "ties", "1 beta"))][::2]


def estimate(law: Law, seed: int, n: int) -> Estimate:
    part = Part(sampled(law, seed, n), law.low, law.high)
    return estimated_mean([part], 0.95, least=law.low, greatest=law.high)


def guaranteed(law: Law, seed: int, n: int) -> Interval:
    found = estimate(law, seed, n).guaranteed
    assert found is not None
    return found


def misses(
    law: Law, seeds: int, n: int, interval: Callable[[Law, int, int], Interval]
) -> int:
    """Return how many of some intervals do not hold the mean; rounding is allowed."""
    ends = [interval(law, seed, n).ends for seed in range(seeds)]
    room = 1e-12 * (law.high - law.low)
    return sum(not low - room <= law.mean <= high + room for low, high in ends)


def narrow_misses(law: Law, seeds: int, n: int) -> int:
    """Return the same of t intervals at 40 %: the control."""
    ends = [plain_t(sampled(law, seed, n), 0.4) for seed in range(seeds)]
    return sum(not low <= law.mean <= high for low, high in ends)


@pytest.mark.parametrize("law", FAST, ids=lambda law: law.name)
def test_few_guaranteed_intervals_miss(law: Law) -> None:
    seeds, n = 60, 200
    assert misses(law, seeds, n, guaranteed) <= most_misses(seeds)
    assert narrow_misses(law, seeds, n) > most_misses(seeds)


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("n", [16, 200])
def test_few_intervals_miss_where_tails_are_sampled(name: str, n: int) -> None:
    seeds = 300
    missed = misses(BY_NAME[name], seeds, n, estimate)
    assert missed <= most_misses(seeds)
    assert missed >= 3  # of 15: they are no wider than they say
    assert narrow_misses(BY_NAME[name], seeds, n) > most_misses(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_guaranteed_intervals_hold_at_their_rate(law: Law, n: int) -> None:
    seeds = 300
    assert misses(law, seeds, n, guaranteed) <= most_misses(seeds)


def test_a_rare_event_is_warned_of() -> None:
    """The interval misses more often than it says, and says that it may."""
    law, seeds, n = BY_NAME["rare bad, 0.001"], 60, 200
    assert misses(law, seeds, n, estimate) > most_misses(seeds)
    assert all(estimate(law, seed, n).warning for seed in range(seeds))
    usual = BY_NAME["uniform"]
    assert not any(estimate(usual, seed, n).warning for seed in range(seeds))


@pytest.mark.parametrize("law", [hidden(3e-3, 0.001), hidden(1e-2, 0.0001)])
def test_an_event_hidden_in_noise_is_known_to_the_theorem_alone(law: Law) -> None:
    seeds, n = 60, 100
    assert misses(law, seeds, n, guaranteed) <= most_misses(seeds)
    assert misses(law, seeds, n, estimate) > most_misses(seeds)


def test_neither_interval_is_chosen_by_the_data() -> None:
    """Values of .2 and .21 with a rare 1: the guaranteed one holds, always there."""
    missed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        usual = rng.choice([0.2, 0.21], 100)
        values = np.where(rng.random(100) < 0.01, 1.0, usual)
        found = estimated_mean([Part(values, 0.0, 1.0)], 0.95).guaranteed
        assert found is not None
        missed += not found.lower <= 0.99 * 0.205 + 0.01 <= found.upper
    assert missed <= most_misses(200)


def test_strata_of_unequal_weights_are_covered_together() -> None:
    """A rare event in the part that has most weight, and few samples."""
    names = ("rare bad, 0.01", "uniform", "rare good, 0.1")
    laws = [BY_NAME[name] for name in names]
    weights, counts = (0.6, 0.3, 0.1), (50, 200, 20)
    mean = sum(w * law.mean for w, law in zip(weights, laws, strict=True))
    seeds = 100

    def parts(seed: int) -> list[Part]:
        return [
            Part(sampled(law, 3 * seed + k, n), 0.0, 1.0, w)
            for k, (law, n, w) in enumerate(zip(laws, counts, weights, strict=True))
        ]

    for stopped in (False, True):
        found = [
            estimated_mean(parts(s), 0.95, stopped=stopped).guaranteed
            for s in range(seeds)
        ]
        missed = sum(e is None or not e.lower <= mean <= e.upper for e in found)
        assert missed <= most_misses(seeds)
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
            found = estimated_mean(part, 0.95, stopped=True).guaranteed
            if found is not None and found.lower > 0.5:
                wrong += 1
                break
        fooled += any(
            plain_t(values[:n], 0.95)[0] > 0.5 for n in range(20, longest, 20)
        )
    assert wrong <= most_misses(seeds)
    assert fooled > most_misses(seeds)  # the control: a fixed number's interval
