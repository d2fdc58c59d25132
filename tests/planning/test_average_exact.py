"""Howard's policy iteration, step by step against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray, IndexArray
from simgap.mdp import SimulatorClass
from simgap.planning.average_exact import (
    exact_gain,
)
from simgap.planning.policy_chain import Moves
from tests.reference import average_reward as twin
from tests.reference.kernel_rows import exact
from tests.reference.rational import (
    COMMUNICATING,
    Family,
    RationalMDP,
    slow_model,
)


def prepared(model: RationalMDP) -> tuple[SimulatorClass, Moves, FloatArray]:
    every = model.simulator().as_class()
    kernel = every.transitions
    moves = Moves.of(kernel.indptr, kernel.indices, kernel.values[0], kernel.n_actions)
    return every, moves, every.rewards[0].reshape(-1)


def drift(model: RationalMDP, policy: IndexArray, h: list[Fraction]) -> list[Fraction]:
    """R + P h - h under a policy."""
    P, R = model.transitions, model.rewards
    return [
        R[s][policy[s]]
        + sum((p * h[t] for t, p in enumerate(P[s][policy[s]])), Fraction(0))
        - h[s]
        for s in range(model.n_states)
    ]


def marked(model: RationalMDP, states: list[int]) -> list[list[Fraction]]:
    """Rewards of 1 in some states: the gain is the chance to end there, in classes."""
    A = model.n_actions
    return [[Fraction(int(s in states))] * A for s in range(model.n_states)]


@pytest.mark.parametrize("family", COMMUNICATING)
def test_any_guess_leads_to_the_exact_gain_and_a_greedy_policy(family: Family) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = family(rng, 5, 2, 16)
        P, R = model.transitions, model.rewards
        every, _, rewards = prepared(model)
        gain = twin.optimal_gain(P, R)
        for guess in (np.zeros(5), 1e3 * rng.random(5)):
            found = exact_gain(every, 0, rewards, guess)
            assert Fraction(found.lower) <= gain <= Fraction(found.upper)
            assert found.upper - found.lower <= 1e-14
            bias = exact(found.bias)
            for defect in twin.equation_defects(P, R, gain, bias):
                assert abs(defect) <= 1e-11
            for s in range(5):
                totals = [
                    R[s][a] + sum((p * bias[t] for t, p in enumerate(row)), Fraction(0))
                    for a, row in enumerate(P[s])
                ]
                first = next(a for a in range(2) if totals[a] >= max(totals) - 1e-11)
                assert found.policy[s] == first


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_corrections_count_in_units_of_the_rewards(scale: float) -> None:
    """Rewards times a power of two: every end is that much larger, to the last bit."""
    for seed in range(4):
        every, _, rewards = prepared(slow_model(np.random.default_rng(seed), 6, 2, 16))
        plain = exact_gain(every, 0, rewards, np.zeros(6))
        scaled = exact_gain(every, 0, scale * rewards, np.zeros(6))
        assert scaled.lower == scale * plain.lower
        assert scaled.upper == scale * plain.upper
        assert (scaled.bias == scale * plain.bias).all()
