"""Values over H steps: paths through the code, rounding, horizons, start laws, ties."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simgap.arrays import AnyArray, FloatArray
from simgap.errors import InvalidArgument
from simgap.instances import garnet, riverswim, slip_grid, switch, switch_known
from simgap.mdp import (
    Details,
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    class_from_arrays,
    class_from_models,
    mdp_from_arrays,
)
from simgap.planning import (
    EpisodicPlan,
    optimal_values,
    policy_values,
    solve_average_reward,
    solve_episodic,
)
from tests.reference import episodic as twin
from tests.reference.kernel_rows import exact, exact_backup
from tests.reference.rational import COMMUNICATING, Family, sparse_model


def exact_values(model: TabularMDP, horizon: int) -> list[list[Fraction]]:
    """V*_h of the numbers as they are stored, h = 1 .. H + 1."""
    kernel, A = model.transitions, model.n_actions
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    r = exact(model.rewards.reshape(-1))
    values = [[Fraction(0)] * model.n_states]
    for _ in range(horizon):
        after = values[0]
        now = [
            max(exact_backup(rows, s * A + a, r[s * A + a], after) for a in range(A))
            for s in range(model.n_states)
        ]
        values.insert(0, now)
    return values


def random_class(members: int, *, shared: bool) -> SimulatorClass:
    """Sparse models with different supports: the union pattern has zeros."""
    rng = np.random.default_rng(300 + members)
    models = [sparse_model(rng, 6, 3, 12).simulator() for _ in range(members)]
    kernels = [m.transitions.array(0) for m in models]
    rewards = models[0].rewards if shared else [m.rewards for m in models]
    return class_from_arrays(kernels, rewards, order=IndexOrder.STATE_ACTION)


# One model, a few, 16 at a time


@pytest.mark.parametrize("members", [1, 2, 3, 15, 16, 17, 18, 19, 33])
@pytest.mark.parametrize("shared", [True, False])
def test_any_number_of_models_is_solved_like_each_alone(
    members: int, shared: bool
) -> None:
    """Blocks of 16 and what is left over: by lanes from three models on, else alone."""
    simulators = random_class(members, shared=shared)
    for horizon in (0, 1, 2, 9):
        found = optimal_values(simulators, horizon)
        plan = solve_episodic(simulators, horizon)
        for m, model in enumerate(simulators):
            wanted = twin.optimal_values_in_floats(
                model.transitions.array(0), model.rewards, horizon
            )
            # two ways to add up the same positive numbers differ by their rounding
            room = 2.0 * float(found.error[m])
            assert found.values[m] == pytest.approx(wanted[0], rel=0.0, abs=room)
            assert plan.values[m] == pytest.approx(wanted, rel=0.0, abs=room)
            alone = optimal_values(model, horizon)
            assert alone.values[0] == pytest.approx(found.values[m], rel=0.0, abs=room)


# Rounding


@pytest.mark.parametrize("family", COMMUNICATING)
@pytest.mark.parametrize("members", [1, 3])
def test_the_error_bound_is_honoured_against_fractions(
    family: Family, members: int
) -> None:
    """Thirds and tenths round at every step; 80 of them, by lanes and alone."""
    rng = np.random.default_rng(301)
    model = family(rng, 5, 2, 12).simulator()
    rewards = rng.random((5, 2)) * 3.0 - 1.0
    model = mdp_from_arrays(
        model.transitions.array(0), rewards, order=IndexOrder.STATE_ACTION
    )
    simulators = class_from_models([model] * members)
    wanted = exact_values(model, 80)
    found, plan = optimal_values(simulators, 80), solve_episodic(simulators, 80)
    for m in range(members):
        error = Fraction(float(found.error[m]))
        assert 0 < error < 1e-10
        for s in range(5):
            assert abs(Fraction(float(found.values[m, s])) - wanted[0][s]) <= error
            for h in (0, 40, 79, 80):
                stored = Fraction(float(plan.values[m, h, s]))
                assert abs(stored - wanted[h][s]) <= error


@pytest.mark.parametrize("reward", [0.105, 0.82])
def test_an_even_mixture_of_many_actions_stays_within_its_error(reward: float) -> None:
    """100 equal rewards, each taken with chance 1/100: the value is the reward."""
    A = 100
    model = mdp_from_arrays(
        np.ones((1, A, 1)), np.full((1, A), reward), order=IndexOrder.STATE_ACTION
    )
    found = policy_values(model, np.full((1, A), 1.0 / A), 1)
    chance = Fraction(1.0 / A)  # the stored chances do not sum to 1 exactly
    off = abs(Fraction(float(found.values[0, 0])) - A * chance * Fraction(reward))
    assert off <= Fraction(float(found.error[0]))


def test_a_mixture_of_a_few_actions_stays_within_its_error() -> None:
    rng = np.random.default_rng(302)
    A, horizon = 6, 40
    P = np.zeros((3, A, 3))
    P[np.arange(3)[:, None], np.arange(A), rng.integers(0, 3, (3, A))] = 1.0
    R = rng.random((3, A))
    model = mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)
    chances = rng.integers(1, 2**20, (3, A)).astype(np.float64)
    chances[:, -1] = 2.0**26 - chances[:, :-1].sum(axis=1)
    chances /= 2.0**26  # sums to exactly 1
    law = [[Fraction(float(p)) for p in row] for row in chances]
    kernel = [[[Fraction(int(x)) for x in P[s, a]] for a in range(A)] for s in range(3)]
    rewards = [[Fraction(float(r)) for r in row] for row in R]
    wanted = twin.policy_values(kernel, rewards, [law] * horizon)[0]
    found = policy_values(model, chances, horizon)
    for s in range(3):
        off = abs(Fraction(float(found.values[0, s])) - wanted[s])
        assert off <= Fraction(float(found.error[0]))


# Horizons


def test_no_steps_earn_nothing_and_one_step_the_best_reward() -> None:
    simulators = random_class(4, shared=False)
    assert (optimal_values(simulators, 0).values == 0.0).all()
    assert (optimal_values(simulators, 0).error == 0.0).all()
    plan = solve_episodic(simulators, 0)
    assert plan.values.shape == (4, 1, 6)
    assert plan.policy.shape == (4, 0, 6)
    assert (plan.start == 0.0).all()
    best = simulators.rewards.max(axis=2)
    assert (optimal_values(simulators, 1).values == best).all()
    one = solve_episodic(simulators, 1)
    assert (one.values[:, 0] == best).all()
    assert (one.policy[:, 0] == simulators.rewards.argmax(axis=2)).all()
    assert (one.values[:, 1] == 0.0).all()


def test_a_long_horizon_is_the_gain_times_the_steps_and_the_bias() -> None:
    """V_H = H rho + l + c + o(1) in an aperiodic model with one recurrent class."""
    simulators = garnet(12, 2, 4, 3, separation=0.3)
    H = 100_000
    plan = solve_average_reward(simulators, tolerance=1e-12)
    long, longer = optimal_values(simulators, H), optimal_values(simulators, H + 1)
    room = 2.0 * (long.error + longer.error)
    for m in range(len(simulators)):
        assert plan.unique_bias[m]
        steps = longer.values[m] - long.values[m]
        assert np.abs(steps - plan.gain[m]).max() <= room[m] + 1e-12
        shape = long.values[m] - long.values[m].min()
        assert np.abs(shape - plan.bias[m]).max() <= room[m] + 1e-9
        excess = long.values[m] - H * plan.gain[m] - plan.bias[m]
        assert excess.max() <= room[m] + 1e-12 * H  # Lemma 3, upper side
        assert excess.min() >= -plan.bias_span[m] - room[m] - 1e-12 * H


def test_the_switch_has_its_closed_form_at_any_horizon() -> None:
    deltas, extras = (0.01, 0.1), (0.0, 0.05)
    simulators, known = switch(deltas, extras), switch_known(deltas, extras)
    assert known.value is not None
    for horizon in (0, 1, 2, 5, 100, 100_000):
        found = optimal_values(simulators, horizon)
        wanted = known.value(horizon)
        room = found.error + 1e-15 * (1.0 + horizon)
        assert (np.abs(found.start - wanted) <= room).all()


@pytest.mark.parametrize("horizon", [-1, 1.5, True, 10**9 + 1, "3"])
def test_a_horizon_that_is_none_is_refused(horizon: Any) -> None:
    simulators = random_class(1, shared=True)
    for ask in (optimal_values, solve_episodic):
        with pytest.raises(InvalidArgument, match="horizon"):
            ask(simulators, horizon)


# Starts


def test_the_start_value_follows_the_start_of_each_model() -> None:
    base = random_class(3, shared=True)
    laws = np.array([[0.5, 0.5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1], np.full(6, 1 / 6)])
    kernels = [m.transitions.array(0) for m in base]
    order = IndexOrder.STATE_ACTION
    mixed, fixed = (
        class_from_arrays(
            kernels, base.rewards, order=order, details=Details(start=start)
        )
        for start in (laws, np.array([4, 0, 2]))
    )
    found = optimal_values(mixed, 7)
    for m in range(3):
        assert found.start[m] == pytest.approx(laws[m] @ found.values[m], rel=1e-14)
    assert found.start[1] == found.values[1, 5]
    states = optimal_values(fixed, 7)
    assert states.start.tolist() == [
        states.values[m, s] for m, s in enumerate([4, 0, 2])
    ]
    plan = solve_episodic(mixed, 7)
    assert plan.start == pytest.approx(found.start, rel=1e-14)


# Policies


def attained(plan: EpisodicPlan, model: TabularMDP, member: int) -> list[Fraction]:
    """The exact value of the plan's own policy, from every state."""
    kernel, A = model.transitions, model.n_actions
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    r = exact(model.rewards.reshape(-1))
    values = [Fraction(0)] * model.n_states
    for h in range(plan.horizon - 1, -1, -1):
        at = [s * A + int(plan.policy[member, h, s]) for s in range(model.n_states)]
        values = [exact_backup(rows, row, r[row], values) for row in at]
    return values


