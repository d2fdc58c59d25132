"""Howard's policy iteration against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
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
)


def prepared(model: RationalMDP) -> tuple[SimulatorClass, Moves, FloatArray]:
    every = model.simulator().as_class()
    kernel = every.transitions
    moves = Moves.of(kernel.indptr, kernel.indices, kernel.values[0], kernel.n_actions)
    return every, moves, every.rewards[0].reshape(-1)


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
