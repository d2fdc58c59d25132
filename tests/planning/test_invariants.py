"""What must hold for every model, whatever its numbers (theory 4.2)."""

from __future__ import annotations

from fractions import Fraction
from math import isinf

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import AnyArray, FloatArray
from simgap.mdp import SimulatorClass
from simgap.planning import (
    all_travel_times,
    diameter,
    optimal_values,
    policy_values,
    solve_average_reward,
    solve_episodic,
    travel_times,
)
from tests.reference import average_reward, episodic, travel
from tests.reference.rational import RationalMDP, frozen
from tests.strategies import (
    DYADIC,
    STEADY,
    as_class,
    rational_classes,
    rational_models,
    start_laws,
)

HORIZON = st.integers(0, 25)
EQUAL = 1e-10  # relative and absolute


def permuted(model: RationalMDP, states: list[int], actions: list[int]) -> RationalMDP:
    """Return the model in which new state i is old state states[i]."""
    P = tuple(
        tuple(tuple(model.transitions[s][a][t] for t in states) for a in actions)
        for s in states
    )
    R = tuple(tuple(model.rewards[s][a] for a in actions) for s in states)
    return RationalMDP(P, R)


def with_rewards(models: list[RationalMDP], c: Fraction, d: Fraction) -> SimulatorClass:
    return as_class(
        [
            RationalMDP(
                m.transitions, tuple(tuple(c * r + d for r in row) for row in m.rewards)
            )
            for m in models
        ]
    )


def close(found: AnyArray, wanted: AnyArray | float) -> bool:
    same: bool = np.asarray(found) == pytest.approx(
        np.asarray(wanted), rel=EQUAL, abs=EQUAL
    )
    return same


def between(lower: float, exact: Fraction | float, upper: float) -> bool:
    if isinf(exact):
        return bool(lower == upper == exact)
    return Fraction(float(lower)) <= exact <= Fraction(float(upper))


# Names do not matter


@STEADY
@given(data=st.data(), models=rational_classes(), horizon=HORIZON)
def test_relabelling_permutes_the_answers(
    data: st.DataObject, models: list[RationalMDP], horizon: int
) -> None:
    S, A = models[0].n_states, models[0].n_actions
    states = data.draw(st.permutations(range(S)))
    actions = data.draw(st.permutations(range(A)))
    order = data.draw(st.permutations(range(len(models))))
    before = as_class(models)
    after = as_class([permuted(models[m], states, actions) for m in order])

    values = optimal_values(before, horizon).values
    assert close(optimal_values(after, horizon).values, values[order][:, states])
    old, new = solve_average_reward(before), solve_average_reward(after)
    assert close(new.gain, old.gain[order])
    unique = old.unique_bias[order]
    assert (new.unique_bias == unique).all()
    assert close(new.bias[unique], old.bias[order][:, states][unique])
    times = all_travel_times(before).upper
    moved = all_travel_times(after).upper
    assert close(moved, times[order][:, states][:, :, states])
    assert close(diameter(after).model_upper, diameter(before).model_upper[order])


# Rewards have a unit and an origin


@STEADY
@given(
    models=rational_classes(),
    horizon=HORIZON,
    c=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(8)]),
    d=st.sampled_from([Fraction(-3), Fraction(0), Fraction(1, 2)]),
)
def test_scaling_and_shifting_rewards_act_as_they_must(
    models: list[RationalMDP], horizon: int, c: Fraction, d: Fraction
) -> None:
    before, after = as_class(models), with_rewards(models, c, d)
    factor, shift = float(c), float(d)
    values = optimal_values(before, horizon).values
    moved = optimal_values(after, horizon).values
    assert close(moved, factor * values + shift * horizon)
    old, new = solve_average_reward(before), solve_average_reward(after)
    assert np.asarray(new.gain) == pytest.approx(factor * old.gain + shift, abs=2e-8)
    unique = old.unique_bias & new.unique_bias
    assert close(new.bias[unique], factor * old.bias[unique])
    assert (diameter(after).model_upper == diameter(before).model_upper).all()


