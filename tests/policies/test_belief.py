"""Posteriors as memories, and policies that are greedy on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.errors import InvalidArgument, OutsideClass
from simgap.instances import bandit
from simgap.mdp import LatentMDP
from simgap.oracle.loss_form import loss_form
from simgap.policies import Step
from tests.policies.cases import (
    greedy_policy,
    random_latent,
    thompson_policy,
    vector_policy,
)
from tests.reference.latent import rational


@pytest.mark.parametrize("seed", range(20))
def test_the_posterior_is_bayes_rule(seed: int) -> None:
    """Against Fractions: prior times start law times likelihoods, normalised once."""
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, without_prior=seed % 2)
    exact = rational(latent)
    form = loss_form(latent, horizon=6)
    policy = greedy_policy(form)
    state, weight = next(iter(exact.roots()))
    memory = policy.start(state)
    for h in range(6):
        action = int(rng.integers(2))
        likely = [t for t in range(3) if any(exact.after(weight, state, action, t))]
        for after in set(range(3)) - set(likely):
            with pytest.raises(OutsideClass, match=f"at step {h} action {action}"):
                policy.observe(memory, Step(h, state, action, after))
        after = int(rng.choice(likely))
        weight = exact.after(weight, state, action, after)
        memory = policy.observe(memory, Step(h, state, action, after))
        wanted = [float(w / sum(weight)) for w in weight]
        assert memory == pytest.approx(wanted, rel=1e-12)
        assert [b == 0.0 for b in memory] == [w == 0 for w in weight]
        state = after


def test_zero_prior_models_stay_out_whatever_is_seen() -> None:
    arms = bandit([[0.5, 0.6], [0.6, 0.5], [1.0, 1.0]])
    latent = LatentMDP(arms, np.array([0.5, 0.5, 0.0]))
    policy = greedy_policy(loss_form(latent, horizon=50))
    memory = policy.start(0)
    for h in range(40):
        memory = policy.observe(memory, Step(h, 1 if h else 0, 0, 1))
        assert memory[2] == 0.0
        assert sum(memory) == pytest.approx(1.0)


def test_greedy_minimises_loss_plus_the_best_tail() -> None:
    """The formula of the module, written with numpy."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        latent = random_latent(rng, actions=3)
        infinite = seed % 2 == 1
        form = (
            loss_form(latent, discount=0.9)
            if infinite
            else loss_form(latent, horizon=3)
        )
        policy = vector_policy(rng, form)
        for h in range(1 if infinite else 3):
            b, state = rng.dirichlet(np.ones(form.n_models)), int(rng.integers(3))
            costs = []
            for action in range(3):
                cost = float(b @ form.losses[h, state, action])
                row = state * 3 + action
                for k in range(form.pattern.indptr[row], form.pattern.indptr[row + 1]):
                    at = policy.vector_set[h + 1] * 3 + form.pattern.indices[k]
                    begin, end = policy.vector_offsets[at : at + 2]
                    if begin < end and (infinite or h < 2):
                        joint = b * form.likelihood[k]
                        tail = (policy.vectors[begin:end] @ joint).min()
                        cost += form.discount * float(tail)
                costs.append(cost)
            played = int(policy.act(tuple(b), h, state).argmax())
            assert costs[played] == pytest.approx(min(costs), abs=1e-12)


def test_of_equally_good_actions_the_lowest_is_played() -> None:
    form = loss_form(LatentMDP.uniform(bandit([[0.5, 0.5, 0.5]])), horizon=3)
    assert greedy_policy(form).act((1.0,), 0, 0).tolist() == [1.0, 0.0, 0.0]


def test_thompson_plays_an_action_as_often_as_it_is_best() -> None:
    """Three arms, each best in one model: probabilities are the posterior."""
    arms = bandit([[0.9, 0.5, 0.5], [0.5, 0.9, 0.5], [0.5, 0.5, 0.9]])
    latent = LatentMDP(arms, np.array([0.2, 0.3, 0.5]))
    policy = thompson_policy(loss_form(latent, horizon=4))
    memory = policy.start(0)
    assert policy.act(memory, 0, 0) == pytest.approx([0.2, 0.3, 0.5])
    later = policy.observe(memory, Step(0, 0, 2, 1))
    weights = np.array([0.2 * 0.5, 0.3 * 0.5, 0.5 * 0.9])
    assert policy.act(later, 1, 1) == pytest.approx(weights / weights.sum())


def test_arrays_that_do_not_fit_are_refused() -> None:
    form = loss_form(random_latent(np.random.default_rng(0)), horizon=3)
    policy = vector_policy(np.random.default_rng(0), form)
    for changes in (
        {"prior": np.array([0.5, 0.5])},
        {"prior": policy.prior * 2.0},
        {"start_law": policy.start_law[:, :2]},
        {"likelihood": policy.likelihood * 0.5},
        {"likelihood": -policy.likelihood},
        {"losses": policy.losses[:2]},
        {"losses": policy.losses * np.nan},
        {"discount": 0.9},
        {"horizon": None},
        {"vectors": policy.vectors[:-1]},
        {"vectors": policy.vectors * np.inf},
        {"vector_set": policy.vector_set + 2},
        {"vector_set": policy.vector_set[:-1]},
        {"vector_offsets": policy.vector_offsets[::-1]},
    ):
        with pytest.raises(InvalidArgument):
            replace(policy, **changes)
    with pytest.raises(InvalidArgument, match="memory of shape"):
        policy.act((1.0,), 0, 0)
