"""Lemma 1 against exact oracles, its corrected and its printed infinite form."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.bounds import (
    Quantity,
    base_policy_transfer,
    known_base_gap,
    large_class,
    mean_transfer,
    neighbourhood_transfer,
    neighbourhood_transfer_literal,
    optimistic_gap,
    universal_lipschitz,
)
from simgap.errors import InvalidArgument
from simgap.instances import bandit, best_arm, linear_bandit, needle
from simgap.mdp import LatentMDP
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from simgap.planning import optimal_values, policy_values


def oracle(latent: LatentMDP, horizon: int) -> tuple[float, FloatArray]:
    """Return the average gap of the oracle and the greatest gap of any of them."""
    found = solve_exact(loss_form(latent, horizon=horizon), ExactOracle())
    assert found.gap_intervals is not None
    return found.upper, found.gap_intervals[:, 1]


def shortfalls(members: int) -> FloatArray:
    """The p_i of theory row 24."""
    spread: FloatArray = np.linspace(0.25, 0.5, members + 1)[1:-1]
    return spread


def until_failure(horizon: int, p: FloatArray) -> float:
    """Return the worst gap of "arm 2 until it fails": p E[pulls], q = 1/2 - p."""
    q, pulls = 0.5 - p, horizon - 1
    return float((p * (1.0 - q**pulls) / (1.0 - q)).max())


@pytest.mark.parametrize("prior", [(0.5, 0.5), (0.2, 0.8)])
@pytest.mark.parametrize("horizon", [2, 5, 12])
def test_the_oracle_is_within_lemma_1_of_every_base_policy(
    prior: tuple[float, float], horizon: int
) -> None:
    """Bases: each arm for ever, and the arm of the first success."""
    latent = LatentMDP(best_arm(2, 0.2), np.array(prior))
    average, worst = oracle(latent, horizon)
    best = optimal_values(latent.simulators, horizon).start
    for arm in range(2):
        always = np.full(2, arm, np.int32)
        gaps = best - policy_values(latent.simulators, always, horizon).start
        base = known_base_gap(
            float(latent.prior @ gaps),
            horizon=horizon,
            quantity=Quantity.MEAN_BASE_GAP,
        )
        assert average <= mean_transfer(base).value + 1e-12
        for m in range(2):
            promised = base_policy_transfer(base, weight=prior[m]).value
            assert worst[m] <= promised + 1e-12


def test_a_policy_short_of_the_best_mean_value_pays_for_it() -> None:
    """eta = 0.05: the fixed arm is that far from the oracle, and within the bound."""
    latent = LatentMDP.uniform(best_arm(2, 0.1))
    horizon = 3
    average, _ = oracle(latent, horizon)
    best = optimal_values(latent.simulators, horizon).start
    fixed = (
        best - policy_values(latent.simulators, np.zeros(2, np.int32), horizon).start
    )
    eta = float(fixed.mean()) - average
    assert eta > 0.0
    base = known_base_gap(average, horizon=horizon, quantity=Quantity.MEAN_BASE_GAP)
    assert fixed.max() <= base_policy_transfer(base, weight=0.5, eta=eta).value + 1e-12
    assert fixed.max() > base_policy_transfer(base, weight=0.5).value


def test_the_factor_m_is_nearly_attained() -> None:
    """Theory 4.1a: Prop. 2 with p -> 1/2, M = H + 1: (H-1)/2 against MC -> (H+1)/2."""
    horizon = 10
    p = tuple(np.linspace(0.4999, 0.49999, horizon))
    _, worst = oracle(LatentMDP.uniform(linear_bandit(p=p)), horizon)
    base = known_base_gap(until_failure(horizon, np.array(p)), horizon=horizon)
    promised = base_policy_transfer(base, weight=1.0 / (horizon + 1)).value
    assert worst[-1] == pytest.approx((horizon - 1) / 2)
    assert worst.max() <= promised <= (horizon + 1) / 2


@pytest.mark.parametrize(
    ("horizon", "claimed"), [(20, 0.4985), (80, 0.4996)], ids=["H=20", "H=80"]
)
def test_e9_the_printed_infinite_lemma_is_refuted_by_proposition_2(
    horizon: int, claimed: float
) -> None:
    """L = 0 and a ball of mass 1 would bound (H-1)/2 by less than 1/2 (theory 4.1b)."""
    members = 4 * horizon + 5
    p = shortfalls(members)
    base = known_base_gap(until_failure(horizon, p), horizon=horizon)
    literal = neighbourhood_transfer_literal(
        base, radii=[2.0], masses=[1.0], lipschitz=0.0
    )
    assert literal.value == pytest.approx(claimed, abs=5e-5)
    assert literal.label == "literal form"
    assert not literal.holds
    truth = large_class(horizon=horizon, shortfalls=tuple(p))
    assert truth.holds
    assert truth.value == (horizon - 1) / 2
    assert literal.value < truth.value
    if horizon == 20:
        _, worst = oracle(LatentMDP.uniform(linear_bandit(members)), horizon)
        assert worst[-1] == pytest.approx(truth.value) == 9.5


def test_the_corrected_infinite_lemma_holds_on_proposition_2() -> None:
    """L_gap is exact here: the oracle's gap is 0 but in the last model."""
    horizon, members = 20, 85
    p = shortfalls(members)
    gap = (horizon - 1) / 2
    distance = 2.0 * (0.5 + p)  # to the winner: |1 - (1/2 - p)| in L1
    base = known_base_gap(until_failure(horizon, p), horizon=horizon)
    radii = np.array([0.0, *sorted(distance)])
    masses = np.arange(1, members + 1) / members
    exact = float((gap / distance).max())
    corrected = neighbourhood_transfer(
        base, radii=radii, masses=masses, lipschitz=exact
    )
    assert gap <= corrected.value
    assert corrected.holds
    lower = exact * 0.5  # control: half the constant promises too little
    false = neighbourhood_transfer(base, radii=radii, masses=masses, lipschitz=lower)
    assert false.value < gap
    universal = universal_lipschitz(horizon=horizon, diameter=2.0)
    assert universal >= exact


@pytest.mark.parametrize("horizon", [2, 6, 12])
def test_oracles_of_small_bandits_are_within_theorem_2(horizon: int) -> None:
    """Spans are 1 in a bandit; the gap never passes C2, nor C2 / nu in one model."""
    for simulators in (best_arm(2, 0.3), needle(3), bandit([[0.9, 0.2], [0.4, 0.6]])):
        latent = LatentMDP.uniform(simulators)
        average, worst = oracle(latent, horizon)
        base = optimistic_gap(horizon=horizon, spans=np.ones(len(simulators)))
        assert average <= mean_transfer(base).value
        assert worst.max() <= base_policy_transfer(base, weight=latent.prior[0]).value


def test_only_gaps_of_base_policies_are_transferred() -> None:
    base = known_base_gap(1.0, horizon=9)
    once = mean_transfer(base)
    with pytest.raises(InvalidArgument, match="starts from an upper bound"):
        mean_transfer(once)


def test_a_model_without_prior_weight_has_no_bound() -> None:
    base = known_base_gap(1.0, horizon=9)
    assert "prior weight" in base_policy_transfer(base, weight=0.0).unmet[0]
    none = neighbourhood_transfer(base, radii=[0.5], masses=[0.0], lipschitz=1.0)
    assert none.unmet == ("a ball of positive mass",)
    with pytest.raises(InvalidArgument, match="one mass per ball"):
        neighbourhood_transfer(base, radii=[0.5], masses=[0.1, 0.2], lipschitz=1.0)