# Lemma 2, Lemma 3 and the span of values (theory 4.2)


@STEADY
@given(models=rational_classes(), horizon=HORIZON)
def test_lemmas_2_and_3_hold(models: list[RationalMDP], horizon: int) -> None:
    simulators = as_class(models)
    plan = solve_average_reward(simulators)
    D = diameter(simulators).model_upper
    episodes = solve_episodic(simulators, horizon).values
    for m, model in enumerate(models):
        rewards = [float(r) for row in model.rewards for r in row]
        low, high = min(rewards), max(rewards)
        gain, bias = plan.gain[m], plan.bias[m]
        room = 1e-8 * (1.0 + horizon + D[m])
        assert bias.min() == 0.0
        assert plan.bias_span[m] == pytest.approx(bias.max())
        assert bias.max() <= D[m] * (gain - low) + room
        V = episodes[m]
        assert (V[0] <= horizon * gain + bias + room).all()
        assert (V[0] >= horizon * gain + bias - bias.max() - room).all()
        assert (abs(V[0] - horizon * gain) <= D[m] + room).all()
        spans = V.max(axis=1) - V.min(axis=1)
        assert (spans <= D[m] * (high - low) + room).all()


# Certificates contain the truth, computed in Fractions


@STEADY
@given(model=rational_models(most=(3, 2), denominators=DYADIC))
def test_gain_certificates_contain_the_exact_gain(model: RationalMDP) -> None:
    P, R = model.transitions, model.rewards
    plan = solve_average_reward(model.simulator())
    gain = average_reward.optimal_gain(P, R)
    assert between(plan.gain_lower[0], gain, plan.gain_upper[0])
    assert plan.gain_upper[0] - plan.gain_lower[0] <= 1e-9 * max(1.0, float(gain))
    policy = [int(a) for a in plan.policy[0]]
    reached = min(average_reward.policy_gain(P, R, policy))
    assert float(gain - reached) <= 1e-9
    bias = [Fraction(float(x)) for x in plan.bias[0]]
    middle = Fraction(float(plan.gain[0]))
    defects = average_reward.equation_defects(P, R, middle, bias)
    assert max(abs(float(defect)) for defect in defects) <= plan.residual[0] + 1e-14
    assert plan.residual[0] <= 1e-9


@STEADY
@given(model=rational_models(most=(3, 2), denominators=DYADIC))
def test_a_unique_bias_is_the_exact_one(model: RationalMDP) -> None:
    P, R = model.transitions, model.rewards
    plan = solve_average_reward(model.simulator())
    gain, bias = average_reward.optimal_gain_and_bias(P, R)
    unique = average_reward.bias_is_unique(P, R, gain, bias)
    assert bool(plan.unique_bias[0]) is unique
    if unique:
        exact = np.array([float(x) for x in bias])
        assert plan.bias[0] == pytest.approx(exact, abs=1e-7, rel=1e-7)


@pytest.mark.parametrize(
    ("P", "R"),
    [
        # two places where one may stay for a reward of 1; going from one to the other
        # pays nothing, so that their biases may differ by anything from -1 to 1
        ([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], [[1, 0], [1, 0]]),
        # the same with the actions in another order and a third one
        ([[[0, 1], [1, 0], [1, 0]], [[1, 0], [1, 0], [0, 1]]], [[0, 0, 1], [0, 0, 1]]),
    ],
)
def test_a_class_one_may_leave_but_need_not_makes_the_bias_ambiguous(
    P: list[list[list[int]]], R: list[list[int]]
) -> None:
    model = frozen(
        [[[Fraction(p) for p in row] for row in pair] for pair in P],
        [[Fraction(r) for r in row] for row in R],
    )
    exact = model.transitions, model.rewards
    gain, bias = average_reward.optimal_gain_and_bias(*exact)
    assert gain == 1
    assert not average_reward.bias_is_unique(*exact, gain, bias)
    assert not solve_average_reward(model.simulator()).unique_bias[0]


