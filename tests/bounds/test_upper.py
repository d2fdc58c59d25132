"""Theorems 1, 2, 5 and 6: constants, variants, and exact gaps below them."""

from __future__ import annotations

from math import ceil, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.bounds import (
    Anytime,
    Bhattacharyya,
    Chernoff,
    PaperSamples,
    ProvedThreshold,
    Quantity,
    Travel,
    elimination_gap,
    finite_class,
    first_elimination,
    optimistic_gap,
    optimistic_regret,
    separated_class,
    vacuity_horizon,
    with_model_rewards,
)
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.planning import diameter
from tests.strategies import STEADY

HORIZONS = (1, 2, 5, 17, 100, 1000, 10**6, 10**9)


def test_theorem_5_is_the_formula_of_the_theory() -> None:
    M, D, H, delta = 4, 17.96, 2000, 0.4
    n0 = ceil(8 * log(M * H) / delta**2)
    assert n0 == 450
    wanted = n0 * (M - 1) * (2 * D * (M + 2) + 1) + D + 1
    found = elimination_gap(Chernoff(delta), horizon=H, members=M, diameter=D)
    assert found.value == pytest.approx(wanted, rel=1e-14)
    assert found.constant("n0") == n0
    assert found.quantity is Quantity.BASE_GAP
    every = elimination_gap(
        Chernoff(delta), horizon=H, members=M, diameter=D, travel=Travel.ALL
    )
    wanted = n0 * (M - 1) * (4 * M * D + 1) + D + 1
    assert every.value == pytest.approx(wanted, rel=1e-14)


def test_the_simulated_river_of_the_theory_has_its_n0() -> None:
    """Section 6: pr in {.35, .15, .75} and H = 2000 give n0 = 435 for three models."""
    assert Chernoff(0.4).samples(2000, 3) == 435


def test_theorem_1_is_the_sum_over_models() -> None:
    base = elimination_gap(Chernoff(0.5), horizon=50, members=5, diameter=3.0)
    uniform = separated_class(Chernoff(0.5), horizon=50, members=5, diameter=3.0)
    assert uniform.value == pytest.approx(5 * base.value)
    assert uniform.claim == "Theorem 1"
    assert uniform.quantity is Quantity.ORACLE_GAP
    skewed = separated_class(
        Chernoff(0.5), horizon=50, members=5, diameter=3.0, weight=0.01
    )
    assert skewed.value == pytest.approx(100 * base.value)


def test_one_model_has_nothing_to_find_out() -> None:
    for D in (3.0, inf):
        alone = elimination_gap(Chernoff(2.0), horizon=9, members=1, diameter=D)
        assert alone.value == 0.0
        assert alone.non_vacuous_from == 1
        assert alone.holds


def test_theorem_6_is_the_formula_of_the_theory() -> None:
    M, D, H = 4, 14.72, 500
    deviation = D * sqrt(M * H * log(2 * H**2) / 2)
    spans = [D] * M
    regret = optimistic_regret(horizon=H, spans=spans)
    assert regret.value == pytest.approx(deviation + (2 * M - 1) * D + 1, rel=1e-14)
    gap = optimistic_gap(horizon=H, spans=spans)
    assert gap.value == pytest.approx(deviation + 2 * M * D + 1, rel=1e-14)
    assert regret.value + D == pytest.approx(gap.value)
    printed = optimistic_regret(
        horizon=H, spans=spans, threshold=ProvedThreshold.PAPER, diameter=D
    )
    wanted = D * sqrt(2 * M * H * log(2 * H * M)) + (2 * M - 1) * D + 1
    assert printed.value == pytest.approx(wanted, rel=1e-14)
    one_sided = optimistic_gap(
        horizon=H, spans=spans, threshold=ProvedThreshold.ONE_SIDED
    )
    wanted = D * sqrt(M * H * log(H**2) / 2) + 2 * M * D + 1
    assert one_sided.value == pytest.approx(wanted, rel=1e-14)
    assert finite_class(horizon=H, spans=spans).value == pytest.approx(M * gap.value)


def test_theorem_6_on_four_rivers_is_the_bound_of_the_theory() -> None:
    """Theory row 40: a regret of at most 2533.5 at H = 500."""
    rivers = riverswim(6, success=(0.35, 0.25, 0.45, 0.30))
    D = diameter(rivers).upper
    found = optimistic_regret(horizon=500, spans=[D] * 4).value
    assert found == pytest.approx(2533.5138, abs=1e-4)


