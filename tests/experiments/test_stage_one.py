"""Stage 1 of Algorithm 1: its length, its power of delta, and print without an end."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest

from simgap.experiments.lemmas import lemma_7_stage_one as lemma_7
from simgap.experiments.printed import algorithm_1_printed as printed
from simgap.experiments.remarks import delta_squared
from simgap.experiments.remarks.delta_squared import coin_error, samples_needed
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

LENGTHS = lemma_7.Settings((10**5,), switches=(2, 4), runs=60, random_models=5)
POWERS = delta_squared.Settings(
    (0.1, 0.2, 0.3, 0.4), 10**5, runs=50, loose=0.1, loose_runs=300
)
PRINTED = printed.Settings((3 * 10**5, 5 * 10**5, 7 * 10**5), runs=3)


def test_stage_one_is_no_longer_than_lemma_7_says() -> None:
    found = lemma_7.measured(LENGTHS, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is lemma_7.CLAIM.expected


def test_a_hundredth_of_the_length_is_too_little() -> None:
    little = replace(LENGTHS, share=0.01)
    assert lemma_7.measured(little, 0, silent).verdict is ClaimVerdict.REFUTED


def test_the_length_grows_like_the_inverse_square_of_delta() -> None:
    found = delta_squared.measured(POWERS, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is delta_squared.CLAIM.expected
    low, high = found.key_number.value.ends
    assert -2.1 < low < high < -1.85


def test_a_quarter_of_the_samples_errs_too_often() -> None:
    quarter = replace(POWERS, share=0.25)
    assert delta_squared.measured(quarter, 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize("samples", [1, 2, 7, 40])
def test_errors_of_coins_are_tails_of_the_binomial(samples: int) -> None:
    """delta = 2/5: heads with chance 2/5 look like the rival if half of them come."""
    heads = Fraction(2, 5)
    tail = sum(
        comb(samples, k) * heads**k * (1 - heads) ** (samples - k)
        for k in range(samples + 1)
        if 2 * k >= samples
    )
    low, high = coin_error(samples, 0.4).ends
    assert low <= float(tail) <= high
    assert high - low < 1e-9


@pytest.mark.parametrize(("delta", "allowed"), [(0.4, 1e-3), (0.2, 1e-6), (1.6, 1e-2)])
def test_fewer_samples_than_needed_are_not_enough(delta: float, allowed: float) -> None:
    needed = samples_needed(delta, allowed)
    assert needed % 2 == 1
    assert coin_error(needed, delta).ends[1] <= allowed
    assert needed == 3 or coin_error(needed - 2, delta).ends[0] > allowed


def test_print_never_leaves_stage_one() -> None:
    found = printed.measured(PRINTED, 0, silent)
    assert {check.verdict for check in found.checks} == {ClaimVerdict.REFUTED}
    assert printed.CLAIM.expected is ClaimVerdict.REFUTED
    low, high = found.key_number.value.ends
    assert 0.99 < low <= high < 1.01


def test_no_model_is_dropped_by_a_float_tie() -> None:
    """Once both outcomes were seen, a set has the product of their chances."""

    def products(means: tuple[tuple[float, ...], ...]) -> list[set[Fraction]]:
        decimals = [[Fraction(str(mean)) for mean in model] for model in means]
        arms = zip(*decimals, strict=True)
        return [{mean * (1 - mean) for mean in arm} for arm in arms]

    assert all(len(arm) == 2 for arm in products(printed.MEANS))
    mirrored = ((0.1, 0.9), (0.9, 0.1))  # the control: rounding decides
    assert all(len(arm) == 1 for arm in products(mirrored))


def test_the_repaired_rule_with_the_same_samples_keeps_its_promises() -> None:
    repaired = printed.measured(replace(PRINTED, literal=False), 0, silent)
    gap, growth, dropped, endless = repaired.checks
    assert gap.verdict is ClaimVerdict.HOLDS
    assert growth.verdict is ClaimVerdict.HOLDS
    assert endless.verdict is ClaimVerdict.HOLDS
    assert dropped.verdict is not ClaimVerdict.REFUTED  # three runs cannot show 1/H
