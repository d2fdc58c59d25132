"""Decided episodes: when a plan is final, and the rest of them as an expectation."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap._kernels.walking.endings import Tails
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass
from simgap.planning.episodic import optimal_values, policy_values
from simgap.simulation.runs import Runs, run_program
from simgap.simulation.worlds import RealModels
from tests.base_policies.cases import prepared, run
from tests.base_policies.variants import With

SIGMAS = 4.9  # of a normal law: one failure in a million


def rivers(members: int = 5) -> SimulatorClass:
    rates = np.linspace(0.1, 0.6, members).tolist()
    return riverswim(6, rates, left_reward=0.7, uniform=True)


def test_the_rest_of_an_episode_is_worth_its_expectation() -> None:
    """One model: its plan is final at once, and the gap is that of its policy."""
    river = riverswim(6, 0.35)
    agent = likelihood_optimism(river, 10_000)
    (runs,) = run(agent, river, 10_000, runs=3, seed=0)
    assert (runs.simulated == 0).all()
    best = optimal_values(river, 10_000).start[0]
    mine = policy_values(river, agent.known.policy[0], 10_000).start[0]
    np.testing.assert_allclose(runs.gap, best - mine, atol=1e-8)
    np.testing.assert_allclose(runs.reward, mine, rtol=1e-12)
    gain = agent.known.gain[0]
    np.testing.assert_allclose(runs.regret, 10_000 * gain - mine, atol=1e-7)


def differences(
    worlds: SimulatorClass, horizon: int, count: int, real: Any = None
) -> list[tuple[Runs, Runs]]:
    agent = likelihood_optimism(worlds, horizon)
    usual = prepared(agent)
    return list(
        zip(
            run_program(agent, real(usual) if real else usual, runs=count, seed=2),
            run_program(With(agent, {"leave": False}), usual, runs=count, seed=2),
            strict=True,
        )
    )


def deviations(left: Runs, whole: Runs, field: str) -> float:
    """Return how many standard errors the mean differs (0 if nothing varies)."""
    apart = getattr(left, field) - getattr(whole, field)
    error = apart.std(ddof=1) / np.sqrt(apart.size)
    return float(abs(apart.mean()) / error) if error > 1e-9 else 0.0


def test_leaving_the_rest_to_its_expectation_keeps_the_mean() -> None:
    """Same luck until the plan is final; then the mean stays and variance may fall."""
    for left, whole in differences(rivers(), 6000, 400):
        assert (left.simulated < 6000).mean() > 0.9
        np.testing.assert_array_equal(whole.simulated, 6000)
        np.testing.assert_array_equal(left.identified, whole.identified)
        for field in ("gap", "regret", "reward"):
            assert deviations(left, whole, field) < SIGMAS
            spread = getattr(left, field).var() + 1e-9
            assert spread <= 1.1 * getattr(whole, field).var() + 1e-9


def test_the_expectation_of_another_policy_would_be_noticed() -> None:
    """The control of the test above."""

    class Swapped:
        def __init__(self, real: RealModels) -> None:
            self.real = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def __len__(self) -> int:
            return len(self.real)

        def tails(self, member: int, policies: Any) -> Tails | None:
            return self.real.tails(member, np.roll(policies, 1, axis=0))

    found = [
        deviations(left, whole, "reward")
        for left, whole in differences(rivers(), 6000, 100, Swapped)
    ]
    assert max(found) > SIGMAS


def test_a_plan_is_not_final_while_a_survivor_can_be_contradicted() -> None:
    """The survivors play alike, but one of them can still be ruled out by a step."""
    worlds = bandit(((0.9, 0.2), (1.0, 0.3)))
    agent = likelihood_optimism(worlds, 4000)
    first, second = run(agent, worlds, 4000, runs=30, seed=0)
    np.testing.assert_array_equal(first.identified, first.eliminated[:, 1])
    assert (first.identified >= 1).all()
    assert (second.identified == 0).all()  # where arms never fail, nothing is at risk
