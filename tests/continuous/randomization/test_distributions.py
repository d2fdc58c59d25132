"""Laws of one parameter, against scipy's and against their own inverses."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simgap.continuous import (
    Choice,
    Distribution,
    Fixed,
    LogUniform,
    TruncatedNormal,
    Uniform,
)
from simgap.continuous.randomization.draws import uniforms

FAILURE = 1e-6
LAWS: list[tuple[Distribution, Any, Distribution]] = [  # law, scipy's, one that is not
    (Uniform(0.5, 2.0), stats.uniform(0.5, 1.5), Uniform(0.5, 2.2)),
    (LogUniform(0.1, 10.0), stats.loguniform(0.1, 10.0), LogUniform(0.1, 12.0)),
    (
        TruncatedNormal(1.0, 0.5, 0.2, 1.5),
        stats.truncnorm(-1.6, 1.0, 1.0, 0.5),
        TruncatedNormal(1.0, 0.6, 0.2, 1.5),
    ),
    (TruncatedNormal(1.0, 0.5), stats.norm(1.0, 0.5), TruncatedNormal(1.0, 0.55)),
    (
        TruncatedNormal(0.0, 1.0, 4.0, 9.0),
        stats.truncnorm(4.0, 9.0),
        TruncatedNormal(0.0, 1.0, 4.02, 9.0),
    ),
]
IDS = [law.text for law, _, _ in LAWS]


@pytest.mark.parametrize(("law", "theirs", "other"), LAWS, ids=IDS)
def test_draws_follow_the_law_and_not_one_nearby(
    law: Distribution, theirs: Any, other: Distribution
) -> None:
    u = uniforms(11, np.arange(20_000), "x")
    assert stats.kstest(law.quantile(u), theirs.cdf).pvalue > FAILURE
    assert stats.kstest(other.quantile(u), theirs.cdf).pvalue < FAILURE


@pytest.mark.parametrize(("law", "theirs", "_other"), LAWS, ids=IDS)
def test_functions_of_a_law_are_scipys(
    law: Distribution, theirs: Any, _other: Distribution
) -> None:
    u = np.linspace(0.001, 0.999, 199)
    x = theirs.ppf(u)
    np.testing.assert_allclose(law.quantile(u), x, rtol=1e-9)
    np.testing.assert_allclose(law.cdf(x), u, rtol=1e-9)
    np.testing.assert_allclose(law.density(x), theirs.pdf(x), rtol=1e-9)
    low, high = law.support
    assert (law.density(np.array([low - 1.0, high + 1.0])) == 0.0).all()


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS], ids=IDS)
def test_quantile_inverts_the_distribution_function(law: Distribution) -> None:
    u = uniforms(3, np.arange(1000), "x")
    np.testing.assert_allclose(law.cdf(law.quantile(u)), u, atol=1e-12)


@pytest.mark.parametrize("law", [law for law, _, _ in LAWS], ids=IDS)
def test_no_draw_leaves_the_support(law: Distribution) -> None:
    drawn = law.quantile(np.array([0.0, 2.0**-54, 0.5, 1.0 - 2.0**-53, 1.0]))
    assert (drawn >= law.support[0]).all()
    assert (drawn <= law.support[1]).all()


def test_a_choice_has_the_chances_of_its_weights() -> None:
    law = Choice((1.0, -1.0, 0.5), (3.0, 1.0, 4.0))
    x = np.array([-1.0, 0.5, 1.0])
    np.testing.assert_allclose(law.density(x), [1 / 8, 4 / 8, 3 / 8])
    np.testing.assert_allclose(law.cdf(x), [1 / 8, 5 / 8, 1.0])
    assert law.quantile(np.array([0.0, 0.12, 0.13, 0.62, 0.63, 1.0])).tolist() == [
        -1.0,
        -1.0,
        0.5,
        0.5,
        1.0,
        1.0,
    ]
    assert law.density(np.array([0.4, 7.0])).tolist() == [0.0, 0.0]
    drawn = law.quantile(uniforms(5, np.arange(20_000), "x"))
    counts = [(drawn == value).sum() for value in x]
    assert stats.chisquare(counts, [2500, 10000, 7500]).pvalue > FAILURE
    assert stats.chisquare(counts, [2800, 9700, 7500]).pvalue < FAILURE  # the control


@pytest.mark.parametrize(
    "law", [Fixed(0.1), Uniform(0.1, 0.1), LogUniform(0.1, 0.1), Choice((0.1,))]
)
def test_a_range_of_no_width_gives_its_number_bit_for_bit(law: Distribution) -> None:
    u = uniforms(1, np.arange(1000), "x")
    assert (law.quantile(u) == 0.1).all()
    assert law.cdf(np.array([0.09, 0.1])).tolist() == [0.0, 1.0]
    assert law.density(np.array([0.09, 0.1])).tolist() == [0.0, 1.0]
    assert law.stretched(1.5) == law


@pytest.mark.parametrize("ends", [(0.3, 1.5), (-1.5, -0.3), (0.1, 0.5)])
def test_a_wider_range_ends_at_0_not_within_rounding_of_it(
    ends: tuple[float, float],
) -> None:
    assert 0.0 in Uniform(*ends).stretched(1.5).support
