"""Returns and losses combined: unbiased, never worse than returns, honest intervals."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.gap.control_variate import Sample, combined, interval


def sample(rng: np.random.Generator, n: int, *, shared: float, noise: float) -> Sample:
    """Return episodes of mean 3 whose returns have `noise` that losses do not."""
    luck = rng.normal(size=n)
    losses = 3.0 + shared * luck
    return Sample(losses + noise * rng.normal(size=n), losses, 0.0, 1e9, 100.0, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_combination_never_varies_more_than_returns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = sample(rng, 100, shared=rng.exponential(), noise=rng.exponential())
    found = combined(made)
    assert found.variance_ratio >= 1.0
    assert found.values.var() <= made.losses.var() + 1e-12


def test_losses_without_variance_are_taken_as_they_are() -> None:
    made = sample(np.random.default_rng(0), 50, shared=0.0, noise=2.0)
    found = combined(made)
    assert found.variance_ratio > 1e6 or found.values.var() == 0.0
    assert interval(made, 0.95).estimate == pytest.approx(3.0)


def test_the_combination_is_unbiased_and_better_than_both() -> None:
    """Returns and losses that share half of their noise in opposite directions."""
    rng = np.random.default_rng(7)
    means = []
    for _ in range(400):
        one, other = rng.normal(size=(2, 60))
        made = Sample(5.0 + one + other, 5.0 + one - other, 0.0, 1e9, 50.0, 0.0)
        found = combined(made)
        assert found.values.var() < made.raw.var()
        means.append(found.values.mean())
    error = np.std(means) / np.sqrt(400)
    assert abs(np.mean(means) - 5.0) < 5.0 * error
    assert np.std(means) < 0.8 * np.sqrt(2.0 / 60)


def test_an_interval_leaves_room_for_what_was_not_met() -> None:
    nothing = Sample(np.zeros(100), np.zeros(100), 0.0, 1e9, 50.0, 0.0)
    found = interval(nothing, 0.95)
    assert found.lower == 0.0 and found.estimate == 0.0
    assert found.upper == pytest.approx(np.log(40.0) / 100 * 50.0)
    capped = interval(Sample(np.zeros(9), np.zeros(9), 0.0, 7.0, 50.0, 0.0), 0.95)
    assert capped.upper == 7.0  # no more than all there is
    certain = interval(Sample(np.zeros(9), np.zeros(9), 0.0, 1e9, 0.0, 0.0), 0.95)
    assert certain.upper == 0.0  # nothing could have been lost


def test_rare_large_losses_are_covered_at_the_stated_rate() -> None:
    """One episode in fifty loses 100: means of 100 episodes are skewed."""
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(500):
        lost = np.where(rng.random(100) < 0.02, 100.0, 0.0) + rng.random(100)
        found = interval(Sample(lost, lost, 0.0, 1e9, 1000.0, 0.0), 0.9)
        inside += found.lower <= 2.5 <= found.upper
    assert inside >= 0.9 * 500 - 4.0 * np.sqrt(500 * 0.09)
