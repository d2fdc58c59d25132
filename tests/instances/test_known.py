"""Closed forms against slow, independent numpy routines; no solver of ours is used."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import BoolArray, FloatArray
from simgap.instances import (
    build_instance,
    closed_forms,
    delta_for_diameter,
)
from simgap.mdp import SimulatorClass
from tests.instances.cases import CASES, HORIZONS
from tests.reference.average_reward import gain_by_linear_program

EQUAL = 1e-9


def rewards_of(worlds: SimulatorClass, member: int) -> FloatArray:
    return np.asarray(worlds.rewards[member if len(worlds.rewards) > 1 else 0])


def value_at_start(worlds: SimulatorClass, member: int, horizon: int) -> float:
    P, R = worlds.transitions.array(member), rewards_of(worlds, member)
    values: FloatArray = np.zeros(worlds.n_states)
    for _ in range(horizon):
        values = (R + P @ values).max(axis=1)
    return float(worlds.start_law(member) @ values)


def connected(P: FloatArray) -> bool:
    reach: BoolArray = (P.sum(axis=1) > 0.0) | np.eye(len(P), dtype=np.bool_)
    for _ in range(len(P).bit_length() + 1):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return bool(reach.all())


def slow_diameter(P: FloatArray) -> float:
    """Return D by policy iteration for every target, started from a proper policy."""
    if not connected(P):
        return np.inf
    n_states, worst = len(P), 0.0
    for target in range(n_states):
        policy = np.zeros(n_states, np.int64)
        reached = {target}
        while len(reached) < n_states:  # choose actions that come closer
            for s in set(range(n_states)) - reached:
                nearer = P[s][:, sorted(reached)].sum(axis=1)
                if nearer.max() > 0.0:
                    policy[s] = int(nearer.argmax())
                    reached.add(s)
        others = np.flatnonzero(np.arange(n_states) != target)
        times: FloatArray = np.zeros(n_states)
        for _ in range(200):
            inner = P[others, policy[others]][:, others]
            ones = np.ones(others.size)
            times[others] = np.linalg.solve(np.eye(others.size) - inner, ones)
            steps = 1.0 + P @ times
            current = steps[np.arange(n_states), policy]
            better = steps.min(axis=1) < current * (1.0 - 1e-13)
            if not better[others].any():
                break
            policy = np.where(better, steps.argmin(axis=1), policy)
        worst = max(worst, float(times.max()))
    return worst


def separation(worlds: SimulatorClass) -> float:
    kernels = [worlds.transitions.array(m) for m in range(len(worlds))]
    pairs = [
        float(np.abs(kernels[i] - kernels[j]).sum(axis=2).max())
        for i in range(len(worlds))
        for j in range(i)
    ]
    return min(pairs, default=2.0)


def belief_value(worlds: SimulatorClass, horizon: int) -> float:
    """Return W* under the uniform prior by search over all histories."""
    kernels = [worlds.transitions.array(m) for m in range(len(worlds))]
    stacked, rewards = np.stack(kernels), worlds.rewards[0]

    def best(state: int, weights: FloatArray, left: int) -> float:
        if left == 0 or weights.sum() == 0.0:
            return 0.0
        options = []
        for a in range(worlds.n_actions):
            after = weights[:, None] * stacked[:, state, a]
            future = sum(
                best(t, after[:, t], left - 1)
                for t in range(worlds.n_states)
                if after[:, t].any()
            )
            options.append(float(weights.sum() * rewards[state, a] + future))
        return max(options)

    prior = np.full(len(worlds), 1.0 / len(worlds))
    return best(int(worlds.start[0]), prior, horizon)


@pytest.mark.parametrize("spec", CASES)
def test_known_values_are_those_of_backward_induction(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.value is None:
        return
    for horizon in HORIZONS:
        told = known.value(horizon)
        assert told.shape == (len(worlds),)
        found = [value_at_start(worlds, m, horizon) for m in range(len(worlds))]
        here = ~np.isnan(told)
        np.testing.assert_allclose(
            np.array(found)[here], told[here], rtol=EQUAL, atol=EQUAL
        )


@pytest.mark.parametrize("spec", CASES)
def test_known_gain_and_bias_solve_the_optimality_equation(spec: str) -> None:
    """Theory 2.8: rho + l(s) = max_a [R(s, a) + P l (s, a)] in every state."""
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.bias is None or known.gain is None:
        return
    assert known.bias.shape == (len(worlds), worlds.n_states)
    for m, bias in enumerate(known.bias):
        if np.isnan(bias).any():
            continue
        P, R = worlds.transitions.array(m), rewards_of(worlds, m)
        right = (R + P @ bias).max(axis=1)
        scale = max(1.0, float(bias.max()))
        assert bias.min() == 0.0
        np.testing.assert_allclose(
            right - bias, known.gain[m], atol=1e-12 * scale, rtol=0.0
        )


@pytest.mark.parametrize("spec", CASES)
def test_known_gains_are_those_of_a_linear_program(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.gain is None:
        return
    assert known.gain.shape == (len(worlds),)
    for m, told in enumerate(known.gain):
        P = worlds.transitions.array(m)
        if not np.isnan(told) and connected(P):
            found, _ = gain_by_linear_program(P, rewards_of(worlds, m))
            assert found == pytest.approx(told, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("spec", CASES)
def test_known_diameters_are_those_of_policy_iteration(spec: str) -> None:
    worlds, known = build_instance(spec), closed_forms(spec)
    if known.diameter is None:
        return
    for m, told in enumerate(known.diameter):
        if not np.isnan(told):
            found = slow_diameter(worlds.transitions.array(m))
            np.testing.assert_allclose(found, told, rtol=1e-8)


@pytest.mark.parametrize("spec", CASES)
def test_known_separation_is_the_least_distance_of_two_models(spec: str) -> None:
    known = closed_forms(spec)
    if known.separation is not None:
        found = separation(build_instance(spec))
        np.testing.assert_allclose(found, known.separation, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "spec",
    [
        "absorbing_doors?members=3",
        "best_arm",
        "best_arm?e=0.25",
        "needle?members=3",
        "linear_bandit?members=9",
        "linear_bandit?members=4&bonus=1/4",
    ],
)
def test_known_oracle_values_are_those_of_a_search_over_histories(spec: str) -> None:
    """Theory rows 15-17, 22, 23."""
    worlds, known = build_instance(spec), closed_forms(spec)
    assert known.oracle_value is not None
    for horizon in range(5):
        told = known.oracle_value(horizon)
        assert told is not None
        assert belief_value(worlds, horizon) == pytest.approx(told, abs=1e-12)


def test_the_oracle_value_of_proposition_2_is_withheld_where_unproved() -> None:
    """Errata E33: with M = H = 10 the printed oracle does explore."""
    for spec, told in (
        ("linear_bandit?members=10", None),
        ("linear_bandit?members=45", 4.5),
        ("linear_bandit?members=10&bonus=1/4", 4.5),
        ("linear_bandit?members=7&bonus=1/4", None),
    ):
        known = closed_forms(spec).oracle_value
        assert known is not None
        assert known(10) == told, spec


@pytest.mark.parametrize(
    ("k", "arms", "expected"), [(2, 2, 21), (4, 2, 23), (7, 2, 24), (4, 3, 22)]
)
def test_the_tree_has_the_diameters_of_row_8(k: int, arms: int, expected: int) -> None:
    spec = f"switch_tree?k={k}&arms={arms}&delta=0.1&e=0.05"
    known = closed_forms(spec)
    assert known.diameter is not None
    assert known.diameter == pytest.approx(expected)
    assert slow_diameter(build_instance(spec).transitions.array(0)) == pytest.approx(
        expected
    )


@pytest.mark.parametrize(("k", "wanted"), [(1, 12.0), (2, 21.0), (7, 24.0)])
def test_a_tree_meets_the_diameter_it_was_asked_for(k: int, wanted: float) -> None:
    worlds = build_instance(f"switch_tree?k={k}&arms=2&e=0.02&diameter={wanted}")
    assert slow_diameter(worlds.transitions.array(0)) == pytest.approx(wanted)
    assert delta_for_diameter(k, 2, wanted) < 0.2


def test_riverswim_has_the_numbers_of_rows_10_to_12() -> None:
    known, worlds = closed_forms("riverswim"), build_instance("riverswim")
    assert known.gain is not None
    assert known.gain[0] == pytest.approx(7203 / 16805, rel=1e-15)
    assert known.diameter is not None
    assert known.diameter[0] == pytest.approx(106045 / 7203, rel=1e-15)
    assert known.bias_span is not None
    assert known.bias_span[0] == pytest.approx(6.3103243082, abs=5e-11)
    for horizon, value in {
        3: 0.015,
        10: 176191989 / 500000000,
        20: 3.3972639592,
        100: 37.5029466061,
    }.items():
        found = value_at_start(worlds, 0, horizon)
        assert found == pytest.approx(value, abs=5e-11)


def test_the_four_state_rivers_have_the_diameter_of_the_theory() -> None:
    known = closed_forms("riverswim?states=4&success=0.35,0.15,0.75")
    assert known.diameter is not None
    assert known.diameter.max() == pytest.approx(17.96, abs=5e-3)
    worlds = build_instance("riverswim?states=4&success=0.35,0.15,0.75")
    assert separation(worlds) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("spec", "horizon", "value"),
    [
        ("cycle?states=3", 20, 6.0),
        ("switch?delta=0.25&e=0.1", 20, 10.694444455134),
        ("switch_tree?k=1&arms=2&delta=0.4&e=0.01&members=2", 500, 252.4615150),
    ],
)
def test_values_of_the_theory_are_met(spec: str, horizon: int, value: float) -> None:
    """Theory rows 2, 6 and 21b."""
    known = closed_forms(spec)
    assert known.value is not None
    assert known.value(horizon)[0] == pytest.approx(value, rel=1e-10)


def test_the_bias_of_two_optima_is_not_unique() -> None:
    """Two solutions of the optimality equation that differ by more than a constant."""
    worlds = build_instance("two_optima?states=5")
    P, R = worlds.transitions.array(0), worlds.rewards[0]
    for bias in ([4.0, 3.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 2.0, 3.0]):
        right = (R + P @ np.array(bias)).max(axis=1)
        np.testing.assert_allclose(right - bias, 1.0)
    assert closed_forms("two_optima?states=5").bias is None
