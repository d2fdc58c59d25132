"""Certified means enclosed: lower <= truth <= upper in Fractions, without tolerance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.mdp import LatentMDP
from simgap.oracle.loss_form import loss_form
from tests.reference.enclosure import (
    misses,
    misses_in_the_long_run,
    random_problem,
)
from tests.reference.latent import oracle_value, rational


@pytest.mark.parametrize("seed", range(4))
def test_no_certified_number_misses_the_truth(seed: int) -> None:
    rng = np.random.default_rng([seed, 13])
    for _ in range(35):
        latent, horizon = random_problem(rng, most_histories=40)
        assert list(misses(latent, horizon)) == []


def test_no_gain_and_no_diameter_misses_the_truth() -> None:
    rng = np.random.default_rng(14)
    for _ in range(25):
        latent, _ = random_problem(rng, most_histories=40)
        assert list(misses_in_the_long_run(latent.simulators)) == []


def test_without_outward_rounding_numbers_do_miss() -> None:
    """The control: V* as a plain float, and W* from two of them."""
    rng = np.random.default_rng(15)
    wrong = 0
    for _ in range(40):
        latent, horizon = random_problem(rng, most_histories=40)
        form, exact = loss_form(latent, horizon=horizon), rational(latent)
        best = exact.optimal(horizon)
        wrong += any(
            Fraction(float(told)) != truth
            for told, truth in zip(form.optimal, best, strict=True)
        )
    assert wrong > 10


def test_rows_are_read_as_divided_by_their_exact_sum() -> None:
    """[.1, .2, .7] sums to 1 - 2.8e-17 exactly: what that means is stated."""
    latent, horizon = random_problem(np.random.default_rng(16))
    exact = rational(latent)
    for model in exact.models:
        for pair in model.transitions:
            assert all(sum(row) == 1 for row in pair)
    assert sum(exact.prior) == 1
    form = loss_form(latent, horizon=horizon)
    assert form.defect >= 0.0
    assert isinstance(latent, LatentMDP)
    assert oracle_value(exact, horizon) <= Fraction(form.informed_ends.ends[1])
