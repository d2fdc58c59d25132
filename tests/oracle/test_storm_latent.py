"""W* and the average gap against Storm, in exact rationals over histories."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

pytest.importorskip(
    "stormpy", reason="stormpy judges these answers: pip install stormpy"
)

from simgap.mdp import LatentMDP
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome, Planned
from simgap.oracle.settings import ExactOracle
from tests.latent_judge import LatentJudge
from tests.reference.latent import oracle_value, random_latent, rational

CASES = 520
DYADIC = 16  # rows k / 16 are exact as floats


@cache
def cases() -> list[tuple[LatentMDP, int]]:
    rng = np.random.default_rng(2023)
    return [
        random_latent(rng, denominator=DYADIC if i % 2 else 10, most_histories=450)
        for i in range(CASES)
    ]


@cache
def planned() -> list[tuple[LossForm, Planned]]:
    forms = [loss_form(latent, horizon=horizon) for latent, horizon in cases()]
    return [(form, solve_exact(form, ExactOracle())) for form in forms]


@cache
def storm() -> list[Fraction]:
    return LatentJudge([(rational(lmdp), h) for lmdp, h in cases()]).oracle_values()


def test_the_cases_have_something_to_lose() -> None:
    """A judge of zeros proves little: most cases must have a gap, many be large."""
    gaps = [found.upper for _, found in planned()]
    assert sum(gap > 1e-3 for gap in gaps) > CASES / 4
    assert sum(horizon >= 4 for _, horizon in cases()) > CASES / 10


def test_the_gap_is_that_of_storm_on_histories() -> None:
    for (latent, horizon), (_, found), value in zip(
        cases(), planned(), storm(), strict=True
    ):
        exact = rational(latent)
        informed = sum(
            (p * v for p, v in zip(exact.prior, exact.optimal(horizon), strict=True)),
            Fraction(0),
        )
        assert found.outcome is Outcome.EXACT
        assert found.upper - found.lower <= 1e-11
        assert Fraction(found.lower) <= informed - value <= Fraction(found.upper)


def test_the_slow_twin_is_that_of_storm() -> None:
    judged = zip(cases(), storm(), strict=True)
    for (latent, horizon), value in list(judged)[:100]:
        assert oracle_value(rational(latent), horizon) == value
