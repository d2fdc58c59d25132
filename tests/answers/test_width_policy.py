"""The policy of a range is ignorant of what is outside of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.answers.width.width import width
from simgap.mdp import LatentMDP
from simgap.oracle.settings import BoundedOracle, Solver
from tests.answers.width_cases import EXACTLY, built, planned_by
from tests.reference.width import (
    with_parameters,
)

BOUNDED = BoundedOracle(gap_tolerance=0.2, time_limit=None, episodes=2)


def surprise() -> LatentMDP:
    """Model 0 stays in state 0; model 1 leads on to state 1, where it pays otherwise.

    In state 1 model 0 promises 1 for action 0, model 1 pays 1 for action 1.
    """
    kernel = np.zeros((2, 2, 2, 2))
    kernel[0, 0, :, 0] = 1.0
    kernel[1, 0, :, 1] = 1.0
    kernel[:, 1, :, 1] = 1.0
    rewards = np.zeros((2, 2, 2))
    rewards[0, 1, 0] = rewards[1, 1, 1] = 1.0
    latent = LatentMDP(built(kernel, rewards), np.array([0.5, 0.5]))
    return with_parameters(latent, ("p",), [[0.0], [1.0]])


@pytest.mark.parametrize("solver", [EXACTLY, BOUNDED])
def test_a_policy_does_not_know_plans_of_models_it_never_trained_on(
    solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the step that its range forbids it plays the plan of its range."""
    latent = surprise()
    planned_by(solver, monkeypatch)
    narrow, whole = width(latent, 5, nominal=0.0).widths
    assert narrow.surprising
    assert narrow.gaps == pytest.approx([0.0, 4.0], abs=1e-12)
    assert not whole.surprising


def test_a_first_state_that_the_range_forbids_is_a_surprise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    latent = surprise()
    simulators = built(
        np.stack([latent.simulators.transitions.array(1)] * 2),
        np.array(latent.simulators.rewards),
    )
    started = replace(simulators, start=np.array([0, 1]))
    case = with_parameters(LatentMDP(started, latent.prior), ("p",), [[0.0], [1.0]])
    planned_by(EXACTLY, monkeypatch)
    row = width(case, 3, nominal=0.0).widths[0]
    assert row.surprising
    assert row.gaps == pytest.approx([0.0, 3.0], abs=1e-12)
