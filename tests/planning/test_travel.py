"""Travel times and the diameter: exact brackets, policies, ties, what is refused."""

from __future__ import annotations

from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.instances import garnet, riverswim, slip_grid, switch_tree, two_optima
from simgap.mdp import (
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    class_from_models,
    mdp_from_arrays,
)
from simgap.planning import all_travel_times, diameter, travel_times
from tests.reference import travel as twin
from tests.reference.graph import distances, predecessors as edges_into
from tests.reference.rational import (
    COMMUNICATING,
    Family,
    dense_model,
    scattered_model,
    sparse_model,
    stored,
)

TOLERANCE = 1e-9


def with_stay(model: TabularMDP) -> TabularMDP:
    """Put an action that never moves before the others."""
    P = model.transitions.array(0)
    stay = np.eye(model.n_states)[:, None, :]
    R = np.hstack([np.zeros((model.n_states, 1)), model.rewards])
    return mdp_from_arrays(
        np.concatenate([stay, P], axis=1), R, order=IndexOrder.STATE_ACTION
    )


def repeated(model: TabularMDP) -> TabularMDP:
    """Every action twice."""
    P = np.repeat(model.transitions.array(0), 2, axis=1)
    return mdp_from_arrays(
        P, np.repeat(model.rewards, 2, axis=1), order=IndexOrder.STATE_ACTION
    )


# The diameter


def some_classes() -> list[SimulatorClass]:
    rng = np.random.default_rng(105)
    return [
        garnet(20, 2, 3, 2, separation=0.3),
        garnet(45, 3, 2, 1, seed=4),
        riverswim(17, (0.3, 0.5)),
        slip_grid(5, 4, (0.0, 0.2)),
        switch_tree(4, 2, 0.05, 3, null=True),
        two_optima(9),
        class_from_models([sparse_model(rng, 33, 2, 16).simulator()]),
        class_from_models([dense_model(rng, 18, 2, 64).simulator()]),
        class_from_models([hidden_room()]),
    ]


def hidden_room() -> TabularMDP:
    """40 rooms round a hub; the last keeps who is in it, so much leads into it.

    The diameter is looked for among targets with little incoming probability first;
    here the hardest one comes late.
    """
    n = 40
    P = np.zeros((n, 1, n))
    for s in range(n - 1):
        P[s, 0, 0] += 0.5
        P[s, 0, (s + 1) % (n - 1)] += 0.5
    P[n - 2, 0, 0], P[n - 2, 0, n - 1] = 0.99, 0.01
    P[0, 0], P[n - 1, 0] = 0.0, 0.0
    P[0, 0, 1 : n - 1] = 1.0 / (n - 2)  # the hub leads to every other room
    P[n - 1, 0, n - 1], P[n - 1, 0, 0] = 0.9, 0.1
    return mdp_from_arrays(P, np.zeros((n, 1)), order=IndexOrder.STATE_ACTION)


def test_the_diameter_is_the_greatest_of_all_travel_times() -> None:
    for simulators in some_classes():
        times = all_travel_times(simulators)
        width = diameter(simulators)
        for m in range(len(simulators)):
            low, high = times.lower[m].max(), times.upper[m].max()
            assert width.model_lower[m] <= high
            assert low <= width.model_upper[m]
            assert width.model_upper[m] <= width.model_lower[m] * (1 + 2 * TOLERANCE)
            source, target = int(width.source[m]), int(width.target[m])
            assert times.upper[m, target, source] >= low  # the pair is a slowest one


def test_one_state_is_reached_at_once() -> None:
    model = mdp_from_arrays([[[1.0], [1.0]]], [[0.0, 1.0]])
    width, times = diameter(model), all_travel_times(model)
    assert (width.lower, width.upper) == (0.0, 0.0)
    assert times.lower.tolist() == times.upper.tolist() == [[[0.0]]]
    assert travel_times(model, 0).upper.tolist() == [[0.0]]


# Models with states that cannot be reached


def test_times_are_infinite_exactly_where_the_target_cannot_be_made_sure_of() -> None:
    """Models of one shape in one class, so that patterns have explicit zeros."""
    rng = np.random.default_rng(106)
    infinite = finite = 0
    for S, A in ((2, 1), (4, 1), (3, 2), (5, 1), (5, 2)):
        models = [scattered_model(rng, S, A, 16) for _ in range(8)]
        models.append(sparse_model(rng, S, A, 16))
        found = all_travel_times(class_from_models([m.simulator() for m in models]))
        lower, upper, policy = found.lower, found.upper, found.policy
        for m, model in enumerate(models):
            P = model.transitions
            for target in range(S):
                exact = twin.hitting_times(P, target)
                alone = [[P[s][int(policy[m, target, s])]] for s in range(S)]
                attained = twin.hitting_times(alone, target)
                for s, time in enumerate(exact):
                    if isinf(time):
                        assert lower[m, target, s] == upper[m, target, s] == np.inf
                        infinite += 1
                    else:
                        assert Fraction(float(lower[m, target, s])) <= time
                        assert time <= Fraction(float(upper[m, target, s]))
                        room = 1.0 + 2.0 * TOLERANCE
                        assert attained[s] <= upper[m, target, s] * room
                        finite += 1
    assert infinite > 100
    assert finite > 300


