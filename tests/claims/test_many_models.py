"""The long comparison: thousands of fresh random models against Storm's rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip(
    "stormpy", reason="Storm is the judge; it comes with the test extra"
)

from simgap.planning import all_travel_times, optimal_values, solve_average_reward
from tests.reference.rational import COMMUNICATING
from tests.storm_judge import StormJudge


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_gains_times_and_values_contain_the_exact_ones(seed: int) -> None:
    """Probabilities k/16 are floats, so that nothing is allowed for the input."""
    rng = np.random.default_rng([7, seed])
    models = [
        COMMUNICATING[i % len(COMMUNICATING)](
            rng, int(rng.integers(2, 7)), int(rng.integers(1, 4)), 16
        )
        for i in range(200)
    ]
    judge = StormJudge(models)
    gains, values = judge.gains(), judge.values(9)
    times = [judge.hitting_times(target) for target in range(6)]
    for i, model in enumerate(models):
        simulator = model.simulator()
        plan = solve_average_reward(simulator)
        assert Fraction(float(plan.gain_lower[0])) <= Fraction(gains[i][0])
        assert Fraction(gains[i][0]) <= Fraction(float(plan.gain_upper[0]))
        travel = all_travel_times(simulator)
        for target in range(simulator.n_states):
            for source, exact in enumerate(times[target][i]):
                low = float(travel.lower[0, target, source])
                high = float(travel.upper[0, target, source])
                assert Fraction(low) <= Fraction(exact) <= Fraction(high)
        found = optimal_values(simulator, 9)
        error = Fraction(float(found.error[0]))
        for state, value in enumerate(values[i]):
            off = abs(Fraction(float(found.values[0, state])) - Fraction(value))
            assert off <= error
