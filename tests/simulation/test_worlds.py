"""Real models: what an agent's edges are, and which models cannot be run."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import InvalidArgument, InvalidModel, OutsideClass
from simgap.instances import absorbing_doors
from simgap.mdp import class_from_arrays
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal, observed_class
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import random_class


def test_seen_rewards_split_successors_and_keep_their_chances() -> None:
    worlds = random_class(np.random.default_rng(0), own_rewards=True)
    plain = observed_class(worlds)
    for signal in (RewardSignal.SEEN, RewardSignal.RANDOM):
        seen = observed_class(worlds, signal)
        kernel = worlds.transitions
        for member in range(3):
            for row in range(kernel.indptr.size - 1):
                edges = slice(seen.indptr[row], seen.indptr[row + 1])
                chances = seen.chances[member, edges]
                assert chances.sum() == pytest.approx(1.0, abs=1e-12)
                mean = chances @ seen.seen_reward[edges]
                state, action = divmod(row, 2)
                wanted = worlds.rewards[member, state, action]
                assert mean == pytest.approx(wanted, abs=1e-12)
                for at in range(kernel.indptr[row], kernel.indptr[row + 1]):
                    into = seen.next_state[edges] == kernel.indices[at]
                    total = chances[into].sum()
                    wanted = plain.chances[member, at]
                    assert total == pytest.approx(wanted, abs=1e-12)


def test_shared_rewards_say_nothing_when_seen() -> None:
    worlds = random_class(np.random.default_rng(1))
    assert observed_class(worlds, RewardSignal.SEEN).signal is RewardSignal.UNSEEN


def test_random_rewards_must_be_means_of_zero_and_one() -> None:
    worlds = class_from_arrays(np.ones((2, 1, 1, 1)), np.full((2, 1, 1), 1.5))
    with pytest.raises(InvalidModel, match="outside"):
        observed_class(worlds, RewardSignal.RANDOM)


def test_an_edge_that_no_model_has_is_outside_the_class() -> None:
    worlds = random_class(np.random.default_rng(2), own_rewards=True)
    seen = observed_class(worlds, RewardSignal.SEEN)
    with pytest.raises(OutsideClass):
        seen.edge(Step(0, 0, 0, 1, 17.0))
    with pytest.raises(InvalidArgument, match="no reward"):
        seen.edge(Step(0, 0, 0, 1))


def test_a_real_model_may_be_outside_the_class_but_not_go_where_nobody_goes() -> None:
    worlds = class_from_arrays(
        np.array([[[[0.5, 0.5, 0.0]], [[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]]),
        np.zeros((3, 1)),
    )
    inside = class_from_arrays(
        np.array([[[[0.2, 0.8, 0.0]], [[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]]),
        np.zeros((3, 1)),
    )
    beyond = class_from_arrays(
        np.array([[[[0.2, 0.5, 0.3]], [[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]]]),
        np.zeros((3, 1)),
    )
    observed = observed_class(worlds)
    world = real_models(observed, inside, 10).world(0)
    assert world.horizon == 10
    with pytest.raises(InvalidArgument, match="no model of the class goes"):
        real_models(observed, beyond, 10).world(0)
    smaller = class_from_arrays(np.ones((1, 1, 1, 1)), np.zeros((1, 1)))
    with pytest.raises(InvalidArgument, match="states"):
        real_models(observed, smaller, 10)


def test_a_model_without_a_gain_has_exact_losses_and_no_regret() -> None:
    doors = absorbing_doors(3)
    real = real_models(observed_class(doors), doors, 12)
    assert not real.has_gain.any()
    assert real.optimal == pytest.approx(np.full(3, 10.0))
    assert (real.world(1).late_excess >= 0.0).all()