@pytest.mark.parametrize("family", COMMUNICATING)
def test_the_policy_of_a_plan_attains_its_value(family: Family) -> None:
    """Within four times the stated error: ties within rounding go to lower actions."""
    rng = np.random.default_rng(303)
    model = family(rng, 5, 3, 12).simulator()
    plan = solve_episodic(model, 50)
    best = exact_values(model, 50)[0]
    for value, own in zip(best, attained(plan, model, 0), strict=True):
        assert 0 <= value - own <= 4 * Fraction(float(plan.error[0]))


def test_action_values_are_greedy_and_consistent_with_values() -> None:
    simulators = random_class(2, shared=False)
    plan = solve_episodic(simulators, 6)
    for m, model in enumerate(simulators):
        kernel = model.transitions.array(0)
        for h in range(1, 7):
            q = plan.action_values(m, h)
            wanted = model.rewards + kernel @ plan.values[m, h]
            assert q == pytest.approx(wanted, rel=1e-14)
            assert q.max(axis=1) == pytest.approx(plan.values[m, h - 1], rel=1e-14)
    for step in (0, 7):
        with pytest.raises(InvalidArgument, match="step"):
            plan.action_values(0, step)


def test_equal_actions_are_decided_for_the_lowest() -> None:
    for simulators in (garnet(10, 2, 3, 2), riverswim(8), slip_grid(3, 4, 0.2)):
        model = simulators[0]
        P = np.repeat(model.transitions.array(0), 2, axis=1)
        twice = mdp_from_arrays(
            P, np.repeat(model.rewards, 2, axis=1), order=IndexOrder.STATE_ACTION
        )
        plan = solve_episodic(twice, 30)
        assert (plan.policy % 2 == 0).all()
        # and with the copies at the end, the policy is that of the model itself
        order = np.concatenate([np.arange(model.n_actions)] * 2)
        later = mdp_from_arrays(
            model.transitions.array(0)[:, order], model.rewards[:, order],
            order=IndexOrder.STATE_ACTION,
        )  # fmt: skip
        once = solve_episodic(model, 30)
        assert (solve_episodic(later, 30).policy == once.policy).all()


