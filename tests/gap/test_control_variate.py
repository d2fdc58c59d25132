"""Returns and losses combined: unbiased, never worse than returns, honest intervals."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.gap.sampled import Sample, combined, interval

WIDE = (-100.0, 200.0)


def both(raw: FloatArray, losses: FloatArray) -> Sample:
    """Return episodes whose numbers could be anything in a wide range."""
    return Sample(raw, losses, WIDE, WIDE, 0.0, 1e9, 0.0)


def sample(rng: np.random.Generator, n: int, *, shared: float, noise: float) -> Sample:
    """Return episodes of mean 3 whose returns have `noise` that losses do not."""
    losses = 3.0 + shared * rng.normal(size=n)
    return both(losses + noise * rng.normal(size=n), losses)


@pytest.mark.parametrize("seed", range(20))
def test_the_combination_never_varies_more_than_returns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = sample(rng, 100, shared=rng.exponential(), noise=rng.exponential())
    found = combined(made)
    assert found.variance_ratio >= 1.0
    assert found.values.var() <= made.losses.var() + 1e-12


def test_the_combination_is_unbiased_and_better_than_both() -> None:
    """Returns and losses that share half of their noise in opposite directions."""
    rng = np.random.default_rng(7)
    means = []
    for _ in range(400):
        one, other = rng.normal(size=(2, 60))
        made = both(5.0 + one + other, 5.0 + one - other)
        found = combined(made)
        assert found.values.var() < made.raw.var()
        means.append(found.values.mean())
    error = np.std(means) / np.sqrt(400)
    assert abs(np.mean(means) - 5.0) < 5.0 * error
    assert np.std(means) < 0.8 * np.sqrt(2.0 / 60)


def test_the_range_of_a_combination_holds_all_its_numbers() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        raw, losses = rng.random((2, 80)) * [[3.0], [1.0]]
        losses = losses + rng.normal() * raw
        ends = float(losses.min()), float(losses.max())
        found = combined(Sample(raw, losses, (0.0, 3.0), ends, 0.0, 9.0, 0.0))
        assert found.low <= found.values.min() and found.values.max() <= found.high


def test_an_average_over_models_has_their_weights() -> None:
    rng = np.random.default_rng(1)
    models = [both(x, x) for x in (rng.random(50), 2.0 + rng.random(70), np.ones(9))]
    found = interval(models, 0.95, weights=[0.25, 0.75, 0.0])
    mean = 0.25 * models[0].raw.mean() + 0.75 * models[1].raw.mean()
    assert found.estimate == pytest.approx(mean)
    assert found.lower < mean < found.upper
    alone = interval(models[:1], 0.95)
    assert alone.estimate == pytest.approx(models[0].raw.mean())


def test_an_interval_ends_at_what_is_certain_about_the_mean() -> None:
    nothing = np.zeros(9)
    found = interval([Sample(nothing, nothing, WIDE, WIDE, 0.0, 7.0, 0.0)], 0.95)
    assert (found.estimate, found.warning) == (0.0, "all-alike")
    assert found.guaranteed is not None
    assert found.guaranteed.ends == (0.0, 7.0)
    never = (0.0, 0.0)  # no episode can differ
    certain = interval([Sample(nothing, nothing, never, never, 0.0, 1e9, 0.0)], 0.95)
    assert certain.upper == 0.0
