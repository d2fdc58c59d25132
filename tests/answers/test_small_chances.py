"""Every question to classes with chances of 1e-60, and rewards of 1e15."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import simgap
from simgap.errors import InvalidModel
from simgap.mdp import LatentMDP, SimulatorClass, class_from_arrays


def rivers(*chances: float, size: float = 1.0) -> SimulatorClass:
    """Up with some chance, down for sure; the top pays."""
    P = np.zeros((len(chances), 3, 2, 3))
    for m, up in enumerate(chances):
        for s in range(3):
            P[m, s, 0, max(s - 1, 0)] = 1.0
            P[m, s, 1, min(s + 1, 2)] += up
            P[m, s, 1, s] += 1.0 - up
    R = np.zeros((3, 2))
    R[2, 1], R[0, 0] = size, 0.125 * size
    return class_from_arrays(P, R)


QUESTIONS: dict[str, Callable[[SimulatorClass], object]] = {
    "oracle": lambda worlds: simgap.oracle(worlds, 4),
    "audit": lambda worlds: simgap.audit(worlds, 4),
    "compare": lambda worlds: simgap.compare(worlds, 4, seeds=20),
    "blame": lambda worlds: simgap.blame(worlds, 4),
    "identify": lambda worlds: simgap.identify(worlds, 4),
    "complexity": lambda worlds: simgap.complexity(worlds, 4),
}


@pytest.mark.parametrize("chance", [1e-16, 1e-60])
@pytest.mark.parametrize("question", QUESTIONS)
def test_tiny_chances_have_answers(question: str, chance: float) -> None:
    QUESTIONS[question](rivers(chance, 0.5))


@pytest.mark.parametrize("size", [2.0**49, 2.0**-93])
@pytest.mark.parametrize("question", ["oracle", "compare", "identify"])
def test_losses_count_in_the_unit_of_rewards(question: str, size: float) -> None:
    unit = size
    plain = QUESTIONS[question](rivers(0.25, 0.5))
    scaled = QUESTIONS[question](rivers(0.25, 0.5, size=unit))
    if question == "identify":
        return
    if isinstance(plain, simgap.records.Gap):
        assert isinstance(scaled, simgap.records.Gap)
        for one, other in zip(plain.policies, scaled.policies, strict=True):
            assert other.average.lower == pytest.approx(unit * one.average.lower)
            assert other.average.upper == pytest.approx(unit * one.average.upper)
    else:
        assert isinstance(plain, simgap.records.Oracle)
        assert isinstance(scaled, simgap.records.Oracle)
        assert scaled.average_gap.upper == pytest.approx(unit * plain.average_gap.upper)


def test_an_audit_has_a_verdict_where_no_float_is_the_diameter() -> None:
    """Up takes 1e360 steps on average: most steps lead down to the first state."""
    P = np.zeros((2, 8, 2, 8))
    for s in range(8):
        P[:, s, 0, max(s - 1, 0)] = 1.0
        P[:, s, 1, 0] = 1.0
        P[0, s, 1, min(s + 1, 7)] += 1e-60
        P[1, s, 1, 0], P[1, s, 1, min(s + 1, 7)] = (1.0, 0.0) if s == 7 else (0.5, 0.5)
    found = simgap.audit(class_from_arrays(P, np.eye(8)[:, :2]), 4)
    assert found.finding("diameter").code == "not-solved"
    assert found.average_gap is not None


@pytest.mark.parametrize("chance", [0.9e-60, 1e-200, 5e-324])
def test_smaller_chances_are_refused_with_their_place(chance: float) -> None:
    with pytest.raises(InvalidModel) as caught:
        rivers(0.5, chance)
    assert caught.value.code == "probability-range"
    assert "model '1'" in caught.value.problem or "s=0" in caught.value.problem
    for law in (np.array([chance, 1.0]),):
        with pytest.raises(InvalidModel) as caught:
            LatentMDP(rivers(0.25, 0.5), law)
        assert caught.value.code == "probability-range"
