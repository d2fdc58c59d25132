"""Estimated gaps: intervals hold the exact gap as often as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.instances import bandit
from simgap.intervals import Estimate
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.policies import BeliefPolicy
from tests.policies.cases import greedy_policy, random_latent, vector_policy
from tests.reference.policy_graph import belief_gaps


def holds(found: Estimate, exact: float) -> bool:
    return found.lower <= exact <= found.upper


def small_case(seed: int) -> tuple[LossForm, BeliefPolicy]:
    """Two to four models, three states; every second policy has vectors."""
    rng = np.random.default_rng(seed)
    latent = random_latent(
        rng, members=int(rng.integers(2, 5)), zeros=float(rng.choice([0.0, 0.3]))
    )
    form = loss_form(latent, horizon=int(rng.integers(1, 5)))
    return form, greedy_policy(form) if seed % 2 else vector_policy(rng, form)


def test_intervals_hold_the_exact_gap_at_the_stated_rate() -> None:
    """300 random latent MDPs, 100 episodes each, against all histories played out."""
    held = held_in_models = models = 0
    errors = []
    for seed in range(300):
        form, policy = small_case(seed)
        assert form.horizon is not None
        gaps = belief_gaps(form, policy, steps=form.horizon)
        average = float(form.latent.prior @ gaps)
        found = estimated_gap(form, policy, episodes=100, seed=seed)
        each = estimated_gaps_per_model(form, policy, episodes=100, seed=seed)
        held += holds(found, average)
        held_in_models += sum(
            holds(e, float(g)) for e, g in zip(each, gaps, strict=True)
        )
        models += len(each)
        errors.append(found.estimate - average)
    assert held >= 0.95 * 300
    assert held_in_models >= 0.95 * models
    # The mean error is within five standard errors of zero: no bias.
    assert abs(np.mean(errors)) < 5.0 * np.std(errors) / np.sqrt(300)
    assert np.count_nonzero(errors) > 200


def rare_trap(chance: float) -> LossForm:
    """With a small chance the episode comes where the better action is unknown."""
    P = np.zeros((2, 3, 2, 3))
    P[:, 0, :] = [0.0, chance, 1.0 - chance]
    P[:, 1:, :, 2] = 1.0
    R = np.zeros((2, 3, 2))
    R[0, 1] = [1.0, 0.0]
    R[1, 1] = [0.0, 1.0]
    simulators = class_from_arrays(P, R, order=IndexOrder.STATE_ACTION)
    return loss_form(LatentMDP.uniform(simulators), horizon=2)


def test_losses_that_were_never_met_have_room_in_the_interval() -> None:
    """The gap is chance / 2; most samples of 200 episodes contain no loss at all."""
    form = rare_trap(0.002)
    policy = greedy_policy(form)
    found = [estimated_gap(form, policy, episodes=200, seed=s) for s in range(200)]
    sure = [each.guaranteed for each in found if each.guaranteed]
    assert sum(each.lower <= 0.001 <= each.upper for each in sure) >= 190
    # Student's interval is the point zero for these, and says that all are alike.
    alike = [each for each in found if each.estimate == 0.0]
    assert len(alike) > 100
    assert {each.warning for each in alike} == {"all-alike"}
    # With enough episodes the gap is found, to a part of itself.
    many = estimated_gap(form, policy, episodes=200_000, seed=1)
    assert holds(many, 0.001)
    assert many.upper - many.lower < 0.0003


def test_the_greedy_posterior_is_optimal_for_two_symmetric_arms() -> None:
    """50 pulls, means .55 and .5: an average gap of 1.019206 (theory row 19)."""
    arms = bandit([[0.55, 0.5], [0.5, 0.55]])
    form = loss_form(LatentMDP.uniform(arms), horizon=51)
    found = estimated_gap(form, greedy_policy(form), episodes=20_000, seed=0)
    assert holds(found, 1.019206)
    assert found.upper - found.lower < 0.03


@pytest.mark.parametrize("seed", range(8))
def test_a_discounted_gap_is_within_its_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    form = loss_form(random_latent(rng, states=2, members=2), discount=0.4)
    policy = greedy_policy(form) if seed % 2 else vector_policy(rng, form)
    steps = 9
    gaps = belief_gaps(form, policy, steps=steps)
    rest = 0.4**steps / 0.6 * float(form.losses.max())
    average = float(form.latent.prior @ gaps)
    found = estimated_gap(form, policy, episodes=4_000, seed=seed, confidence=0.999)
    assert found.lower <= average + rest
    assert found.upper >= average


def test_models_without_prior_are_estimated_with_the_posterior_kept() -> None:
    held = total = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        form = loss_form(random_latent(rng, without_prior=1), horizon=3)
        policy = greedy_policy(form)
        gaps = belief_gaps(form, policy, steps=3)
        each = estimated_gaps_per_model(form, policy, episodes=300, seed=seed)
        held += holds(each[-1], float(gaps[-1]))
        total += 1
    assert held >= 0.95 * total


def test_a_policy_made_for_another_prior_is_estimated_by_the_drawn_models() -> None:
    held = 0
    for seed in range(60):
        form, policy = small_case(seed)
        assert form.horizon is not None
        other = replace(policy, prior=np.roll(policy.prior, 1))
        gaps = belief_gaps(form, other, steps=form.horizon)
        found = estimated_gap(form, other, episodes=300, seed=seed)
        assert "drawn model" in found.method
        held += holds(found, float(form.latent.prior @ gaps))
    assert held >= 57


def test_wrong_arguments_are_refused() -> None:
    form, policy = small_case(1)
    other = loss_form(form.latent, horizon=(form.horizon or 0) + 1)
    with pytest.raises(InvalidArgument, match="horizon"):
        estimated_gap(other, policy, episodes=10, seed=0)
    with pytest.raises(InvalidArgument, match="episodes"):
        estimated_gap(form, policy, episodes=0, seed=0)
    for episodes, seed in ((1, 0), (2, 2**64 - 1)):
        found = estimated_gap(form, policy, episodes=episodes, seed=seed)
        assert found.lower <= found.estimate <= found.upper
    with pytest.raises(InvalidArgument, match="seed"):
        estimated_gap(form, policy, episodes=10, seed=-1)
    with pytest.raises(InvalidArgument, match="confidence"):
        estimated_gap(form, policy, episodes=10, seed=0, confidence=1.0)
    wide = loss_form(random_latent(np.random.default_rng(0), states=5), horizon=2)
    with pytest.raises(InvalidArgument, match="other states"):
        estimated_gap(wide, policy, episodes=10, seed=0)
