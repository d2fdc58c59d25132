"""Every question to classes with chances of 1e-16 and 1e-200, and rewards of 1e28."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import numpy as np
import pytest

import simgap
from simgap.errors import NotSolved
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


@pytest.mark.parametrize("chance", [1e-16, 1e-160, 1e-290])
@pytest.mark.parametrize("question", QUESTIONS)
def test_tiny_chances_have_answers(question: str, chance: float) -> None:
    """They overflowed, divided by zero, or wrote beyond an array."""
    QUESTIONS[question](rivers(chance, 0.5))


@pytest.mark.parametrize("chance", [1e-156, 1e-308, 3e-320, 5e-324])
@pytest.mark.parametrize("question", [*QUESTIONS, "bounds", "solve"])
def test_what_no_float_can_tell_is_not_solved_and_no_warning(
    question: str, chance: float
) -> None:
    """Here biases are small and only trips are long; `bounds` overflowed."""
    worlds = rivers(chance, 2.0 * chance)
    rewards = np.zeros((3, 2))
    rewards[2, 0] = 1.0
    P = np.stack([worlds.transitions.array(m) for m in range(2)])
    long_trips = class_from_arrays(P, rewards)
    asked = QUESTIONS | {
        "bounds": lambda worlds: simgap.bounds(worlds, 1000),
        "solve": lambda worlds: simgap.solve(worlds, 4),
    }
    if chance < 1e-307 and question in ("bounds", "complexity"):
        with pytest.raises(NotSolved, match="travel times"):
            asked[question](long_trips)
    elif chance < 1e-308 and question == "solve":
        with pytest.raises(NotSolved, match="gain"):
            asked[question](long_trips)
    else:
        asked[question](long_trips)


@pytest.mark.parametrize("size", [1e28, 1e-28])
@pytest.mark.parametrize("question", ["oracle", "compare", "identify"])
def test_losses_count_in_the_unit_of_rewards(question: str, size: float) -> None:
    unit = 2.0 ** round(np.log2(size))
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


def test_bounds_refuse_a_bias_that_cannot_be_squared() -> None:
    assert simgap.bounds(rivers(1e-16, 0.5), 100).bounds
    with pytest.raises(NotSolved):
        simgap.bounds(rivers(1e-160, 0.5), 100)


def test_an_audit_has_a_verdict_where_no_float_is_the_diameter() -> None:
    """Up takes 1e320 steps on average if most steps lead down again."""
    worlds = rivers(1e-160, 0.5)
    P = np.stack([worlds.transitions.array(m) for m in range(2)])
    P[0, 1, 1] = [0.5, 0.5, 1e-160]
    found = simgap.audit(class_from_arrays(P, worlds.rewards[0]), 4)
    assert found.finding("diameter").code == "not-solved"
    assert found.average_gap is not None


def test_a_model_that_nobody_expects_is_identified_all_the_same() -> None:
    """A weight of 1e-200 times a chance of 1e-200 is 0: nothing was divided by it."""
    latent = LatentMDP(rivers(1e-200, 1e-190), np.array([1e-200, 1.0]))
    timeline = simgap.identify(latent, 4).timeline
    assert timeline is not None
    for model in timeline.models:
        assert all(isfinite(each.estimate) for each in model.posterior)
