"""One policy: its values and action values at every step, and its gain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.instances import riverswim
from simgap.mdp import IndexOrder, SimulatorClass, class_from_arrays
from simgap.planning import (
    policy_gain,
    policy_values,
    policy_values_by_step,
    solve_average_reward,
    solve_episodic,
)


def random_class(rng: np.random.Generator, *, sparse: bool = False) -> SimulatorClass:
    kernel = rng.integers(0, 5, (2, 4, 2, 4)).astype(float)
    kernel[..., 0] += 1.0
    if sparse:  # chains with closed classes and states that are left for ever
        kernel *= rng.random(kernel.shape) < 0.35
        kernel[..., 3] += kernel.sum(axis=-1) == 0.0
    kernel /= kernel.sum(axis=-1, keepdims=True)
    rewards = rng.integers(0, 9, (4, 2)) / 8.0
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def chain_of(worlds: SimulatorClass, member: int, policy: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("sa,sat->st", policy, worlds.transitions.array(member)))


def test_values_and_action_values_are_those_of_the_recursion() -> None:
    """V_h = sum_a pi(a) Q_h(a) and Q_h = R + P V_{h+1}, in fractions."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        worlds, horizon = random_class(rng), 4
        policy = rng.dirichlet([1.0, 1.0], (horizon, 4))
        found = policy_values_by_step(worlds, policy, horizon)
        for m in range(2):
            kernel = worlds.transitions.array(m)
            later = [Fraction(0)] * 4
            for h in range(horizon, 0, -1):
                exact = [
                    [
                        Fraction(worlds.rewards[0, s, a])
                        + sum(
                            (Fraction(kernel[s, a, t]) * later[t] for t in range(4)),
                            Fraction(0),
                        )
                        for a in range(2)
                    ]
                    for s in range(4)
                ]
                own = found.action_values(m, h)
                error = found.error[m]
                for s in range(4):
                    for a in range(2):
                        assert abs(Fraction(own[s, a]) - exact[s][a]) <= error
                later = [
                    sum((Fraction(policy[h - 1, s, a]) * exact[s][a] for a in (0, 1)),
                        Fraction(0))
                    for s in range(4)
                ]  # fmt: skip
                for s in range(4):
                    assert abs(Fraction(found.values[m, h - 1, s]) - later[s]) <= error
        at_first = policy_values(worlds, policy, horizon)
        assert found.start == pytest.approx(at_first.start, abs=1e-14)


def test_the_plan_of_a_model_has_its_optimal_values() -> None:
    river = riverswim(5)
    plan = solve_episodic(river, 12)
    found = policy_values_by_step(river, plan.policy[0], 12)
    assert found.values == pytest.approx(plan.values, abs=1e-13)
    assert found.action_values(0, 3) == pytest.approx(plan.action_values(0, 3))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_gain_is_the_limit_of_averages(sparse: bool) -> None:
    """The Cesaro limit of the chain, by squaring the lazy one, times the rewards."""
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(60):
        worlds = random_class(rng, sparse=sparse)
        policy = rng.dirichlet([1.0, 1.0], 4)
        if rng.random() < 0.5:
            policy = np.eye(2)[policy.argmax(axis=1)]
        found = policy_gain(worlds, policy)
        for m in range(2):
            chain = chain_of(worlds, m, policy)
            limit = 0.5 * (chain + np.eye(4))
            for _ in range(40):
                limit = limit @ limit
                limit /= limit.sum(axis=1, keepdims=True)
            gain = limit @ (policy * worlds.rewards[0]).sum(axis=1)
            assert (found.lower[m] <= gain + 1e-9).all()
            assert (gain - 1e-9 <= found.upper[m]).all()
            assert (found.upper[m] - found.lower[m] < 1e-10).all()
            several += np.ptp(gain) > 1e-3
    assert (several > 2) == sparse  # some chains are drawn into several classes


def test_the_gain_of_the_best_policy_is_the_best_gain() -> None:
    """Theory row 10; swimming left for ever earns the reward of the bank."""
    river = riverswim(6)
    plan = solve_average_reward(river)
    found = policy_gain(river, plan.policy[0])
    exact = Fraction(7203, 16805)
    assert (found.lower[0] <= float(exact)).all()
    assert (float(exact) <= found.upper[0]).all()
    left = policy_gain(river, np.zeros(6, np.int32))
    assert left.lower[0] == pytest.approx(0.005, abs=1e-12)
