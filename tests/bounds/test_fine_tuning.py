"""A posterior after real data bounds the gap (theory 7.4)."""

from __future__ import annotations

from simgap.bounds import posterior_gap


def test_a_posterior_bounds_the_gap() -> None:
    assert posterior_gap(3.0, posterior=0.5, horizon=100).value == 6.0
    assert posterior_gap(3.0, posterior=0.01, horizon=100).value == 100.0
    assert posterior_gap(3.0, posterior=0.0, horizon=100).value == 100.0