@STEADY
@given(model=rational_models(denominators=DYADIC, communicating=False), data=st.data())
def test_travel_certificates_contain_the_exact_times(
    model: RationalMDP, data: st.DataObject
) -> None:
    P = model.transitions
    target = data.draw(st.integers(0, model.n_states - 1))
    found = travel_times(model.simulator(), target)
    exact = travel.hitting_times(P, target)
    for s, time in enumerate(exact):
        assert between(found.lower[0, s], time, found.upper[0, s])
    policy = found.policy[0]
    alone = [[P[s][int(policy[s])]] for s in range(model.n_states)]
    reached = travel.hitting_times(alone, target)
    for s, time in enumerate(exact):
        if not isinf(time):
            assert float(reached[s]) == pytest.approx(float(time), rel=1e-8)


@STEADY
@given(model=rational_models(denominators=DYADIC, communicating=False))
def test_diameter_certificates_contain_the_exact_diameter(model: RationalMDP) -> None:
    found = diameter(model.simulator())
    exact = travel.diameter(model.transitions)
    assert between(found.lower, exact, found.upper)
    assert between(found.model_lower[0], exact, found.model_upper[0])
    source, target = int(found.source[0]), int(found.target[0])
    time = travel.hitting_times(model.transitions, target)[source]
    assert float(time) == pytest.approx(float(exact), rel=1e-8)


@STEADY
@given(model=rational_models(denominators=DYADIC, communicating=False), horizon=HORIZON)
def test_values_are_exact_up_to_their_stated_error(
    model: RationalMDP, horizon: int
) -> None:
    exact = episodic.optimal_values(model.transitions, model.rewards, horizon)
    plan = solve_episodic(model.simulator(), horizon)
    values = optimal_values(model.simulator(), horizon)
    for h in range(horizon + 1):
        for s in range(model.n_states):
            off = abs(Fraction(float(plan.values[0, h, s])) - exact[h][s])
            assert off <= Fraction(float(plan.error[0]))
    for s in range(model.n_states):
        off = abs(Fraction(float(values.values[0, s])) - exact[0][s])
        assert off <= Fraction(float(values.error[0]))
    assert values.error[0] <= 1e-12 * (1 + horizon)


# Policies


@STEADY
@given(models=rational_classes(communicating=False), horizon=HORIZON, data=st.data())
def test_no_policy_beats_the_optimum_and_the_greedy_one_attains_it(
    models: list[RationalMDP], horizon: int, data: st.DataObject
) -> None:
    simulators = as_class(models)
    S, A = simulators.n_states, simulators.n_actions
    plan = solve_episodic(simulators, horizon)
    action = st.integers(0, A - 1)
    fixed = np.array(data.draw(st.lists(action, min_size=S, max_size=S)), np.int32)
    mixed = np.full((S, A), 1.0 / A)
    for policy in (fixed, mixed):
        value = policy_values(simulators, policy, horizon).values
        assert (value <= plan.values[:, 0] + 1e-12 * (1 + horizon)).all()
    for m in range(len(models)):
        own = policy_values(simulators, plan.policy[m], horizon).values
        assert (own <= plan.values[:, 0] + 1e-12 * (1 + horizon)).all()
        assert close(own[m], plan.values[m, 0])