@pytest.mark.parametrize("loss", [1e-3, 1e-9])
def test_an_action_that_pays_less_is_not_taken_for_a_tie(loss: float) -> None:
    for simulators in (garnet(10, 2, 3, 2), riverswim(8), slip_grid(3, 4, 0.2)):
        model = simulators[0]
        R = np.repeat(model.rewards, 2, axis=1)
        R[:, ::2] -= loss
        pairs = mdp_from_arrays(
            np.repeat(model.transitions.array(0), 2, axis=1), R,
            order=IndexOrder.STATE_ACTION,
        )  # fmt: skip
        assert (solve_episodic(pairs, 30).policy % 2 == 1).all()


def test_a_policy_for_each_step_is_followed_in_order() -> None:
    """The first row of a table belongs to the first step."""
    P = np.ones((1, 2, 1))
    model = mdp_from_arrays(P, [[0.0, 1.0]], order=IndexOrder.STATE_ACTION)
    cyclic = mdp_from_arrays(
        [[[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]],
        [[0.0, 1.0], [0.0, 8.0]], order=IndexOrder.STATE_ACTION,
    )  # fmt: skip
    assert policy_values(model, np.array([[0], [1], [1]]), 3).start.tolist() == [2.0]
    table = np.array([[1, 0], [0, 0], [0, 0]])  # pays 1 in state 0 at step 1 only
    assert policy_values(cyclic, table, 3).values.tolist() == [[1.0, 0.0]]
    table = np.array([[0, 0], [0, 1], [0, 0]])  # pays 8 in state 1 at step 2 only
    assert policy_values(cyclic, table, 3).values.tolist() == [[8.0, 0.0]]
    chances: FloatArray = np.zeros((3, 2, 2))
    chances[..., 0] = 1.0
    chances[1, 1] = [0.25, 0.75]
    assert policy_values(cyclic, chances, 3).values.tolist() == [[6.0, 0.0]]


@pytest.mark.parametrize(
    "policy",
    [
        np.array([0, 2]),
        np.array([0, -1]),
        np.array([0, 0, 0]),
        np.array([[0.5, 0.6], [0.5, 0.5]]),
        np.array([[1.5, -0.5], [0.5, 0.5]]),
        np.array([[np.nan, 1.0], [0.5, 0.5]]),
        np.array([0.0, 1.0]),
        np.array([True, False]),
    ],
)
def test_a_policy_that_is_none_is_refused(policy: AnyArray) -> None:
    model = mdp_from_arrays(
        np.full((2, 2, 2), 0.5), np.zeros((2, 2)), order=IndexOrder.STATE_ACTION
    )
    with pytest.raises(InvalidArgument):
        policy_values(model, policy, 3)
