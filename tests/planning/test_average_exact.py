"""Howard's policy iteration, step by step against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.time_limit import time_limited
from simgap.arrays import FloatArray, IndexArray
from simgap.errors import NotCommunicating, OutOfTime
from simgap.mdp import SimulatorClass
from simgap.planning import average_exact, policy_chain
from simgap.planning.average_exact import (
    _correction,
    _evaluate,
    _of_reference,
    _one_class,
    _or_least,
    _sharpen,
    exact_gain,
)
from simgap.planning.policy_chain import Moves, elimination_order
from tests.reference import average_reward as twin
from tests.reference.kernel_rows import exact
from tests.reference.rational import (
    COMMUNICATING,
    Family,
    RationalMDP,
    frozen,
    scattered_model,
    slow_model,
    sparse_model,
)


def prepared(model: RationalMDP) -> tuple[SimulatorClass, Moves, FloatArray]:
    every = model.simulator().as_class()
    kernel = every.transitions
    moves = Moves.of(kernel.indptr, kernel.indices, kernel.values[0], kernel.n_actions)
    return every, moves, every.rewards[0].reshape(-1)


def some_policies(model: RationalMDP, count: int, seed: int) -> list[IndexArray]:
    rng = np.random.default_rng(seed)
    S, A = model.n_states, model.n_actions
    return [rng.integers(0, A, S).astype(np.int32) for _ in range(count)]


def drift(model: RationalMDP, policy: IndexArray, h: list[Fraction]) -> list[Fraction]:
    """R + P h - h under a policy."""
    P, R = model.transitions, model.rewards
    return [
        R[s][policy[s]]
        + sum((p * h[t] for t, p in enumerate(P[s][policy[s]])), Fraction(0))
        - h[s]
        for s in range(model.n_states)
    ]


@pytest.mark.parametrize("dense", [True, False])
def test_a_policy_gets_its_best_class_for_its_only_one(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that come to it anyway keep their actions, all others are sent there."""
    if not dense:
        monkeypatch.setattr(policy_chain, "ELIMINATE_UP_TO", 0)
    several = kept = refused = 0
    for seed in range(3):
        model = scattered_model(np.random.default_rng(seed), 7, 2, 16)
        P, R = model.transitions, model.rewards
        _, moves, rewards = prepared(model)
        order = elimination_order(moves)
        for policy in some_policies(model, 8, seed):
            chosen = [int(a) for a in policy]
            classes = twin.closed_classes(P, chosen)
            gains = twin.policy_gain(P, R, chosen)
            try:
                found, members = _one_class(moves, rewards, policy, order)
            except NotCommunicating:
                refused += 1
                continue
            new = [int(a) for a in found]
            assert twin.closed_classes(P, new) == [sorted(members.tolist())]
            assert sorted(members.tolist()) in [sorted(each) for each in classes]
            assert gains[members[0]] == max(gains[c[0]] for c in classes)
            if len(classes) == 1:
                assert new == chosen
            several += len(classes) > 1
            inside = twin.policy_gain(P, marked(model, members.tolist()), chosen)
            for s in range(7):
                if inside[s] > 0:
                    assert new[s] == chosen[s]
                    kept += len(classes) > 1
    assert several >= 5
    assert kept >= 10
    assert refused >= 1


def marked(model: RationalMDP, states: list[int]) -> list[list[Fraction]]:
    """Rewards of 1 in some states: the gain is the chance to end there, in classes."""
    A = model.n_actions
    return [[Fraction(int(s in states))] * A for s in range(model.n_states)]


@pytest.mark.parametrize("family", COMMUNICATING)
def test_a_policy_has_its_exact_gain_and_a_bias_of_its_own(family: Family) -> None:
    for seed in range(2):
        model = family(np.random.default_rng(seed), 5, 2, 16)
        _, moves, rewards = prepared(model)
        order = elimination_order(moves)
        for policy in some_policies(model, 4, seed):
            found = _evaluate(moves, rewards, policy, order)
            P, R = model.transitions, model.rewards
            gain = twin.policy_gain(P, R, [int(a) for a in found.policy])
            assert len(set(gain)) == 1
            assert found.gain == pytest.approx(float(gain[0]), rel=1e-13, abs=1e-14)
            room = 1e-13 * (1.0 + float(np.abs(found.bias).max()))
            for change in drift(model, found.policy, exact(found.bias)):
                assert abs(change - gain[0]) <= room
            assert found.bias[found.reference] == 0.0
            assert found.waiting[found.reference] == 0.0


