"""What every policy class must do, whatever it remembers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument, OutsideClass
from simgap.oracle.loss_form import loss_form
from simgap.policies import Agent, Policy, Step
from tests.policies.cases import AnyPolicy, one_of_each, random_latent

CASES = [(seed, infinite) for seed in range(6) for infinite in (False, True)]
STEPS = 5


def policies(seed: int, infinite: bool) -> list[AnyPolicy]:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, without_prior=seed % 2)
    if infinite:
        return one_of_each(rng, loss_form(latent, discount=0.8))
    return one_of_each(rng, loss_form(latent, horizon=STEPS))


def walk(policy: Policy[Any], rng: np.random.Generator) -> list[tuple[int, int, Any]]:
    """Return (h, state, memory) along random next states that the policy allows."""
    for start in rng.permutation(3):
        try:
            state, memory = int(start), policy.start(int(start))
            break
        except OutsideClass:
            continue
    visited = [(0, state, memory)]
    for h in range(STEPS - 1):
        chances = policy.act(memory, h, state)
        action = int(rng.choice(chances.size, p=chances))
        for after in rng.permutation(3):
            try:
                memory = policy.observe(memory, Step(h, state, action, int(after)))
                state = int(after)
                break
            except OutsideClass:
                continue
        visited.append((h + 1, state, memory))
    return visited


@pytest.mark.parametrize(("seed", "infinite"), CASES)
def test_probabilities_are_a_law_over_the_actions(seed: int, infinite: bool) -> None:
    rng = np.random.default_rng(seed)
    for policy in policies(seed, infinite):
        for h, state, memory in walk(policy, rng):
            chances = policy.act(memory, h, state)
            assert chances.shape == (2,)
            assert chances.dtype == np.float64
            assert (chances >= 0.0).all()
            assert chances.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("seed", "infinite"), CASES)
def test_the_same_history_gives_the_same_hashable_memory(
    seed: int, infinite: bool
) -> None:
    for policy in policies(seed, infinite):
        one = walk(policy, np.random.default_rng(seed))
        other = walk(policy, np.random.default_rng(seed))
        assert one == other
        assert [hash(memory) for *_, memory in one] == [hash(m) for *_, m in other]


@pytest.mark.parametrize(("seed", "infinite"), CASES)
def test_acting_and_observing_change_nothing(seed: int, infinite: bool) -> None:
    for policy in policies(seed, infinite):
        (_, state, memory), *_ = walk(policy, np.random.default_rng(seed))
        before = policy.act(memory, 0, state)
        walk(policy, np.random.default_rng(seed + 1))
        assert (policy.act(memory, 0, state) == before).all()


@pytest.mark.parametrize(("seed", "infinite"), CASES)
def test_the_same_seed_plays_the_same_actions(seed: int, infinite: bool) -> None:
    for policy in policies(seed, infinite):
        runs = []
        for _ in range(2):
            agent: Agent[Any] = Agent(policy, seed=7, on_outside="flag")
            world = np.random.default_rng(seed)
            agent.reset(int(world.integers(3)))
            actions = []
            for _ in range(STEPS):
                actions.append(agent.act())
                agent.observe(int(world.integers(3)))
            runs.append((actions, agent.memory, agent.outside))
        assert runs[0] == runs[1]


@pytest.mark.parametrize("seed", range(6))
def test_steps_beyond_the_horizon_are_refused(seed: int) -> None:
    for policy in policies(seed, infinite=False):
        *_, (h, state, memory) = walk(policy, np.random.default_rng(seed))
        action = int(np.argmax(policy.act(memory, h, state)))
        if policy.horizon is None:  # a stationary table has no last step
            policy.act(memory, 10**6, state)
            continue
        with pytest.raises(InvalidArgument, match="beyond the horizon"):
            policy.act(memory, STEPS, state)
        with pytest.raises(InvalidArgument, match="beyond the horizon"):
            policy.observe(memory, Step(STEPS, state, action, state))


@pytest.mark.parametrize("infinite", [False, True])
def test_numbers_that_do_not_exist_are_refused(infinite: bool) -> None:
    for policy in policies(0, infinite):
        (_, state, memory), *_ = walk(policy, np.random.default_rng(0))
        action = int(np.argmax(policy.act(memory, 0, state)))
        for wrong in (-1, 3, 10**9):
            with pytest.raises(InvalidArgument):
                policy.start(wrong)
            with pytest.raises(InvalidArgument):
                policy.act(memory, 0, wrong)
            for step in (
                Step(0, wrong, action, 0),
                Step(0, state, wrong, 0),
                Step(0, state, action, wrong),
            ):
                with pytest.raises(InvalidArgument):
                    policy.observe(memory, step)
        with pytest.raises(InvalidArgument):
            policy.act(memory, -1, state)
