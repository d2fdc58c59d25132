"""The policy of a range: defined everywhere, and ignorant of what is outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.answers.width.policy import range_policy
from simgap.answers.width.width import width
from simgap.mdp import LatentMDP
from simgap.oracle.entry import (
    domain_randomization_oracle,
)
from simgap.oracle.settings import BoundedOracle, Solver
from tests.answers.width_cases import EXACTLY, built, planned_by, random_case
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


def test_the_whole_class_with_prior_zero_would_know_them() -> None:
    """The control: this oracle has the plan of model 1 at hand, and loses nothing."""
    naive = LatentMDP(surprise().simulators, np.array([1.0, 0.0]))
    found = domain_randomization_oracle(naive, horizon=5, solver=EXACTLY)
    assert found.gaps == pytest.approx([0.0, 0.0], abs=1e-12)


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


def test_the_policy_of_a_range_is_defined_everywhere() -> None:
    """Whatever models outside do, the graph has a rule: nothing is not a number."""
    for seed in range(60, 72):
        latent, horizon = random_case(seed)
        kept = np.zeros(len(latent.simulators), np.bool_)
        kept[int(np.argmax(latent.prior))] = True
        made = range_policy(latent, kept, horizon=horizon, solver=EXACTLY)
        assert (made.policy.start_node >= 0).all()
        assert (made.policy.next_node >= 0).all()