def test_a_correction_removes_a_defect_of_gain_and_bias() -> None:
    """(I - P) change + shift = defect, and the reference state stays at 0."""
    rng = np.random.default_rng(7)
    model = sparse_model(rng, 6, 2, 16)
    _, moves, rewards = prepared(model)
    order = elimination_order(moves)
    for policy in some_policies(model, 5, 7):
        found = _evaluate(moves, rewards, policy, order)
        defect = rng.integers(-8, 9, 6) / 8.0
        change, shift = _correction(moves, found, defect)
        assert change[found.reference] == 0.0
        h, P = exact(change), model.transitions
        for s in range(6):
            row = P[s][found.policy[s]]
            left = h[s] - sum((p * h[t] for t, p in enumerate(row)), Fraction(0))
            assert abs(left + Fraction(shift) - Fraction(defect[s])) <= 1e-12


@pytest.mark.parametrize("family", COMMUNICATING)
def test_any_guess_leads_to_the_exact_gain_and_a_greedy_policy(family: Family) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = family(rng, 5, 2, 16)
        P, R = model.transitions, model.rewards
        every, _, rewards = prepared(model)
        gain = twin.optimal_gain(P, R)
        for guess in (np.zeros(5), 1e3 * rng.random(5)):
            found = exact_gain(every, 0, rewards, guess)
            assert Fraction(found.lower) <= gain <= Fraction(found.upper)
            assert found.upper - found.lower <= 1e-14
            bias = exact(found.bias)
            for defect in twin.equation_defects(P, R, gain, bias):
                assert abs(defect) <= 1e-11
            for s in range(5):
                totals = [
                    R[s][a] + sum((p * bias[t] for t, p in enumerate(row)), Fraction(0))
                    for a, row in enumerate(P[s])
                ]
                first = next(a for a in range(2) if totals[a] >= max(totals) - 1e-11)
                assert found.policy[s] == first


@pytest.mark.parametrize("states", [4, 10])
def test_a_poor_evaluation_is_sharpened_until_its_bracket_is_closed(
    states: int,
) -> None:
    """Gain and bias are off by a millionth; corrections take that away."""
    model = slow_model(np.random.default_rng(3), states, 1, 16)
    _, moves, rewards = prepared(model)
    policy = np.zeros(states, np.int32)
    found = _of_reference(moves, rewards, policy, 0, elimination_order(moves))
    poor = average_exact._Evaluation(
        found.chain, policy, 0, found.waiting, found.bias * (1.0 + 1e-6),
        found.gain * (1.0 - 1e-6),
    )  # fmt: skip
    table, sharp = _sharpen(moves, rewards, poor, 1.0)
    gain = twin.policy_gain(model.transitions, model.rewards, [0] * states)[0]
    assert Fraction(sharp.lower) <= gain <= Fraction(sharp.upper)
    assert sharp.upper - sharp.lower <= 1e-15
    assert table.shape == (states, 1)
    assert table[:, 0] == pytest.approx(float(gain), abs=1e-15)


def test_a_gain_that_is_no_float_is_the_least() -> None:
    assert [_or_least(x) for x in (np.nan, np.inf, -np.inf)] == [-np.inf] * 3
    assert _or_least(-2.5) == -2.5


def test_states_that_cannot_come_to_the_best_class_are_refused() -> None:
    one, zero = Fraction(1), Fraction(0)
    model = frozen([[[one, zero]], [[zero, one]]], [[zero], [one]])
    _, moves, rewards = prepared(model)
    with pytest.raises(NotCommunicating):
        _one_class(moves, rewards, np.zeros(2, np.int32), elimination_order(moves))


def test_policy_iteration_stops_where_its_time_is_over() -> None:
    model = sparse_model(np.random.default_rng(1), 4, 2, 16)
    every, moves, rewards = prepared(model)
    found = _evaluate(moves, rewards, np.zeros(4, np.int32), elimination_order(moves))
    with time_limited(0.0):
        with pytest.raises(OutOfTime):
            exact_gain(every, 0, rewards, np.zeros(4))
        with pytest.raises(OutOfTime):
            _sharpen(moves, rewards, found, 1.0)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40])
def test_corrections_count_in_units_of_the_rewards(scale: float) -> None:
    """Rewards times a power of two: every end is that much larger, to the last bit."""
    for seed in range(4):
        every, _, rewards = prepared(slow_model(np.random.default_rng(seed), 6, 2, 16))
        plain = exact_gain(every, 0, rewards, np.zeros(6))
        scaled = exact_gain(every, 0, scale * rewards, np.zeros(6))
        assert scaled.lower == scale * plain.lower
        assert scaled.upper == scale * plain.upper
        assert (scaled.bias == scale * plain.bias).all()