@STEADY
@given(
    model=rational_models(most=(3, 2), denominators=DYADIC, communicating=False),
    horizon=st.integers(0, 6),
    data=st.data(),
)
def test_the_four_ways_to_write_a_policy_agree(
    model: RationalMDP, horizon: int, data: st.DataObject
) -> None:
    S, A = model.n_states, model.n_actions
    action = st.integers(0, A - 1)
    fixed = np.array(data.draw(st.lists(action, min_size=S, max_size=S)), np.int32)
    chances: FloatArray = np.zeros((S, A))
    chances[np.arange(S), fixed] = 1.0
    simulator = model.simulator()
    forms: tuple[AnyArray, ...] = (
        fixed,
        np.broadcast_to(fixed, (horizon, S)),
        chances,
        np.broadcast_to(chances, (horizon, S, A)),
    )
    steps = [[int(a) for a in fixed]] * horizon
    policy = episodic.deterministic(steps, A)
    exact = episodic.policy_values(model.transitions, model.rewards, policy)[0]
    for form in forms:
        found = policy_values(simulator, form, horizon).values[0]
        assert close(found, np.array(exact, np.float64))


# Horizons and starts


@STEADY
@given(models=rational_classes(communicating=False), horizon=HORIZON)
def test_values_grow_with_the_horizon_if_rewards_are_not_negative(
    models: list[RationalMDP], horizon: int
) -> None:
    simulators = as_class(models)
    now = optimal_values(simulators, horizon).values
    longer = optimal_values(simulators, horizon + 1).values
    assert (longer >= now).all()
    best = np.array([max(float(r) for row in m.rewards for r in row) for m in models])
    assert (longer <= now + best[:, None] + 1e-12 * (1 + horizon)).all()
    assert (now <= horizon + 1e-12).all()


@STEADY
@given(models=rational_classes(communicating=False), horizon=HORIZON, data=st.data())
def test_the_start_value_is_the_mean_over_the_start_law(
    models: list[RationalMDP], horizon: int, data: st.DataObject
) -> None:
    law = data.draw(start_laws(models[0].n_states))
    found = optimal_values(as_class(models, start=np.array(law)), horizon)
    assert close(found.start, found.values @ np.array(law))
    state = models[0].n_states - 1
    fixed = optimal_values(as_class(models, start=state), horizon)
    assert (fixed.start == fixed.values[:, state]).all()


# A class is its members


@STEADY
@given(models=rational_classes(members=(2, 4)), horizon=HORIZON)
def test_a_class_at_once_is_its_members_one_by_one(
    models: list[RationalMDP], horizon: int
) -> None:
    simulators = as_class(models)
    values = optimal_values(simulators, horizon)
    plans = solve_episodic(simulators, horizon)
    gains = solve_average_reward(simulators)
    times = all_travel_times(simulators)
    width = diameter(simulators)
    for m, member in enumerate(simulators):
        assert close(optimal_values(member, horizon).values[0], values.values[m])
        assert close(solve_episodic(member, horizon).values[0], plans.values[m])
        alone = solve_average_reward(member)
        assert np.asarray(alone.gain) == pytest.approx(gains.gain[m], abs=2e-9)
        assert bool(alone.unique_bias[0]) is bool(gains.unique_bias[m])
        assert np.asarray(all_travel_times(member).upper[0]) == pytest.approx(
            times.upper[m], rel=1e-8
        )
        assert diameter(member).upper == pytest.approx(width.model_upper[m], rel=1e-8)
    assert width.upper == width.model_upper.max()
    assert width.lower == width.model_lower.max()
    assert width.model_upper[width.model] >= width.lower


@STEADY
@given(models=rational_classes(members=(1, 3)), horizon=HORIZON)
def test_a_duplicate_model_changes_nothing(
    models: list[RationalMDP], horizon: int
) -> None:
    once, twice = as_class(models), as_class([*models, models[0]])
    n = len(models)
    values = optimal_values(twice, horizon).values
    assert close(values[:n], optimal_values(once, horizon).values)
    assert close(values[n], values[0])
    gains = solve_average_reward(twice)
    assert close(gains.gain[:n], solve_average_reward(once).gain)
    assert close(gains.gain[n], gains.gain[0])
    assert close(gains.bias[n], gains.bias[0])
    assert diameter(twice).upper == pytest.approx(diameter(once).upper, rel=1e-9)
