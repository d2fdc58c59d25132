"""Gain and bias: large models, weakly communicating ones, policies and ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, NotCommunicating, SimgapError
from simgap.instances import (
    cycle,
    garnet,
    near_multichain,
    riverswim,
    riverswim_known,
    slip_grid,
    slip_grid_known,
    switch_tree,
)
from simgap.mdp import (
    IndexOrder,
    TabularMDP,
    class_from_arrays,
    mdp_from_arrays,
)
from simgap.planning import (
    diameter,
    solve_average_reward,
)
from tests.reference import average_reward as twin
from tests.reference.kernel_rows import exact, exact_backup, exact_changes
from tests.reference.rational import COMMUNICATING, Family, stored


def best_actions(
    model: TabularMDP, bias: FloatArray
) -> list[tuple[Fraction, list[Fraction]]]:
    """The exact best of R + P l in every state, and how far below it actions are."""
    kernel, A = model.transitions, model.n_actions
    rows = kernel.indptr, kernel.indices, kernel.values[0]
    r, h = exact(model.rewards.reshape(-1)), exact(bias)
    out = []
    for s in range(model.n_states):
        totals = [exact_backup(rows, s * A + a, r[s * A + a], h) for a in range(A)]
        out.append((max(totals), [max(totals) - x for x in totals]))
    return out


# Large models


@pytest.mark.parametrize("members", [2, 17])
def test_many_models_at_once_are_solved_like_each_alone(members: int) -> None:
    """By lanes from three models on; a river among them is too slow for that."""
    simulators = garnet(65, 2, 3, members, separation=0.2)
    models = [*simulators, riverswim(65)[0]]
    mixed = class_from_arrays(
        [m.transitions.array(0) for m in models], [m.rewards for m in models]
    )
    plan = solve_average_reward(mixed)
    assert plan.method[:-1] == ("sweeps",) * members
    assert plan.method[-1] != "sweeps"
    for m, model in enumerate(models):
        alone = solve_average_reward(model)
        assert plan.gain_lower[m] <= alone.gain_upper[0]
        assert alone.gain_lower[0] <= plan.gain_upper[m]
        # a bias is off by the residual times a time of return, here below 1000
        assert plan.bias[m] == pytest.approx(alone.bias[0], abs=2e-6)
        assert plan.residual[m] <= 2e-9


def test_large_models_come_out_as_their_closed_forms_say() -> None:
    river = solve_average_reward(riverswim(100))
    known = riverswim_known(100)
    assert river.gain == pytest.approx(np.asarray(known.gain), abs=1e-9)
    assert river.bias == pytest.approx(np.asarray(known.bias), rel=1e-6)
    grid = solve_average_reward(slip_grid(9, 9, 0.0))
    assert grid.gain == pytest.approx(np.asarray(slip_grid_known(9, 9, 0.0).gain))


def test_a_first_policy_whose_returns_are_no_floats_is_given_up() -> None:
    """Its system is singular in floats; another first policy is evaluated."""
    plan = solve_average_reward(riverswim(20_000, (0.2, 0.4, 0.6)))
    known = np.asarray(riverswim_known(20_000, (0.2, 0.4, 0.6)).gain)
    assert (plan.gain_lower <= known + 1e-12).all()
    assert (plan.gain_upper >= known - 1e-12).all()
    assert plan.gain_upper - plan.gain_lower == pytest.approx(0.0, abs=1e-9)


def test_brackets_of_large_models_hold_in_fractions() -> None:
    """min (Th - h) <= rho <= max (Th - h) for the bias that is returned."""
    for simulators in (garnet(80, 2, 4, 1, seed=3), slip_grid(9, 8, 0.3)):
        model = simulators[0]
        plan = solve_average_reward(simulators)
        kernel = model.transitions
        changes = exact_changes(
            (kernel.indptr, kernel.indices, kernel.values[0]),
            model.n_actions, model.rewards.reshape(-1), plan.bias[0],
        )  # fmt: skip
        assert max(changes) - min(changes) <= 2e-9
        room = Fraction(1, 10**14)  # rows sum to 1 up to rounding
        middle = Fraction(float(plan.gain[0]))
        worst = max(abs(change - middle) for change in changes)
        assert worst <= Fraction(float(plan.residual[0])) + room
        assert Fraction(float(plan.gain_lower[0])) <= max(changes) + room
        assert min(changes) - room <= Fraction(float(plan.gain_upper[0]))


# Weakly communicating models


def with_transient(
    model: TabularMDP, rng: np.random.Generator, count: int
) -> TabularMDP:
    """Put states in front that lead into the model and are never seen again."""
    S, A = model.n_states, model.n_actions
    P = np.zeros((S + count, A, S + count))
    P[:S, :, :S] = model.transitions.array(0)
    for s in range(S, S + count):
        for a in range(A):
            law = rng.integers(0, 3, S + count).astype(np.float64)
            law[s + 1 :] = 0.0  # only onwards, or staying for a while
            law[rng.integers(S)] += 1.0
            P[s, a] = law / law.sum()
    R = np.vstack([model.rewards, rng.random((count, A))])
    return mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)


@pytest.mark.parametrize("states", [3, 5, 70])
def test_transient_states_in_front_do_not_change_the_gain(states: int) -> None:
    rng = np.random.default_rng(202)
    core = garnet(states, 2, 3, 1, seed=states)[0]
    model = with_transient(core, rng, 3)
    with pytest.raises(NotCommunicating):
        solve_average_reward(model)
    plan = solve_average_reward(model, weakly_communicating=True)
    alone = solve_average_reward(core)
    assert plan.gain_lower[0] <= alone.gain_upper[0]
    assert alone.gain_lower[0] <= plan.gain_upper[0]
    for s, (_, below) in enumerate(best_actions(model, plan.bias[0])):
        assert below[int(plan.policy[0, s])] <= 1e-12  # greedy in transient states too
    bias = exact(plan.bias[0])
    middle = Fraction(float(plan.gain[0]))
    tops = [top for top, _ in best_actions(model, plan.bias[0])]
    assert max(abs(t - b - middle) for t, b in zip(tops, bias, strict=True)) <= 2e-9


@pytest.mark.parametrize("count", [1, 2, 40, 100])
def test_a_gain_that_depends_on_the_state_is_refused(count: int) -> None:
    """Two rings that cannot be left, one paying 1 and the other 0."""
    P = np.zeros((2 * count, 1, 2 * count))
    for s in range(2 * count):
        first = count * (s // count)
        P[s, 0, first + (s - first + 1) % count] = 1.0
    R = np.repeat([[0.0], [1.0]], count, axis=0)
    model = mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)
    with pytest.raises(SimgapError, match=r"gain|communicating"):
        solve_average_reward(model, weakly_communicating=True)
    with pytest.raises(NotCommunicating, match="2 components"):
        solve_average_reward(model)


def test_a_rich_state_that_is_never_seen_again_is_no_place_to_return_to() -> None:
    P = np.zeros((72, 1, 72))
    for s in range(71):
        P[s, 0, (s + 1) % 71] = 1.0  # a ring of 71, too slow for sweeps
    P[71, 0, 0] = 1.0
    R = np.zeros((72, 1))
    R[70], R[71] = 1.0, 50.0
    model = mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)
    plan = solve_average_reward(model, weakly_communicating=True)
    assert plan.gain[0] == pytest.approx(1.0 / 71.0, abs=1e-9)
    assert plan.bias[0, 71] - plan.bias[0, 0] == pytest.approx(50.0 - 1.0 / 71.0)


# Policies, ties, repetition


@pytest.mark.parametrize("family", COMMUNICATING)
def test_the_policy_is_greedy_for_the_bias_in_every_state(family: Family) -> None:
    rng = np.random.default_rng(203)
    for S, A in ((1, 3), (4, 3), (9, 2)):
        model = family(rng, S, A, 12).simulator()
        plan = solve_average_reward(model)
        for s, (_, below) in enumerate(best_actions(model, plan.bias[0])):
            assert below[int(plan.policy[0, s])] <= 1e-13
        rational = stored(model)
        policy = [int(a) for a in plan.policy[0]]
        attained = twin.policy_gain(rational.transitions, rational.rewards, policy)
        assert float(min(attained)) == pytest.approx(float(plan.gain[0]), abs=1e-12)


def worse_first(model: TabularMDP, loss: float) -> TabularMDP:
    """Every action twice, first at a lower pay."""
    P = np.repeat(model.transitions.array(0), 2, axis=1)
    R = np.repeat(model.rewards, 2, axis=1)
    R[:, ::2] -= loss
    return mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION)


@pytest.mark.parametrize("coupling", [1e-1, 1e-3, 1e-5])
def test_an_action_that_pays_less_is_not_taken_for_a_tie(coupling: float) -> None:
    plan = solve_average_reward(worse_first(near_multichain(10, coupling)[0], 1e-6))
    assert (plan.policy == 1).all()


def test_ties_go_to_the_lowest_action_of_those_the_exact_bias_ties() -> None:
    """A floor without slip ties wherever two moves lead nearer to the goal."""
    for simulators in (slip_grid(4, 5, 0.0), switch_tree(4, 2, 0.05, 1, null=True)):
        for member in range(len(simulators)):
            model = simulators[member]
            plan = solve_average_reward(model)
            several = 0
            for s, (_, below) in enumerate(best_actions(model, plan.bias[0])):
                tied = [a for a, x in enumerate(below) if x <= 1e-13]
                assert all(x <= 1e-13 or x >= 1e-6 for x in below)
                assert plan.policy[0, s] == tied[0]
                several += len(tied) > 1
            assert several >= 4


# Arguments


@pytest.mark.parametrize("tolerance", [0.0, -1e-9, float("inf"), float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance: float) -> None:
    with pytest.raises(InvalidArgument, match="tolerance"):
        solve_average_reward(cycle(3), tolerance=tolerance)


def test_explicit_zeros_of_a_class_are_no_edges() -> None:
    """One member can leave a room that the other cannot."""
    open_door = [[[0.5, 0.5]], [[1.0, 0.0]]]
    closed = [[[1.0, 0.0]], [[0.0, 1.0]]]
    both = class_from_arrays([open_door, closed], [[1.0], [0.0]])
    with pytest.raises(NotCommunicating, match="model 1"):
        solve_average_reward(both)
    assert np.isinf(diameter(both).model_upper).tolist() == [False, True]
