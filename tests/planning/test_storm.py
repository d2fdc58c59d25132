"""Gain, hitting times and finite-horizon values against Storm in exact rationals.

Probabilities are multiples of 1/16 (exact as floats) in one half of the models and of
1/12 in the other; there the stored model differs from the rational one by rounding,
which the comparison allows for.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cache
from math import isinf

import numpy as np
import pytest

pytest.importorskip(
    "stormpy", reason="stormpy judges these answers: pip install stormpy"
)

from simgap.mdp import SimulatorClass, class_from_models
from simgap.planning import (
    all_travel_times,
    communicating,
    diameter,
    optimal_values,
    solve_average_reward,
    solve_episodic,
    travel_times,
)
from tests.reference import travel
from tests.reference.rational import COMMUNICATING, RationalMDP, scattered_model
from tests.storm_judge import Exact, StormJudge

MODELS = 300
LARGEST = 8
HORIZONS = (1, 2, 7, 30)
ROUNDING = Fraction(1, 10**13)  # of the input, relative, where k/12 is not a float


@cache
def models() -> list[RationalMDP]:
    rng = np.random.default_rng(20221)
    chosen = []
    for i in range(MODELS):
        family = COMMUNICATING[i % len(COMMUNICATING)]
        S, A = int(rng.integers(1, LARGEST + 1)), int(rng.integers(1, 4))
        chosen.append(family(rng, S, A, 16 if i % 2 else 12))
    return chosen


@cache
def scattered() -> list[RationalMDP]:
    rng = np.random.default_rng(20222)
    return [
        scattered_model(rng, int(rng.integers(2, 7)), int(rng.integers(1, 4)), 16)
        for _ in range(100)
    ]


@cache
def judge() -> StormJudge:
    return StormJudge(models())


@cache
def classes() -> list[tuple[list[int], SimulatorClass]]:
    """Models of one shape as one class, with their places in `models()`."""
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, model in enumerate(models()):
        places[model.n_states, model.n_actions].append(i)
    return [
        (where, class_from_models([models()[i].simulator() for i in where]))
        for where in places.values()
    ]


def assert_between(lower: float, exact: Exact, upper: float, slack: Fraction) -> None:
    if isinf(exact):
        assert lower == upper == exact
        return
    room = slack * abs(Fraction(exact))
    assert Fraction(float(lower)) - room <= exact <= Fraction(float(upper)) + room


def slack_of(place: int) -> Fraction:
    return Fraction(0) if place % 2 else ROUNDING


def test_gains_contain_the_exact_one() -> None:
    exact = judge().gains()
    for where, simulators in classes():
        plan = solve_average_reward(simulators)
        fine = solve_average_reward(simulators, tolerance=1e-12)
        for member, i in enumerate(where):
            (gain,) = set(exact[i])  # communicating: the same from every state
            for found in (plan, fine):
                lower, upper = found.gain_lower[member], found.gain_upper[member]
                assert_between(lower, gain, upper, 10 * slack_of(i))
            assert fine.gain[member] == pytest.approx(float(gain), rel=1e-12, abs=1e-12)


def test_hitting_times_contain_the_exact_ones() -> None:
    exact = [judge().hitting_times(target) for target in range(LARGEST)]
    for where, simulators in classes():
        found = all_travel_times(simulators)
        for target in range(simulators.n_states):
            for member, i in enumerate(where):
                longest = max(Fraction(t) for t in exact[target][i])
                slack = slack_of(i) * (1 + longest)  # a defect e moves times by e D^2
                for s, time in enumerate(exact[target][i]):
                    lower = found.lower[member, target, s]
                    upper = found.upper[member, target, s]
                    assert_between(lower, time, upper, slack)
                    assert upper - lower <= 1e-9 * float(time)


def test_diameters_contain_the_exact_ones() -> None:
    exact = [judge().hitting_times(target) for target in range(LARGEST)]
    for where, simulators in classes():
        found = diameter(simulators)
        S = simulators.n_states
        for member, i in enumerate(where):
            largest = max(max(exact[t][i]) for t in range(S))
            slack = slack_of(i) * (1 + Fraction(largest))
            low, high = found.model_lower[member], found.model_upper[member]
            assert_between(low, largest, high, slack)
            pair = exact[int(found.target[member])][i][int(found.source[member])]
            assert float(pair) == pytest.approx(float(largest), rel=1e-8)


def test_finite_horizon_values_are_exact_up_to_their_stated_error() -> None:
    for horizon in HORIZONS:
        exact = judge().values(horizon)
        for where, simulators in classes():
            found = optimal_values(simulators, horizon)
            plan = solve_episodic(simulators, horizon)
            for member, i in enumerate(where):
                error = Fraction(float(found.error[member]))
                for s, value in enumerate(exact[i]):
                    v = float(found.values[member, s])
                    assert_between(
                        v, value, v, slack_of(i) + error / Fraction(value or 1)
                    )
                    assert v == pytest.approx(float(value), rel=1e-12, abs=1e-300)
                    assert plan.values[member, 0, s] == pytest.approx(v, rel=1e-14)


def test_infinite_times_are_infinite_where_storm_says_so() -> None:
    """Models with traps: a time is finite only if some policy is sure to arrive."""
    storm = StormJudge(scattered())
    seen = 0
    for target in range(6):
        exact = storm.hitting_times(target)
        for i, model in enumerate(scattered()):
            if target >= model.n_states:
                continue
            found = travel_times(model.simulator(), target)
            for s, time in enumerate(exact[i]):
                assert_between(found.lower[0, s], time, found.upper[0, s], Fraction(0))
                seen += isinf(time)
    assert seen > 100


def test_communicating_means_the_same_here_and_in_the_twin() -> None:
    answers = [travel.communicating(model.transitions) for model in scattered()]
    assert 0 < sum(answers) < len(answers)
    for model, answer in zip(scattered(), answers, strict=True):
        assert bool(communicating(model.simulator())[0]) is answer
        assert isinf(diameter(model.simulator()).lower) is not answer