def test_a_safe_action_is_found_behind_an_unsafe_shortcut() -> None:
    """The shortcut takes one step half the time and is fatal otherwise."""
    P = np.zeros((4, 2, 4))
    P[0, 0, [2, 3]] = 0.5  # the shortcut, action 0
    P[0, 1, 1] = P[1, :, 2] = P[2, :, 2] = P[3, :, 3] = 1.0
    model = mdp_from_arrays(P, np.zeros((4, 2)), order=IndexOrder.STATE_ACTION)
    found = travel_times(model, 2)
    assert found.lower[0].tolist() == pytest.approx([2.0, 1.0, 0.0, np.inf])
    assert found.policy[0, 0] == 1


# Policies, ties, repetition


@pytest.mark.parametrize("family", COMMUNICATING)
def test_policies_attain_the_times_within_the_bracket(family: Family) -> None:
    rng = np.random.default_rng(107)
    for S, A in ((2, 2), (5, 3), (8, 2)):
        model = family(rng, S, A, 16)
        found = all_travel_times(model.simulator())
        policy = found.policy[0]
        for target in range(S):
            P = model.transitions
            alone = [[P[s][int(policy[target, s])]] for s in range(S)]
            for s, time in enumerate(twin.hitting_times(alone, target)):
                assert time <= float(found.upper[0, target, s]) * (1 + 2 * TOLERANCE)


@pytest.mark.parametrize("states", [40, 60])
def test_a_useless_first_action_is_not_taken_however_long_the_way(states: int) -> None:
    from simgap.instances import adverse

    found = travel_times(with_stay(adverse(states)[0]), states - 1)
    assert (found.policy[0, :-1] == 1).all()


def test_equal_actions_are_decided_for_the_lowest() -> None:
    for simulators in some_classes()[:6]:
        once, twice = simulators[0], repeated(simulators[0])
        policy = all_travel_times(twice).policy
        assert (policy % 2 == 0).all()
        single = all_travel_times(once)
        double = all_travel_times(twice)
        assert (single.lower <= double.upper).all()
        assert (double.lower <= single.upper).all()


def test_a_floor_without_slip_takes_the_lowest_of_the_shortest_ways() -> None:
    """Times are whole numbers; left, down, right, up tie wherever both lead nearer."""
    model = slip_grid(4, 5, 0.0)[0]
    kernel = model.transitions
    arrays = kernel.indptr, kernel.indices, kernel.values[0]
    before = edges_into(arrays, 4)
    found = all_travel_times(model)
    policy = found.policy[0]
    several = 0
    for target in range(20):
        steps = distances(before, [target])
        wanted = [steps[s] for s in range(20)]
        assert found.upper[0, target] == pytest.approx(wanted, rel=TOLERANCE)
        for s in range(20):
            after = [int(kernel.indices[kernel.indptr[4 * s + a]]) for a in range(4)]
            best = [a for a in range(4) if steps[after[a]] == steps[s] - 1]
            assert policy[target, s] == (0 if s == target else best[0])
            several += len(best) > 1
    assert several > 50


# Arguments


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 1.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance: float) -> None:
    for ask in (diameter, all_travel_times):
        with pytest.raises(InvalidArgument, match="tolerance"):
            ask(two_optima(3), tolerance=tolerance)
    with pytest.raises(InvalidArgument, match="tolerance"):
        travel_times(two_optima(3), 0, tolerance=tolerance)


@pytest.mark.parametrize("target", [-1, 3, True, 1.0, "1"])
def test_a_target_that_does_not_exist_is_refused(target: Any) -> None:
    with pytest.raises(InvalidArgument, match=str(target)):
        travel_times(two_optima(3), target)


def test_stored_numbers_are_the_model_not_the_decimals_behind_them() -> None:
    """Rows k/12 are rounded on input; times are those of the rounded rows."""
    rng = np.random.default_rng(108)
    model = sparse_model(rng, 7, 2, 12).simulator()
    rounded = stored(model)
    found = all_travel_times(model)
    for target in range(7):
        exact = twin.hitting_times(rounded.transitions, target)
        for s, time in enumerate(exact):
            room = Fraction(1, 10**14)  # rows are divided by their exact sums
            lower = Fraction(float(found.lower[0, target, s]))
            upper = Fraction(float(found.upper[0, target, s]))
            assert lower * (1 - room) <= time <= upper * (1 + room)
