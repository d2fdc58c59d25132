"""Conformance: planning finds what every instance of the catalogue knows of itself."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import NotCommunicating
from simgap.instances import build_instance, closed_forms
from simgap.planning import (
    communicating,
    diameter,
    optimal_values,
    solve_average_reward,
)
from tests.instances.cases import CASES, HORIZONS

EQUAL = 1e-9


@pytest.mark.parametrize("spec", CASES)
def test_planning_finds_the_known_values(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.value is None:
        return
    for horizon in HORIZONS:
        told = known.value(horizon)
        here = ~np.isnan(told)
        found = optimal_values(worlds, horizon).start
        np.testing.assert_allclose(found[here], told[here], rtol=EQUAL, atol=EQUAL)


@pytest.mark.parametrize("spec", CASES)
def test_planning_encloses_the_known_diameters(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.diameter is None:
        return
    here = ~np.isnan(known.diameter)
    found = diameter(worlds)
    told = known.diameter[here]
    slack = 1e-9 * np.where(np.isinf(told), 0.0, told)
    assert (found.model_lower[here] <= told + slack).all()
    assert (found.model_upper[here] >= told - slack).all()
    np.testing.assert_allclose(found.model_upper[here], told, rtol=1e-8)
    if here.all():
        assert found.upper == pytest.approx(told.max(), rel=1e-8)


@pytest.mark.parametrize("spec", CASES)
def test_planning_encloses_the_known_gains(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.gain is None or not communicating(worlds).all():
        return
    plan = solve_average_reward(worlds)
    here = ~np.isnan(known.gain)
    assert (plan.gain_lower[here] <= known.gain[here] + 1e-12).all()
    assert (plan.gain_upper[here] >= known.gain[here] - 1e-12).all()
    np.testing.assert_allclose(
        plan.gain[here], known.gain[here], rtol=EQUAL, atol=EQUAL
    )


@pytest.mark.parametrize("spec", CASES)
def test_planning_finds_the_known_biases(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.bias is None or not communicating(worlds).all():
        return
    plan = solve_average_reward(worlds)
    for m, told in enumerate(known.bias):
        if not np.isnan(told).any():
            scale = max(1.0, float(told.max()))
            np.testing.assert_allclose(plan.bias[m], told, atol=1e-7 * scale, rtol=1e-7)
            assert plan.bias_span[m] == pytest.approx(np.ptp(told), rel=1e-7)


def test_doors_that_do_not_communicate_are_refused() -> None:
    with pytest.raises(NotCommunicating):
        solve_average_reward(build_instance("absorbing_doors"))
    assert diameter(build_instance("absorbing_doors")).lower == np.inf


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ("1/3", 633 / 11),
        ("0.5", 9023 / 277),
        ("0.7", 432428980985 / 32979804662),
        ("0.9", 40075642465 / 4900319046),
    ],
)
def test_planning_finds_the_published_diameters_of_frozen_lake(
    rate: str, expected: float
) -> None:
    """Reliability 2a: Storm exact."""
    found = diameter(build_instance(f"gym:FrozenLake-v1?success_rate={rate}"))
    assert found.lower <= expected * (1.0 + 1e-12)
    assert found.upper >= expected * (1.0 - 1e-12)
    assert found.upper == pytest.approx(expected, rel=1e-9)


def test_planning_finds_the_numbers_of_riverswim() -> None:
    """Theory rows 10-12."""
    river = build_instance("riverswim")
    plan = solve_average_reward(river)
    assert plan.gain[0] == pytest.approx(7203 / 16805, rel=1e-10)
    assert plan.bias_span[0] == pytest.approx(6.3103243082, abs=5e-9)
    assert diameter(river).upper == pytest.approx(106045 / 7203, rel=1e-9)
    for horizon, value in {
        3: 0.015,
        10: 176191989 / 500000000,
        20: 3.3972639592,
        100: 37.5029466061,
    }.items():
        found = optimal_values(river, horizon).start[0]
        assert found == pytest.approx(value, abs=5e-11)
