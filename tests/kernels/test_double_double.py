"""Error-free sums and products, and what is built of them, against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.solving.double_double import (
    UNIT,
    exact_product,
    exact_sum,
    wide_advantages,
    wide_sum,
)
from simgap._kernels.solving.reachability import without_self_loops
from simgap.arrays import FloatArray, read_only
from tests.kernels.inputs import patterns
from tests.reference.kernel_rows import entries

RELATIVE = Fraction(UNIT)


def doubles(rng: np.random.Generator, count: int, reach: int) -> FloatArray:
    """Doubles of both signs with exponents from -reach to reach, some of them whole."""
    numbers = rng.normal(size=count) * 2.0 ** rng.integers(-reach, reach + 1, count)
    numbers[::17] = np.round(numbers[::17])
    numbers[::31] = 0.0
    numbers[::37] = 2.0 ** rng.integers(-reach, reach + 1, numbers[::37].size)
    return np.asarray(numbers)


def wide(rng: np.random.Generator, count: int, reach: int) -> tuple[FloatArray, ...]:
    """Double-doubles: the low part is below half a unit of the high one."""
    high = doubles(rng, count, reach)
    low = high * rng.uniform(-1.0, 1.0, count) * 2.0**-54
    return high, low


def test_a_sum_and_what_rounding_took_from_it_are_exact() -> None:
    rng = np.random.default_rng(41)
    for reach in (1, 30, 400, 1000):
        left, right = doubles(rng, 1500, reach), doubles(rng, 1500, reach)
        right[::5] = -left[::5] * (1.0 + rng.integers(-3, 4, 300) * 2.0**-52)
        for a, b in zip(left.tolist(), right.tolist(), strict=True):
            total, rest = exact_sum(a, b)
            assert total == a + b
            assert Fraction(total) + Fraction(rest) == Fraction(a) + Fraction(b)


def test_a_product_and_what_rounding_took_from_it_are_exact() -> None:
    """Exponents to 450: neither the product nor its rest over- or underflows."""
    rng = np.random.default_rng(42)
    for reach in (1, 30, 200, 450):
        left, right = doubles(rng, 1500, reach), doubles(rng, 1500, reach)
        for a, b in zip(left.tolist(), right.tolist(), strict=True):
            product, rest = exact_product(a, b)
            assert product == a * b
            assert Fraction(product) + Fraction(rest) == Fraction(a) * Fraction(b)


def test_wide_sums_keep_the_stated_precision() -> None:
    """Relative to the sum itself, however much of it cancels (Joldes et al. 2017)."""
    rng = np.random.default_rng(43)
    for reach in (1, 20, 300):
        (h, low), (k, tail) = wide(rng, 1500, reach), wide(rng, 1500, reach)
        k[::3] = -h[::3] * (1.0 + rng.integers(-2, 3, 500) * 2.0**-52)  # cancels
        tail[::3] = k[::3] * rng.uniform(-1.0, 1.0, 500) * 2.0**-54
        for parts in zip(h, low, k, tail, strict=True):
            total, rest = wide_sum(*(float(x) for x in parts))
            a, b, c, d = (Fraction(float(x)) for x in parts)
            off = abs(Fraction(total) + Fraction(rest) - (a + b + c + d))
            assert off <= RELATIVE * abs(a + b + c + d)
            assert total == total + rest  # normalised: the rest is below rounding


@pytest.mark.parametrize("size", [1.0, 1e6, 1e18, 1e-6])
@pytest.mark.parametrize("spread", [1.0, 1e-9, 1e-16, 0.0])
def test_advantages_are_off_by_less_than_their_noise(
    size: float, spread: float
) -> None:
    """h of 1e18 and rewards of 1: in doubles nothing of R would be left."""
    rng = np.random.default_rng(45)
    for kernel in patterns(46, dyadic=False)[::2]:
        begins, others, kept, _ = without_self_loops(*kernel.arrays, kernel.n_actions)
        rows = begins.size - 1
        high = size * (1.0 + spread * rng.normal(size=kernel.n_states))
        low = high * rng.uniform(-1.0, 1.0, high.size) * 2.0**-54
        rewards = read_only(rng.normal(size=rows))
        out_high, out_low, noise = np.empty((3, rows))
        wide_advantages(
            begins, others, kept, rewards, kernel.n_actions,
            read_only(high), read_only(low), out_high, out_low, noise,
        )  # fmt: skip
        h = [Fraction(a) + Fraction(b) for a, b in zip(high, low, strict=True)]
        for row in range(rows):
            here = h[row // kernel.n_actions]
            wanted = Fraction(float(rewards[row]))
            for after, p in entries((begins, others, kept), row):
                wanted += Fraction(p) * (h[after] - here)
            found = Fraction(out_high[row].item()) + Fraction(out_low[row].item())
            assert abs(found - wanted) <= Fraction(noise[row].item())
        assert (noise <= 1e-25 * (10.0 + size)).all()  # and the noise is small
