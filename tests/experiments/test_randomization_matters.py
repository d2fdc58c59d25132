"""FrozenLake: a specialist on another lake, against a plain backward induction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.experiments.remarks.randomization_matters import (
    CLAIM,
    DEFAULT,
    Settings,
    measured,
    specialist_gap,
)
from simgap.instances import Terminal, toy_text
from simgap.mdp import SimulatorClass
from simgap.planning import optimal_values
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent

TINY = Settings("4x4", DEFAULT, 0.8, (20, 30), (0.9,), 20, pulls=(10, 20, 40, 80))


def lakes(away: float) -> SimulatorClass:
    return toy_text(
        "FrozenLake-v1",
        grid={"success_rate": (DEFAULT, away)},
        terminal=Terminal.ABSORB,
    )


def restricted_value(simulators: SimulatorClass, horizon: int) -> float:
    """Return the best value in model 1 over actions that are optimal in model 0."""
    home, away = (simulators.transitions.array(m) for m in (0, 1))
    rewards = [
        simulators.rewards[m if len(simulators.rewards) > 1 else 0] for m in (0, 1)
    ]
    value = np.zeros((2, simulators.n_states))
    for _ in range(horizon):
        at_home = rewards[0] + home @ value[0]
        there = rewards[1] + away @ value[1]
        best = at_home.max(axis=1)
        allowed = at_home >= best[:, None] - 1e-12
        value = np.stack([best, np.where(allowed, there, -np.inf).max(axis=1)])
    return float(value[1, 0])


def test_the_specialist_fails_and_the_randomized_policy_does_not() -> None:
    found = measured(TINY, 0, silent)
    assert found.verdict is ClaimVerdict.HOLDS is CLAIM.expected


def test_on_a_lake_like_home_the_specialist_is_fine() -> None:
    """The control: deployed where it was trained, nothing is lost."""
    control = replace(TINY, away=0.34, others=())
    assert measured(control, 0, silent).verdict is ClaimVerdict.REFUTED


@pytest.mark.parametrize("away", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("horizon", [6, 20])
def test_ties_at_home_are_broken_for_the_other_lake(away: float, horizon: int) -> None:
    simulators = lakes(away)
    best = float(optimal_values(simulators, horizon).start[1])
    exact = best - restricted_value(simulators, horizon)
    assert specialist_gap(simulators, horizon).middle == pytest.approx(exact, abs=1e-11)


def test_a_model_that_is_not_left_out_costs_no_part_of_every_step() -> None:
    """The control: the policy that was trained on both."""
    found = measured(replace(TINY, trained_on_both=True), 0, silent)
    for_all, linear, _ = found.checks[:3]
    assert for_all.verdict is ClaimVerdict.HOLDS  # a theorem about every policy
    assert linear.verdict is not ClaimVerdict.HOLDS
    assert found.verdict is not ClaimVerdict.HOLDS