@STEADY
@given(st.lists(st.floats(0.0, 30.0), min_size=1, max_size=6), st.integers(1, 10**6))
def test_sums_of_squares_are_no_worse_than_the_greatest_span(
    spans: list[float], horizon: int
) -> None:
    fine = optimistic_gap(horizon=horizon, spans=spans).value
    coarse = optimistic_gap(horizon=horizon, spans=[max(spans)] * len(spans)).value
    assert fine <= coarse * (1 + 1e-12)
    regret = optimistic_regret(horizon=horizon, spans=spans)
    assert regret.value + max(spans) >= fine * (1 - 1e-12)


@pytest.mark.parametrize(
    "rule",
    [Chernoff(0.3), Bhattacharyya(0.01), PaperSamples(0.9, 5), Anytime(0.5)],
    ids=lambda rule: type(rule).__name__,
)
def test_gaps_of_algorithm_1_grow_with_everything_that_makes_it_harder(
    rule: Chernoff,
) -> None:
    def at(horizon: int = 50, members: int = 3, diameter: float = 4.0) -> float:
        return elimination_gap(
            rule, horizon=horizon, members=members, diameter=diameter
        ).value

    assert [at(horizon=h) for h in HORIZONS] == sorted(at(horizon=h) for h in HORIZONS)
    assert at(members=4) > at()
    assert at(diameter=5.0) > at()
    first = elimination_gap(rule, horizon=1, members=3, diameter=4.0)
    begin = first.non_vacuous_from
    assert begin is not None
    assert first.at(int(begin)) < begin
    near = range(max(1, int(begin) - 500), int(begin))
    assert all(first.at(h) >= h for h in near)


def test_the_paper_threshold_needs_the_diameter() -> None:
    spans = [2.0, 3.0]
    for D, words in ((inf, "finite diameter"), (2.5, "no less than the spans")):
        found = optimistic_gap(
            horizon=9, spans=spans, threshold=ProvedThreshold.PAPER, diameter=D
        )
        assert words in found.unmet[0]
    assert not optimistic_gap(horizon=9, spans=spans).unmet


def test_rewards_of_the_model_widen_every_span_by_one() -> None:
    assert (with_model_rewards([0.0, 2.5]) == np.array([1.0, 3.5])).all()
    wider = optimistic_gap(horizon=100, spans=with_model_rewards([3.0] * 4)).value
    assert wider == optimistic_gap(horizon=100, spans=[4.0] * 4).value


@STEADY
@given(
    st.floats(0.1, 9.0),
    st.floats(0.05, 1.0),
    st.floats(0.05, 1.0),
    st.integers(1, 3000),
    st.sampled_from(list(ProvedThreshold)),
)
def test_the_first_elimination_is_that_of_a_scan(
    span: float, drift: float, share: float, horizon: int, threshold: ProvedThreshold
) -> None:
    step, D = span * share, 1.5 * span
    if threshold is ProvedThreshold.PAPER:
        c = D * sqrt(2 * log(2 * horizon * 3))
    else:
        sides = 1 if threshold is ProvedThreshold.ONE_SIDED else 2
        c = span * sqrt(log(sides * horizon**2) / 2)

    def possible(n: int) -> bool:
        return min(n * step, n * drift + span) > c * sqrt(n)

    found = first_elimination(
        horizon=horizon,
        span=span,
        drift=drift,
        step=step,
        members=3,
        threshold=threshold,
        diameter=D,
    )
    scanned = next((n for n in range(1, 100_000) if possible(n)), None)
    if scanned is not None:
        assert found == scanned
    else:
        assert found >= 100_000


def test_the_vacuity_horizon_is_that_of_a_scan() -> None:
    """About 2 (D/drift)^2 log(2HM) with the paper's threshold, and all models count."""
    spans, drifts, D = [4.0, 6.0], [0.5, 0.8], 7.0

    def possible(horizon: int) -> bool:
        return any(
            first_elimination(
                horizon=horizon,
                span=span,
                drift=drift,
                members=2,
                threshold=ProvedThreshold.PAPER,
                diameter=D,
            )
            <= horizon
            for span, drift in zip(spans, drifts, strict=True)
        )

    found = vacuity_horizon(
        spans=spans, drifts=drifts, threshold=ProvedThreshold.PAPER, diameter=D
    )
    assert found == next(h for h in range(1, 10_000) if possible(h))
    assert vacuity_horizon(spans=[0.0], drifts=[0.5]) == inf
    assert vacuity_horizon(spans=[3.0], drifts=[0.0], steps=[0.5]) == inf
    with pytest.raises(InvalidArgument, match="one of each"):
        vacuity_horizon(spans=[1.0], drifts=[1.0, 2.0])
