"""The least worst gap: closed forms, Proposition 2, and bounds from both sides."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import NotSolved
from simgap.instances import absorbing_doors, best_arm, linear_bandit, needle
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle.baselines.minimax import (
    Minimax,
    solve_minimax,
)
from simgap.oracle.exact import solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import ExactOracle
from tests.reference.latent import exact_gap, random_latent


def solved(simulators: SimulatorClass, horizon: int) -> tuple[LossForm, Minimax]:
    form = loss_form(LatentMDP.uniform(simulators), horizon=horizon)
    return form, solve_minimax(form)


def ends(found: Minimax) -> tuple[float, float]:
    assert found.worst_gap.lower is not None and found.worst_gap.upper is not None
    return found.worst_gap.lower, found.worst_gap.upper


@pytest.mark.parametrize(("members", "horizon"), [(2, 6), (3, 8), (4, 8)])
def test_the_best_choice_of_a_door_is_uniform(members: int, horizon: int) -> None:
    """Theory 4.8: (1 - 1/M)(H - 2), with equality for the uniform first action."""
    _, found = solved(absorbing_doors(members), horizon)
    wanted = (1.0 - 1.0 / members) * (horizon - 2)
    assert ends(found) == pytest.approx((wanted, wanted))
    assert found.gaps == pytest.approx(np.full(members, wanted))


@pytest.mark.parametrize("members", [2, 3, 4])
def test_a_needle_is_found_after_half_the_arms_on_average(members: int) -> None:
    """Theory row 17 with n >= M - 1: every search in random order loses (M - 1) / 2."""
    _, found = solved(needle(members), members + 2)
    wanted = (members - 1) / 2.0
    assert ends(found) == pytest.approx((wanted, wanted))


@pytest.mark.parametrize("horizon", [5, 20])
def test_the_minimax_gap_of_proposition_2_is_at_most_a_half(horizon: int) -> None:
    """Theory 5.6, row 23: the oracle of the uniform prior loses (H - 1) / 2."""
    form, found = solved(linear_bandit(4 * horizon + 5), horizon)
    oracle = solve_exact(form, ExactOracle())
    assert oracle.gaps.max() == pytest.approx((horizon - 1) / 2.0)
    low, high = ends(found)
    assert 0.0 < low <= high <= 0.5
    assert high - low <= 2e-6 * high


def test_trying_the_second_arm_until_it_fails_is_no_better() -> None:
    """Theory row 24: the worst gap of that policy for H = 5 is .494949."""
    _, found = solved(linear_bandit(25), 5)
    assert ends(found)[1] < 0.494949


def test_symmetric_classes_have_the_uniform_prior_as_the_worst() -> None:
    """Relabelling models and arms of theory row 15 changes nothing."""
    form, found = solved(best_arm(3, 0.1), 5)
    oracle = solve_exact(form, ExactOracle())
    assert ends(found) == pytest.approx((oracle.upper, oracle.upper))


def test_the_bracket_holds_against_other_priors_and_policies() -> None:
    rng = np.random.default_rng(11)
    for _ in range(30):
        latent, horizon = random_latent(rng, denominator=8)
        form = loss_form(latent, horizon=horizon)
        found = solve_minimax(form)
        low, high = ends(found)
        room = 1e-10 + 2e-6 * high
        assert low <= high <= low + room
        members = form.n_models
        for _ in range(5):
            prior = rng.dirichlet(np.ones(members))
            other = LatentMDP(latent.simulators, prior)
            assert float(exact_gap(other, horizon)) <= high + 1e-10
            answer = solve_exact(loss_form(other, horizon=horizon), ExactOracle())
            assert answer.gaps.max() >= low - 1e-10


def test_the_mixture_has_the_gaps_it_reports_and_the_prior_the_bound() -> None:
    for simulators, horizon in ((best_arm(3, 0.2), 5), (linear_bandit(9), 6)):
        form, found = solved(simulators, horizon)
        each = np.stack([graph_gaps(form, policy) for policy in found.policies])
        assert found.weights.sum() == pytest.approx(1.0)
        assert (found.weights > 0.0).all()
        assert found.weights @ each == pytest.approx(found.gaps)
        assert found.gaps.max() == pytest.approx(ends(found)[1])
        worst = LatentMDP(simulators, found.prior)
        bound = float(exact_gap(worst, horizon))
        assert bound == pytest.approx(ends(found)[0], abs=1e-9)


def test_what_is_too_large_or_discounted_is_refused_with_a_reason() -> None:
    latent = LatentMDP.uniform(best_arm(3, 0.1))
    with pytest.raises(NotSolved, match="at most 5 beliefs"):
        solve_minimax(loss_form(latent, horizon=8), max_nodes=5)
    with pytest.raises(NotSolved, match="discount"):
        solve_minimax(loss_form(latent, discount=0.9))


def test_few_rounds_leave_a_valid_bracket() -> None:
    form = loss_form(LatentMDP.uniform(linear_bandit(25)), horizon=5)
    closed = ends(solve_minimax(form))
    low, high = ends(solve_minimax(form, max_rounds=1))
    assert low <= closed[0] and closed[1] <= high
    assert high > 1.0  # the uniform prior's oracle, alone
